package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// act is one thing that happens to an engine after a wait. Together with its
// like it is a plan; number picks a reader's place.
type act struct {
	what   string
	wait   time.Duration
	aside  bool
	number int
}

// Whatever is done to runs at whatever moment, nothing that was acknowledged is
// lost, nothing manual runs twice unless a person said so, nothing that asks runs
// without consent, and every reader sees every number once.
func TestAnythingAtAnyTime(t *testing.T) {
	t.Parallel()
	acts := rapid.Custom(func(t *rapid.T) act {
		return act{
			what: rapid.SampledFrom([]string{
				"start", "start", "start", "pause", "cancel", "continue", "continue", "retry", "drop", "crash", "read", "read", "close",
				"approve", "approve", "approve", "decline", "abort",
			}).Draw(t, "what"),
			wait:   time.Duration(rapid.IntRange(0, 2500).Draw(t, "wait")) * time.Millisecond,
			aside:  rapid.Bool().Draw(t, "aside"),
			number: rapid.IntRange(0, 12).Draw(t, "number"),
		}
	})
	replies := rapid.SliceOfN(rapid.SampledFrom([]string{"words", "words", "read", "pay", "send", "read pay send send", "fail", "reset", "cut", "empty"}), 1, 8)
	rapid.Check(t, func(r *rapid.T) {
		plan, script := rapid.SliceOfN(acts, 4, 25).Draw(r, "plan"), replies.Draw(r, "replies")
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			l := &life{ctx: t.Context(), st: mem.New(nil), script: script, ran: map[string]int{}, said: map[string]int{}}
			l.begin()
			for _, a := range plan {
				l.do(a)
			}
			l.end()
			faults = l.faults
		})
		if len(faults) > 0 {
			r.Fatal(strings.Join(faults, "\n"))
		}
	})
}

// crowded is a model in whose window there is room for a few turns, so that old
// messages are condensed now and then.
var crowded = model.Info{ID: "p/m", Window: 2_000, MaxOutput: 200}

// process is one of the processes that use a store, one after the other.
type process struct {
	engine *run.Local
	lease  harness.Lease
	model  *moody
}

// life is one store through the lives of several processes.
type life struct {
	process

	ctx    context.Context
	st     *mem.Store
	script []string
	lives  []*run.Local
	asides sync.WaitGroup

	mu      sync.Mutex
	faults  []string
	calls   int
	starts  int
	handles []harness.RunHandle
	ran     map[string]int
	// said counts the approvals and retries of calls that a person has begun to
	// give.
	said  map[string]int
	acked []harness.Event
	reads []reading
	sent  []string
}

// reading is what a reader that had everything up to number after was told until
// the result, which stood at number end.
type reading struct {
	run        harness.RunID
	after, end int
	numbers    []int
}

func (l *life) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func (l *life) must(what string, err error, allowed ...error) bool {
	if err == nil {
		return true
	}
	if !slices.ContainsFunc(allowed, func(e error) bool { return errors.Is(err, e) }) {
		l.fault("%s: %v", what, err)
	}
	return false
}

// begin is the birth of another process.
func (l *life) begin() {
	lease, err := l.st.Owners().Acquire(l.ctx, harness.Session{ID: "s"}, harness.Holder{PID: len(l.lives) + 1})
	l.must("acquire", err)
	l.lease, l.model = lease, &moody{life: l}
	set := new(tool.Set)
	for name, replay := range map[string]tool.Replay{"read": tool.Safe, "pay": tool.Manual, "send": tool.Manual} {
		permission := tool.Allow
		if name == "send" {
			permission = tool.Ask
		}
		tl, err := tool.New(name, "a tool", func(ctx context.Context, c tool.Call, _ struct{}) (string, error) {
			l.mu.Lock()
			l.ran[name+" "+c.Key]++
			may := l.said[c.Key]
			if name != "send" {
				may++ // it begins without being asked about
			}
			if n := l.ran[name+" "+c.Key]; replay == tool.Manual && n > may {
				l.faults = append(l.faults, fmt.Sprintf("%s of call %s ran %d times and may run %d times", name, c.Key, n, may))
			}
			l.mu.Unlock()
			select {
			case <-time.After(time.Second):
				return "ok", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}, tool.WithReplay(replay), tool.WithPermission(permission))
		l.must("tool", errors.Join(err, set.Add(tl)))
	}
	m := l.model
	l.engine = run.NewLocal(run.Options{
		Journal: l.st.Journal(), Transcript: l.st.Transcript(), Engine: "test",
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: m, Info: crowded, Tools: set, Policy: policy.Rules{Interactive: true}, Now: time.Now, Compose: (&memory.Composer{}).Compose,
			}, nil
		},
	})
	l.lives = append(l.lives, l.engine)
}

func (l *life) do(a act) {
	time.Sleep(a.wait)
	switch a.what {
	case "start":
		l.start()
	case "crash":
		l.crash()
	case "close":
		l.must("close", l.engine.Close(l.ctx))
		l.must("release", l.st.Owners().Release(l.ctx, l.lease))
		l.begin()
	case "read":
		l.mu.Lock()
		var h harness.RunHandle
		if len(l.handles) > 0 {
			h = l.handles[len(l.handles)-1]
		}
		l.mu.Unlock()
		if h != nil {
			l.asides.Go(func() { l.read(h, a.number) })
		}
	default:
		id, ok := l.open()
		p := process{l.engine, l.lease, l.model}
		switch {
		case !ok:
		case a.aside:
			l.asides.Go(func() { l.control(p, a.what, id, false) })
		default:
			l.control(p, a.what, id, true)
		}
	}
}

func (l *life) start() {
	l.mu.Lock()
	l.starts++
	text := fmt.Sprintf("message %d. %s", l.starts, strings.Repeat("and more ", 150))
	l.mu.Unlock()
	h, err := l.engine.Start(l.ctx, harness.StartRequest{Lease: l.lease, Message: harness.UserText(text), Request: text})
	if l.must("start", err, harness.ErrBusy, harness.ErrAwaiting) {
		l.mu.Lock()
		l.sent = append(l.sent, text)
		l.mu.Unlock()
		l.follow(h)
	}
}

// follow keeps a handle and reads it from its beginning.
func (l *life) follow(h harness.RunHandle) {
	l.mu.Lock()
	l.handles = append(l.handles, h)
	l.mu.Unlock()
	l.asides.Go(func() { l.read(h, 0) })
}

// open returns the run that has not ended.
func (l *life) open() (harness.RunID, bool) {
	runs, err := l.engine.List(l.ctx, harness.RunFilter{Session: "s", Unfinished: true})
	l.must("list", err)
	if len(runs) > 1 {
		l.fault("%d runs are open", len(runs))
	}
	if len(runs) == 0 {
		return "", false
	}
	return runs[0].ID, true
}

func (l *life) control(p process, what string, id harness.RunID, alone bool) {
	before, err := p.engine.Get(l.ctx, id)
	l.must("get", err)
	half := p.model.half(0)
	// What races with another act, or with a later process, may come too late.
	late := []error{harness.ErrBusy, harness.ErrNotFound, harness.ErrStale, harness.ErrLost, harness.ErrClosed}
	switch what {
	case "approve", "decline", "abort":
		l.decide(p, what, before, late)
	case "pause":
		if l.must(what, p.engine.Pause(l.ctx, id), late...) && alone {
			after, err := p.engine.Get(l.ctx, id)
			l.must("get", err)
			if after.Status == harness.RunPaused && half != "" && !p.model.voided(half) && (after.Partial == nil || !strings.HasPrefix(after.Partial.Text, half)) {
				l.kept(what, half) // the answer was whole a moment before
			}
		}
	case "cancel":
		if l.must(what, p.engine.Cancel(l.ctx, id), late...) && half != "" && !p.model.voided(half) {
			l.kept("cancel", half)
		}
	default:
		h, err := p.engine.Resume(l.ctx, p.lease, id, harness.ResumeHow(what))
		if err != nil {
			if !strings.Contains(err.Error(), "it has ended") {
				l.must("resume", err, late...)
			}
			return
		}
		if alone && before.Status != harness.RunRunning && before.Partial != nil {
			l.kept(what, before.Partial.Text)
		}
		l.follow(h)
	}
}

// decide says something about the first thing that waits.
func (l *life) decide(p process, what string, info harness.Run, late []error) {
	if len(info.Pending) == 0 {
		return
	}
	asked := info.Pending[0]
	d := harness.Decision{Call: asked.Call.ID, Digest: asked.Digest, How: harness.DecisionHow(what), Text: "because"}
	switch {
	case asked.Uncertain && what == "approve":
		d.How = harness.DecideRetry
	case asked.Uncertain && what == "decline":
		d.How = harness.DecideResult
	}
	if what == "approve" {
		l.mu.Lock()
		l.said[d.Call]++
		l.mu.Unlock()
	}
	h, err := p.engine.Decide(l.ctx, p.lease, info.ID, d)
	if !l.must(what, err, late...) {
		if what == "approve" {
			l.mu.Lock()
			l.said[d.Call]--
			l.mu.Unlock()
		}
		return
	}
	l.follow(h)
}

// kept checks that some record of the log holds the text.
func (l *life) kept(what, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for seq := 1; ; seq++ {
		r, err := l.st.Transcript().Record(l.ctx, "s", seq)
		if err != nil {
			l.fault("%s: %q is in no record", what, text)
			return
		}
		if r.Message != nil && strings.HasPrefix(r.Message.Text(), text) {
			return
		}
	}
}

// crash ends the process, which learns of it only at its next write. What it
// streamed is on disk but for the last second.
func (l *life) crash() {
	old := l.model.half(time.Second)
	if id, ok := l.open(); ok && old != "" {
		info, err := l.st.Journal().Get(l.ctx, id)
		l.must("get", err)
		if info.Partial == nil || !strings.HasPrefix(info.Partial.Text, old) {
			l.fault("the process died with %+v on disk, a second before it had streamed %q", info.Partial, old)
		}
	}
	l.st.Abandon()
	l.begin()
}

// read follows a stretch to its end: numbers rise, and one result comes last.
func (l *life) read(h harness.RunHandle, after int) {
	last, results := after, 0
	told := reading{run: h.ID(), after: after}
	for e := range h.Events(l.ctx, after) {
		if results > 0 {
			l.fault("run %s: %s comes after the result", h.ID(), e.Type)
		}
		switch {
		case e.Type == harness.EventResult:
			results++
			told.end = e.Seq
		case e.Seq > 0 && e.Seq <= last:
			l.fault("run %s: number %d comes after %d", h.ID(), e.Seq, last)
		case e.Seq > 0:
			last = e.Seq
			told.numbers = append(told.numbers, e.Seq)
			l.mu.Lock()
			l.acked = append(l.acked, e)
			l.mu.Unlock()
		}
	}
	if results != 1 {
		l.fault("run %s: %d results", h.ID(), results)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads = append(l.reads, told)
}

// end lets everything come to rest and looks at what is left.
func (l *life) end() {
	if id, ok := l.open(); ok {
		l.must("pause", l.engine.Pause(l.ctx, id), harness.ErrNotFound)
	}
	for _, e := range l.lives {
		l.must("close", e.Close(l.ctx))
	}
	l.asides.Wait()
	l.st.Abandon()
	l.begin()
	if id, ok := l.open(); ok {
		_, err := l.engine.Resume(l.ctx, l.lease, id, harness.ResumeDrop)
		l.must("drop", err)
	}
	if _, ok := l.open(); ok {
		l.fault("a run is open at the end")
	}
	l.judge()
	l.must("close", l.engine.Close(l.ctx))
}

func (l *life) judge() {
	records, err := l.st.Transcript().Tail(l.ctx, "s", 0, 0)
	l.must("tail", err)
	var msgs []harness.Message
	var users []string
	for _, r := range records {
		if r.Message == nil {
			continue
		}
		msgs = append(msgs, *r.Message)
		if r.Message.Role == harness.RoleUser && r.Message.Mark == harness.MarkNone {
			users = append(users, r.Message.Text())
		}
	}
	l.must("the branch", memory.Legal(memory.Repair(msgs)))
	if !slices.Equal(users, l.sent) {
		l.fault("the branch has the messages %q, sent were %q", users, l.sent)
	}
	logs := map[harness.RunID][]run.Entry{}
	runs, err := l.engine.List(l.ctx, harness.RunFilter{Session: "s"})
	l.must("list", err)
	for _, r := range runs {
		logs[r.ID], err = l.st.Journal().Read(l.ctx, r.ID, 0)
		l.must("read", err)
	}
	for _, e := range l.acked {
		log := logs[e.Run]
		if e.Seq > len(log) || log[e.Seq-1].Seq != e.Seq || log[e.Seq-1].Record != e.Record {
			l.fault("run %s: %s was acknowledged as %d and is not there", e.Run, e.Type, e.Seq)
		} else if m := log[e.Seq-1].Message; m != nil && e.Message != nil && m.Text() != e.Message.Text() {
			l.fault("run %s: entry %d says %q, told was %q", e.Run, e.Seq, m.Text(), e.Message.Text())
		}
	}
	for _, r := range l.reads {
		var want []int
		for _, e := range logs[r.run] {
			if e.Seq > r.after && e.Seq <= r.end && (e.Message != nil || e.Condensed != nil || e.Kind == "uncondensed" || e.Kind == "began" || e.Kind == "decided" || e.Kind == "resolved" || e.Status == harness.RunAwaiting) {
				want = append(want, e.Seq)
			}
		}
		if !slices.Equal(want, r.numbers) {
			l.fault("run %s: after %d a reader was told %v, want %v", r.run, r.after, r.numbers, want)
		}
	}
}

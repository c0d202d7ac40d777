package run_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// equip returns a world whose runs have tools, and whose parts come late if
// steps is given.
func equip(t *testing.T, s store, m model.Model, steps func(), tools ...tool.Tool) world {
	t.Helper()
	lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	set := new(tool.Set)
	for _, tl := range tools {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	l := run.NewLocal(run.Options{
		Journal: s.journal, Transcript: s.transcript, Engine: "test", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			if steps != nil {
				steps()
			}
			return agent.Steps{Model: m, Tools: set, Policy: policy.Static{}, Now: time.Now, Compose: (&memory.Composer{}).Compose}, nil
		},
	})
	return world{s, l, lease}
}

func newTool(t *testing.T, name string, replay tool.Replay, fn func(ctx context.Context) (string, error)) tool.Tool {
	t.Helper()
	tl, err := tool.New(name, "a tool", func(ctx context.Context, _ tool.Call, _ struct{}) (string, error) { return fn(ctx) }, tool.WithReplay(replay), tool.WithPermission(tool.Allow))
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// calls streams a word, asks for the tool once and ends when it has a result.
func calls(name string) answering {
	return func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if r.Messages[len(r.Messages)-1].Role == harness.RoleTool {
			emit(model.Delta{Kind: model.DeltaText, Text: "done"})
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}, Stop: harness.StopEnd}, nil
		}
		emit(model.Delta{Kind: model.DeltaText, Text: "looking"})
		return model.Reply{Stop: harness.StopTools, Parts: []harness.Part{
			{Kind: harness.PartText, Text: "looking"}, {Kind: harness.PartCall, Call: &harness.ToolCall{Name: name}},
		}}, nil
	}
}

func (w world) status(t *testing.T, id harness.RunID) harness.Run {
	t.Helper()
	info, err := w.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// branch returns the messages on screen.
func (w world) branch(t *testing.T) []harness.Message {
	t.Helper()
	records, err := w.transcript.Tail(t.Context(), "s", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []harness.Message
	for _, r := range records {
		msgs = append(msgs, *r.Message)
	}
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		t.Errorf("the history is not legal: %v", err)
	}
	return msgs
}

func TestSessionIsFreeOnceTheResultIsTold(t *testing.T) {
	t.Parallel()
	yes := answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "yes"}}, Stop: harness.StopEnd}, nil
	})
	for n := range 400 {
		s := memory1()
		w := open(t, s, s.journal, yes)
		h := w.start(t, "go", "")
		if n%2 == 0 {
			if _, err := h.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			for e := range h.Events(t.Context(), 0) {
				if e.Type == harness.EventResult {
					break
				}
			}
		}
		if _, err := w.start(t, "go", "").Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameRequestWhileItRunsIsTheSameRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, words(3), func() { time.Sleep(time.Second) })
		ids := make(chan harness.RunID)
		for n := range 4 {
			go func() {
				time.Sleep(time.Duration(n) * 700 * time.Millisecond)
				h, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("go"), Request: "r1"})
				if err != nil {
					t.Error(err)
					ids <- ""
					return
				}
				ids <- h.ID()
			}()
		}
		first := <-ids
		for range 3 {
			if id := <-ids; id != first {
				t.Errorf("one request made the runs %q and %q", first, id)
			}
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOneOfTwoStartsAtOnceIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		s.transcript = &unread{Transcript: s.transcript, slow: time.Second}
		w := equip(t, s, words(3), func() { time.Sleep(time.Second) })
		first := make(chan harness.RunHandle)
		go func() { first <- w.start(t, "one", "") }()
		for range 8 {
			time.Sleep(300 * time.Millisecond)
			if _, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("two")}); !errors.Is(err, harness.ErrBusy) {
				t.Errorf("a second start gives %v", err)
			}
		}
		if res, err := (<-first).Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
			t.Errorf("the first is %+v, %v", res, err)
		}
	})
}

// unread is a transcript that is slow, or cannot be read for a while.
type unread struct {
	harness.Transcript

	broken bool
	slow   time.Duration
}

func (u *unread) Record(ctx context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	time.Sleep(u.slow)
	if u.broken {
		return harness.Record{}, errors.New("input/output error")
	}
	return u.Transcript.Record(ctx, id, seq)
}

func TestRunWhoseHistoryCannotBeReadIsFailedNotStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		u := &unread{Transcript: s.transcript, broken: true}
		s.transcript = u
		w := open(t, s, s.journal, words(1))
		h := w.start(t, "one", "")
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "store" {
			t.Fatalf("result %+v, %v", res, err)
		}
		if got := w.status(t, h.ID()); got.Status != harness.RunFailed {
			t.Errorf("the journal has it as %s", got.Status)
		}
		u.broken = false
		if h, err = w.Resume(t.Context(), w.lease, h.ID(), harness.ResumeRetry); err != nil {
			t.Fatal(err)
		}
		if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
			t.Errorf("resumed it is %+v, %v", res, err)
		}
	})
}

func TestCloseWhileAStartIsUnderWayLeavesAPausedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, words(3), func() { time.Sleep(time.Second) })
		started := make(chan harness.RunHandle)
		go func() {
			h, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("go")})
			if err != nil {
				t.Error(err)
			}
			started <- h
		}()
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- w.Close(t.Context()) }()
		h := <-started
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if got := w.status(t, h.ID()); got.Status != harness.RunPaused {
			t.Errorf("the run is %s", got.Status)
		}
		if _, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("go")}); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("a start after Close gives %v", err)
		}
	})
}

func TestCancelWinsOverAPauseUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("slow"), nil, newTool(t, "slow", tool.Manual, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}))
		h := w.start(t, "go", "")
		synctest.Wait()
		paused := make(chan error)
		go func() { paused <- w.Pause(t.Context(), h.ID()) }()
		time.Sleep(time.Second)
		if err := w.Cancel(t.Context(), h.ID()); err != nil {
			t.Error(err)
		}
		<-paused
		if got := w.status(t, h.ID()); got.Status != harness.RunCancelled {
			t.Errorf("the run is %s", got.Status)
		}
		w.branch(t)
		if err := errors.Join(w.Cancel(t.Context(), h.ID()), w.Pause(t.Context(), h.ID())); err != nil {
			t.Errorf("stopping what has ended gives %v", err)
		}
	})
}

func TestToolThatFinishedIsKnownAlsoAfterACancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("pay"), nil, newTool(t, "pay", tool.Manual, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "paid", nil
		}))
		h := w.start(t, "go", "")
		synctest.Wait()
		if err := w.Cancel(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		msgs := w.branch(t)
		if r := msgs[len(msgs)-1].Parts[0].Result; r == nil || r.Text != "paid" || r.Unknown {
			t.Errorf("the call's result is %+v", r)
		}
	})
}

func TestReaderReturnsAtAnyNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("read"), nil, newTool(t, "read", tool.Safe, func(context.Context) (string, error) { return "ok", nil }))
		h := w.start(t, "go", "")
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := w.status(t, h.ID())
		late, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Request: "none", Message: harness.UserText("x")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var all []int
		for e := range h.Events(t.Context(), 0) {
			if e.Seq > 0 {
				all = append(all, e.Seq)
			}
		}
		for after := -1; after <= again.Cursor+2; after++ {
			known := map[int]bool{}
			results := 0
			for e := range h.Events(t.Context(), after) {
				switch {
				case e.Type == harness.EventResult:
					results++
				case e.Seq > 0 && (e.Seq <= after || known[e.Seq]):
					t.Errorf("after %d comes number %d", after, e.Seq)
				case e.Type == harness.EventText && e.Text == "looking" && after >= 2:
					t.Errorf("after %d comes the text of an answer that the reader has", after)
				}
				known[e.Seq] = true
			}
			for _, n := range all {
				if n > after && !known[n] {
					t.Errorf("after %d the event of number %d is missing", after, n)
				}
			}
			if results != 1 {
				t.Errorf("after %d come %d results", after, results)
			}
		}
	})
}

func TestVoidedTextIsNotKeptAsHalfAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, answering(func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "void"})
			time.Sleep(2 * time.Second)
			emit(model.Delta{Kind: model.DeltaReset, Attempt: 2})
			<-ctx.Done()
			return model.Reply{}, ctx.Err()
		}))
		h := w.start(t, "go", "")
		time.Sleep(1500 * time.Millisecond)
		if got := w.status(t, h.ID()); got.Partial == nil || got.Partial.Text != "void" {
			t.Fatalf("while it streams, %+v is on disk", got.Partial)
		}
		time.Sleep(time.Second)
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		if got := w.status(t, h.ID()); got.Partial != nil {
			t.Errorf("void text is on disk: %+v", got.Partial)
		}
		if _, err := w.Resume(t.Context(), w.lease, h.ID(), harness.ResumeContinue); err != nil {
			t.Fatal(err)
		}
		if msgs := w.branch(t); len(msgs) != 1 {
			t.Errorf("the branch is %+v", msgs)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStopOnAFullDiskSaysSoAndTheRunIsNotStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		j := &full{Journal: s.journal}
		w := open(t, s, j, words(2))
		h := w.start(t, "one", "")
		time.Sleep(1500 * time.Millisecond)
		j.left.Store(1000)
		time.Sleep(5 * time.Second)
		if err := w.Cancel(t.Context(), h.ID()); !errors.Is(err, errFull) {
			t.Errorf("cancel gives %v", err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "store" {
			t.Errorf("result %+v, %v", res, err)
		}
		runs, err := w.List(t.Context(), harness.RunFilter{Unfinished: true})
		if err != nil || len(runs) != 1 || !runs[0].Interrupted {
			t.Errorf("the runs are %+v, %v; want one that is interrupted", runs, err)
		}
		j.left.Store(0)
		if _, err := w.start(t, "two", "").Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if msgs := w.branch(t); len(msgs) != 4 || !strings.HasPrefix(msgs[1].Text(), "word ") {
			t.Errorf("the branch is %+v", msgs)
		}
	})
}

func TestStopWhileTheDiskIsFullTriesOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		j := &full{Journal: s.journal}
		w := open(t, s, j, words(1))
		h := w.start(t, "one", "")
		j.left.Store(5)
		time.Sleep(25 * time.Second) // the fifth wait, until 32 s
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		if msgs := w.branch(t); len(msgs) != 2 || msgs[1].Mark != harness.MarkNone {
			t.Errorf("the branch is %+v, want the whole answer", msgs)
		}
	})
}

func TestUsageOfACallCutShortIsMarkedIncomplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(5))
		h := w.start(t, "one", "")
		time.Sleep(1500 * time.Millisecond)
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		if got := w.status(t, h.ID()); !got.Usage.Incomplete {
			t.Errorf("after a pause in a call the usage is %+v", got.Usage)
		}
		s = memory1()
		w = open(t, s, s.journal, answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return model.Reply{}, &model.Error{Kind: model.KindAuth, Message: "no key"}
		}))
		if res, err := w.start(t, "one", "").Wait(t.Context()); err != nil || res.Usage.Incomplete {
			t.Errorf("a refused request used %+v, %v", res.Usage, err)
		}
	})
}

func TestTakeoverInTheMiddleOfATool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		var ran atomic.Int32
		slow := newTool(t, "pay", tool.Manual, func(context.Context) (string, error) {
			ran.Add(1)
			time.Sleep(time.Minute)
			return "paid", nil
		})
		w := equip(t, s, calls("pay"), nil, slow)
		h := w.start(t, "go", "")
		time.Sleep(time.Second)
		lease, err := s.owners.Force(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.owners.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		other := equip(t, s, calls("pay"), nil, slow)
		h2, err := other.Resume(t.Context(), other.lease, h.ID(), harness.ResumeContinue)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		for e := range h2.Events(t.Context(), 0) {
			asked = asked || e.Type == harness.EventUncertain && e.Call != nil && e.Call.Name == "pay"
		}
		res, err := h2.Wait(t.Context())
		if err != nil || res.Status != harness.RunAwaiting || !asked || ran.Load() != 1 {
			t.Errorf("taken over it is %+v, %v, asked: %v, the tool ran %d times", res, err, asked, ran.Load())
		}
		res, err = h.Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "lost" {
			t.Errorf("for the one who lost it, it is %+v, %v", res, err)
		}
		if _, err := other.Start(t.Context(), harness.StartRequest{Lease: other.lease, Message: harness.UserText("x")}); !errors.Is(err, harness.ErrAwaiting) {
			t.Errorf("a new message gives %v", err)
		}
	})
}

func TestSavedMemoryIsToldOnceLiveAndInReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("save_memory"), nil, newTool(t, "save_memory", tool.Idempotent, func(context.Context) (string, error) {
			return "Remembered: [fact/f12] (preference) Prefers tea", nil
		}))
		h := w.start(t, "go", "r1")
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		told := func(h harness.RunHandle) (lines []string) {
			for e := range h.Events(t.Context(), 0) {
				if e.Type == harness.EventMemory {
					lines = append(lines, e.Text)
				}
			}
			return lines
		}
		again := w.start(t, "go", "r1")
		for _, h := range []harness.RunHandle{h, again} {
			if got := told(h); len(got) != 1 || got[0] != "remembered f12: (preference) Prefers tea" {
				t.Errorf("told %q", got)
			}
		}
	})
}

func TestReplayGoesThroughEveryStretch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(4))
		h := w.start(t, "go", "r1")
		for range 2 {
			time.Sleep(2500 * time.Millisecond)
			if err := w.Pause(t.Context(), h.ID()); err != nil {
				t.Fatal(err)
			}
			var err error
			if h, err = w.Resume(t.Context(), w.lease, h.ID(), harness.ResumeContinue); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, h := range map[string]harness.RunHandle{"the last stretch": h, "a later handle": w.start(t, "go", "r1")} {
			var got []string
			for e := range h.Events(t.Context(), 0) {
				if e.Message != nil {
					got = append(got, string(e.Message.Role)+string(e.Message.Mark))
				}
			}
			if want := "user assistantinterrupted usernotice assistantinterrupted usernotice assistant"; strings.Join(got, " ") != want {
				t.Errorf("%s tells %v", name, got)
			}
		}
		w.branch(t)
	})
}

func TestUnknownWayToResumeIsRefused(t *testing.T) {
	t.Parallel()
	s := memory1()
	w := open(t, s, s.journal, words(1))
	if _, err := w.Resume(t.Context(), w.lease, "x", "later"); err == nil || !strings.Contains(err.Error(), "continue, retry or drop") {
		t.Errorf("err = %v", err)
	}
	if _, err := w.Resume(t.Context(), w.lease, "x", harness.ResumeDrop); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("err = %v", err)
	}
}

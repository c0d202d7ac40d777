package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// archive is a session that is long already, in which every turn looks at things,
// says much meanwhile and is condensed on the way, once before its first answer
// and again later.
type archive struct {
	store

	t     *testing.T
	lease harness.Lease

	mu sync.Mutex
	// requests are those of turns, in the order in which they were made, with the
	// run's id left out.
	requests []string
	notes    int
	// during, if set, is called while a note is written.
	during func(ctx context.Context)
	// once, if set, is called after the next answer of a turn.
	once func()
}

// archived is the number of messages that the session has at first.
const archived = 20

func newArchive(t *testing.T, s store) *archive {
	t.Helper()
	a := &archive{store: s, t: t}
	a.enter(1)
	var records []harness.Record
	for i := range archived {
		m := harness.UserText(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 100)))
		if i%2 == 1 {
			m = harness.AssistantText(fmt.Sprintf("answer %d %s", i, strings.Repeat("word ", 100)))
		}
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &m})
	}
	pin, err := json.Marshal(harness.Pin{Message: 3})
	if err != nil {
		t.Fatal(err)
	}
	records = append(records, harness.Record{Kind: harness.RecordPin, Data: pin})
	if _, err := s.transcript.Append(t.Context(), a.lease, records...); err != nil {
		t.Fatal(err)
	}
	return a
}

// enter has another process take the session.
func (a *archive) enter(pid int) {
	a.t.Helper()
	var err error
	if a.lease.Session != "" {
		if err := a.owners.Release(a.t.Context(), a.lease); err != nil {
			a.t.Fatal(err)
		}
	}
	if a.lease, err = a.owners.Acquire(a.t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: pid}); err != nil {
		a.t.Fatal(err)
	}
}

// Stream implements [model.Model]. The answer depends on the request alone.
func (a *archive) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if err := memory.Legal(r.Messages); err != nil {
		a.t.Error(err)
	}
	if r.Purpose == model.PurposeCondense {
		return a.note(ctx, r)
	}
	if !slices.ContainsFunc(r.Messages, func(m harness.Message) bool { return strings.Contains(m.Text(), "question 2 ") }) {
		a.t.Error("a request is without the pinned message")
	}
	text, err := json.Marshal(r)
	if err != nil {
		return model.Reply{}, err
	}
	step := 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			if _, err := fmt.Sscanf(p.Result.Text, "seen at step %d", &step); err != nil {
				return model.Reply{}, fmt.Errorf("result %q: %w", p.Result.Text, err)
			}
		}
	}
	a.mu.Lock()
	a.requests = append(a.requests, string(text))
	once := a.once
	a.once = nil
	a.mu.Unlock()
	if once != nil {
		defer once()
	}
	parts := []harness.Part{{Kind: harness.PartText, Text: fmt.Sprintf("I am at step %d and %s", step, strings.Repeat("think ", 150))}}
	if step == 8 {
		return model.Reply{Parts: parts, Stop: harness.StopEnd, Usage: harness.Usage{Input: 5, Output: 5}}, nil
	}
	for _, name := range []string{"look", "peek"} {
		parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: name, Input: json.RawMessage(fmt.Sprintf(`{"step":%d}`, step+1))}})
	}
	return model.Reply{Parts: parts, Stop: harness.StopTools, Usage: harness.Usage{Input: 5, Output: 5}}, nil
}

func (a *archive) note(ctx context.Context, r model.Request) (model.Reply, error) {
	a.mu.Lock()
	a.notes++
	during := a.during
	a.mu.Unlock()
	if during != nil {
		during(ctx)
	}
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	// It says of how much it is, and so depends on the request alone.
	text := fmt.Sprintf("NOTE of %d characters.", len(r.Messages[0].Text()))
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd, Usage: harness.Usage{Input: 100, Output: 10}}, nil
}

// engine returns an engine of the session; journal is its own, or nil.
func (a *archive) engine(journal run.Journal) *run.Local {
	a.t.Helper()
	set := new(tool.Set)
	for _, name := range []string{"look", "peek"} {
		tl, err := tool.New(name, "looks", func(_ context.Context, _ tool.Call, in struct {
			Step int `json:"step"`
		},
		) (string, error) {
			return fmt.Sprintf("seen at step %d", in.Step), nil
		}, tool.WithReplay(tool.Safe), tool.WithPermission(tool.Allow))
		if err = errors.Join(err, set.Add(tl)); err != nil {
			a.t.Fatal(err)
		}
	}
	if journal == nil {
		journal = a.journal
	}
	return run.NewLocal(run.Options{
		Journal: journal, Transcript: a.transcript, Sessions: a.sessions, Engine: "test",
		Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: a, Info: model.Info{ID: "p/m", Window: 3_000, MaxOutput: 300}, Tools: set, Policy: policy.Rules{}}, nil
		},
	})
}

func (a *archive) begin(e *run.Local) (harness.RunHandle, error) {
	return e.Start(a.t.Context(), harness.StartRequest{
		Lease: a.lease, Message: harness.UserText("look at everything"), Request: "first",
		Config: harness.RunConfig{Model: "p/m", System: "Be brief."},
	})
}

// only returns the session's one run.
func (a *archive) only() (harness.Run, bool) {
	a.t.Helper()
	runs, err := a.journal.List(a.t.Context(), harness.RunFilter{Session: "s"})
	if err != nil || len(runs) > 1 {
		a.t.Fatalf("%d runs, %v", len(runs), err)
	}
	if len(runs) == 0 {
		return harness.Run{}, false
	}
	return runs[0], true
}

// asked returns the requests that were made without the ids of runs, and how
// many notes were.
func (a *archive) asked() ([]string, int) {
	info, ok := a.only()
	if !ok {
		return nil, 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, r := range a.requests {
		all = append(all, strings.ReplaceAll(r, string(info.ID), "RUN"))
	}
	return all, a.notes
}

// check looks at the end of the turn: what was said before it is as it was, and
// what was condensed is in the branch.
func (a *archive) check(before []harness.Record) {
	a.t.Helper()
	info, _ := a.only()
	if info.Status != harness.RunCompleted {
		a.t.Fatalf("the run is %s: %v", info.Status, info.Error)
	}
	records, err := a.transcript.Tail(a.t.Context(), "s", 0, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	if !reflect.DeepEqual(records[:len(before)], before) {
		a.t.Error("what was said before has changed")
	}
	var condensed []int
	for _, r := range records {
		if r.Kind == harness.RecordCondensed {
			condensed = append(condensed, r.Seq)
		}
	}
	if len(condensed) == 0 || len(condensed) > 3 {
		a.t.Errorf("condensed at %v", condensed)
	}
}

func (a *archive) branch() []harness.Record {
	a.t.Helper()
	records, err := a.transcript.Tail(a.t.Context(), "s", 0, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	return records
}

// whole is what a turn asks that nothing interrupts.
func whole(t *testing.T, s store) (requests []string, notes int) {
	t.Helper()
	a := newArchive(t, s)
	h, err := a.begin(a.engine(nil))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
		t.Fatalf("%+v, %v, %v", res, res.Error, err)
	}
	requests, notes = a.asked()
	if len(requests) != 9 || notes < 2 {
		t.Fatalf("%d requests, %d notes", len(requests), notes)
	}
	return requests, notes
}

// Whatever write the program dies at while old messages are condensed, nothing of
// the history is lost, and whoever goes on makes the very requests that would have
// been made.
func TestCondensingOverACrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _ := whole(t, open(t))
			every := 1
			if name == "bolt" {
				every = 3 // each is a file of its own
			}
			for _, lost := range []bool{true, false} {
				for n := 1; n <= 40; n += every {
					t.Run(fmt.Sprintf("lost=%v/at=%d", lost, n), func(t *testing.T) {
						t.Parallel()
						a := newArchive(t, open(t))
						a.dies(n, lost, want)
					})
				}
			}
		})
	}
}

// dies has a process die at its n-th write and another one go on.
func (a *archive) dies(n int, lost bool, want []string) {
	a.t.Helper()
	before := a.branch()
	if h, err := a.begin(a.engine(&crashing{Journal: a.journal, left: n, lost: lost})); err == nil {
		if _, err := h.Wait(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
	}
	info, ok := a.only()
	if !ok {
		return // it never began
	}
	a.enter(2)
	e := a.engine(nil)
	if !info.Status.Closed() {
		h, err := e.Resume(a.t.Context(), a.lease, info.ID, harness.ResumeContinue)
		if err != nil {
			a.t.Fatal(err)
		}
		if res, err := h.Wait(a.t.Context()); err != nil || res.Status != harness.RunCompleted {
			a.t.Fatalf("the resumed run ends as %+v, %v, %v", res, res.Error, err)
		}
	}
	got, _ := a.asked()
	if odd := slices.DeleteFunc(slices.Clone(got), func(r string) bool { return slices.Contains(want, r) }); len(odd) > 0 {
		a.t.Errorf("%d of %d requests are others than those of a turn that goes through; the first is\n%s", len(odd), len(got), odd[0])
	}
	if got[len(got)-1] != want[len(want)-1] {
		a.t.Error("the last request is another one")
	}
	a.check(before)
}

// A note that is being written when the turn is stopped is written again, and
// nothing is stored meanwhile.
func TestAStoppedNoteIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*run.Local, context.Context, harness.RunID) error{
		"pause": (*run.Local).Pause, "cancel": (*run.Local).Cancel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores(t)["bolt"]
			want, _ := whole(t, s(t))
			a := newArchive(t, s(t))
			before := a.branch()
			under := make(chan struct{})
			a.during = func(ctx context.Context) {
				close(under)
				<-ctx.Done()
			}
			e := a.engine(nil)
			h, err := a.begin(e)
			if err != nil {
				t.Fatal(err)
			}
			<-under
			if err := stop(e, t.Context(), h.ID()); err != nil {
				t.Fatal(err)
			}
			if after := a.branch(); len(after) != len(before)+1 || !reflect.DeepEqual(after[:len(before)], before) {
				t.Fatalf("%d records are there, of %d before", len(after), len(before))
			}
			info, _ := a.only()
			if !info.Usage.Incomplete {
				t.Errorf("the run used %+v", info.Usage)
			}
			a.during = nil
			if name == "cancel" {
				return
			}
			h, err = e.Resume(t.Context(), a.lease, info.ID, harness.ResumeContinue)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
				t.Fatalf("%+v, %v", res, err)
			}
			if got, _ := a.asked(); !slices.Equal(got, want) {
				t.Errorf("%d requests, want %d, or others", len(got), len(want))
			}
			a.check(before)
		})
	}
}

// Whoever follows a run later is told of its condensings as those were who saw
// them happen.
func TestCondensingsAreToldAgain(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArchive(t, open(t))
			e := a.engine(nil)
			h, err := a.begin(e)
			if err != nil {
				t.Fatal(err)
			}
			live := condensings(t, h)
			// Another process looks the run up.
			again, err := a.begin(a.engine(nil))
			if err != nil {
				t.Fatal(err)
			}
			if later := condensings(t, again); len(live) < 2 || !reflect.DeepEqual(live, later) {
				t.Errorf("told was %+v, later %+v", live, later)
			}
			records := a.branch()
			for _, e := range live {
				i := slices.IndexFunc(records, func(r harness.Record) bool { return r.Seq == e.Record })
				var c harness.Condensed
				if i < 0 || records[i].Kind != harness.RecordCondensed || json.Unmarshal(records[i].Data, &c) != nil || !reflect.DeepEqual(c, *e.Condensed) {
					t.Errorf("told was %+v of record %d", e.Condensed, e.Record)
				}
			}
		})
	}
}

// condensings are the events of a run that tell of one.
func condensings(t *testing.T, h harness.RunHandle) []harness.Event {
	t.Helper()
	var events []harness.Event
	for e := range h.Events(t.Context(), 0) {
		if e.Type == harness.EventCondensed {
			events = append(events, e)
		}
	}
	return events
}

// A message that is pinned while a run rests stays pinned over what the run
// condenses when it goes on.
func TestAPinMadeWhileARunRestsStays(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArchive(t, open(t))
			under := make(chan struct{})
			a.during = func(ctx context.Context) {
				close(under)
				<-ctx.Done()
			}
			e := a.engine(nil)
			h, err := a.begin(e)
			if err != nil {
				t.Fatal(err)
			}
			<-under
			if err := e.Pause(t.Context(), h.ID()); err != nil {
				t.Fatal(err)
			}
			a.during = nil
			// The run's own first message, and one from long before.
			info, _ := a.only()
			for _, message := range []int{5, info.First} {
				pin, err := json.Marshal(harness.Pin{Message: message})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := a.transcript.Append(t.Context(), a.lease, harness.Record{Kind: harness.RecordPin, Data: pin}); err != nil {
					t.Fatal(err)
				}
			}
			if h, err = e.Resume(t.Context(), a.lease, info.ID, harness.ResumeContinue); err != nil {
				t.Fatal(err)
			}
			if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
				t.Fatalf("%+v, %v", res, err)
			}
			requests, _ := a.asked()
			for _, words := range []string{"question 2 ", "question 4 ", "look at everything"} {
				if !strings.Contains(requests[len(requests)-1], words) {
					t.Errorf("the last request is without %q", words)
				}
			}
			s, err := a.sessions.Get(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			pinned, err := memory.Pinned(t.Context(), a.transcript, s, harness.Origin{})
			if err != nil || len(pinned) != 3 || pinned[1].Seq != 5 || pinned[2].Seq != info.First {
				t.Errorf("pinned are %+v, %v", pinned, err)
			}
		})
	}
}

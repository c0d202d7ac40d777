package temporal_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
	"cairn/harness/tool"
)

type answering func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)

func (f answering) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	return f(ctx, r, emit)
}

// says is a reply of text and calls.
func says(text string, calls ...harness.ToolCall) model.Reply {
	r := model.Reply{Stop: harness.StopEnd, Usage: harness.Usage{Input: 10, Output: 5}}
	if text != "" {
		r.Parts = append(r.Parts, harness.Part{Kind: harness.PartText, Text: text})
	}
	for _, c := range calls {
		r.Stop = harness.StopTools
		r.Parts = append(r.Parts, harness.Part{Kind: harness.PartCall, Call: &c})
	}
	return r
}

func call(name, input string) harness.ToolCall {
	return harness.ToolCall{Name: name, Input: json.RawMessage(input)}
}

// script answers the steps of a turn in order: as many tool messages as there are
// before decide which is next.
func script(replies ...model.Reply) answering {
	return func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		n := 0
		for _, m := range r.Messages {
			if m.Role == harness.RoleAssistant && m.Mark == "" {
				n++
			}
		}
		reply := replies[min(n, len(replies)-1)]
		for _, p := range reply.Parts {
			if p.Kind == harness.PartText {
				emit(model.Delta{Kind: model.DeltaText, Text: p.Text})
			}
		}
		return reply, nil
	}
}

// jobOf is a run as it is waited for.
type jobOf = run.Job

// always gives the same parts for all runs.
func always(s agent.Steps) func(context.Context, run.Job, run.Carried) (agent.Steps, error) {
	return func(context.Context, run.Job, run.Carried) (agent.Steps, error) { return s, nil }
}

type argument struct {
	Text string `json:"text,omitempty"`
}

func newTool(t *testing.T, name string, replay tool.Replay, p tool.Permission, f func(ctx context.Context, c tool.Call, text string) (string, error)) tool.Tool {
	t.Helper()
	tl, err := tool.New(name, "a tool", func(ctx context.Context, c tool.Call, a argument) (string, error) { return f(ctx, c, a.Text) },
		tool.WithReplay(replay), tool.WithPermission(p))
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// parts returns what drives runs with a model and tools.
func parts(t *testing.T, m model.Model, tools ...tool.Tool) agent.Steps {
	t.Helper()
	set := new(tool.Set)
	for _, tl := range tools {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	return agent.Steps{Model: m, Info: model.Info{ID: "p/m"}, Tools: set, Policy: policy.Rules{Interactive: true}}
}

// world is a server with the address of a queue of its own.
type world struct {
	t       *testing.T
	address string
	blobs   string
	o       temporal.Options
}

func newWorld(t *testing.T, s *temporaltest.Server) *world {
	return &world{t: t, address: s.URL(), blobs: t.TempDir(), o: temporal.Options{
		Lease: 5 * time.Second, Sticky: 500 * time.Millisecond, Claim: 2 * time.Second, Grace: 500 * time.Millisecond, Host: "here",
	}}
}

// options are those of a process that drives runs with these parts.
func (w *world) options(s agent.Steps) temporal.Options {
	o := w.o
	o.Blobs, o.Holder = w.blobs, harness.Holder{PID: 4411, Host: "here", Purpose: "test"}
	if s.Model != nil {
		o.Steps = always(s)
	}
	return o
}

func (w *world) open(s agent.Steps) *temporal.Backend {
	w.t.Helper()
	b, err := temporal.Open(w.t.Context(), w.address, w.options(s))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	return b
}

// work runs a worker until the test ends or stop is called.
func (w *world) work(s agent.Steps) (stop func()) { return w.workWith(w.options(s)) }

func (w *world) workWith(o temporal.Options) (stop func()) {
	w.t.Helper()
	worker, err := temporal.NewWorker(w.t.Context(), w.address, o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		if err := worker.Run(ctx); err != nil {
			w.t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	w.t.Cleanup(stop)
	return stop
}

// submission is a run of one message.
func submission(text string, here bool) run.Submission {
	id := harness.RunID(harness.NewID())
	config := harness.RunConfig{Agent: "a@1", Model: "p/m"}
	entries, err := run.EntriesOf(time.Now().UTC(), harness.Usage{}, loop.Started{Message: harness.UserText(text), Config: config})
	if err != nil {
		panic(err)
	}
	return run.Submission{
		Run: harness.Run{
			ID: id, Session: "s", Engine: "temporal://x", Status: harness.RunRunning, Config: config, First: 1, Started: time.Now().UTC(), Dir: "/home/ada",
		},
		First: entries[0], Here: here, Carried: run.Carried{Store: "store", Session: harness.Session{ID: "s"}, Needs: run.Needs{Agent: "a@1"}},
	}
}

func submit(t *testing.T, b *temporal.Backend, s run.Submission) harness.RunID {
	t.Helper()
	if err := b.Submit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s.Run.ID
}

// until waits for the run to be as wanted.
func until(t *testing.T, b *temporal.Backend, id harness.RunID, what string, wanted func(run.Job) bool) run.Job {
	t.Helper()
	for {
		began := time.Now()
		j, err := b.Get(t.Context(), id)
		switch {
		case temporal.Silent(err): // the machine is busy
		case err != nil:
			t.Fatalf("waiting for %s: %v", what, err)
		case wanted(j):
			return j
		}
		select {
		// A question has a worker play the run from its beginning: asked without a rest,
		// a busy machine comes to nothing else.
		case <-time.After(max(30*time.Millisecond, 2*time.Since(began))):
		case <-t.Context().Done():
			t.Fatalf("waiting for %s: %+v", what, j)
		}
	}
}

func untilStatus(t *testing.T, b *temporal.Backend, id harness.RunID, s harness.RunStatus) run.Job {
	t.Helper()
	return until(t, b, id, string(s), func(j run.Job) bool {
		if j.Run.Status != s && j.Run.Status != harness.RunRunning {
			t.Fatalf("the run is %s (%v), want %s", j.Run.Status, j.Run.Error, s)
		}
		return j.Run.Status == s
	})
}

func read(t *testing.T, b *temporal.Backend, id harness.RunID) []run.Entry {
	t.Helper()
	entries, err := b.Read(t.Context(), id, 0)
	for temporal.Silent(err) && t.Context().Err() == nil { // the machine is busy
		entries, err = b.Read(t.Context(), id, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if e.Seq != i+1 {
			t.Fatalf("entry %d has the number %d", i+1, e.Seq)
		}
	}
	return entries
}

// kinds are the kinds of entries in one line.
func kinds(entries []run.Entry) string {
	var all []string
	for _, e := range entries {
		kind := e.Kind
		if e.Status != "" && e.Status != harness.RunRunning {
			kind += ":" + string(e.Status)
		}
		all = append(all, kind)
	}
	return strings.Join(all, " ")
}

func wantKinds(t *testing.T, entries []run.Entry, want string) {
	t.Helper()
	if got := kinds(entries); got != want {
		t.Errorf("entries\n got %s\nwant %s", got, want)
	}
}

// pending are the decisions that a run waits for.
func pending(t *testing.T, entries []run.Entry) []harness.Pending {
	t.Helper()
	s, _, err := run.Fold(entries)
	if err != nil {
		t.Fatal(err)
	}
	return s.Waiting()
}

func lastText(entries []run.Entry) string {
	for _, e := range slices.Backward(entries) {
		if e.Message != nil {
			return e.Message.Text()
		}
	}
	return ""
}

func TestARunIsDrivenToItsEndAndCompletesWhenItIsAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	echo := newTool(t, "echo", tool.Manual, tool.Allow, func(_ context.Context, _ tool.Call, text string) (string, error) { return "echo " + text, nil })
	b := w.open(parts(t, script(says("looking", call("echo", `{"text":"1"}`), call("echo", `{"text":"2"}`)), says("done")), echo))
	s := submission("go", true)
	id := submit(t, b, s)
	submit(t, b, s) // changes nothing
	j := untilStatus(t, b, id, harness.RunCompleted)
	entries := read(t, b, id)
	wantKinds(t, entries, "started answered judged judged began began ended ended answered rested:completed")
	if lastText(entries) != "done" || j.Run.Usage.Input != 20 || j.Run.Unfetched != len(entries) {
		t.Errorf("the run is %+v", j)
	}
	if err := b.Acknowledge(t.Context(), id, len(entries)); err != nil {
		t.Fatal(err)
	}
	until(t, b, id, "the end of the workflow", func(j run.Job) bool { return j.Run.Unfetched == 0 })
	if again := read(t, b, id); kinds(again) != kinds(entries) {
		t.Errorf("after it was acknowledged the entries are %s", kinds(again))
	}
}

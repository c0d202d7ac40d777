package temporal_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/harness/temporal"
)

// rehearsal is the workflow of a run without a server: the activities are played.
type rehearsal struct {
	*testsuite.TestWorkflowEnvironment

	t *testing.T
}

func rehearse(t *testing.T, step, call func(n int, k temporal.Task) (temporal.Done, error)) *rehearsal {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	r := &rehearsal{TestWorkflowEnvironment: s.NewTestWorkflowEnvironment(), t: t}
	// Of the machine's time, and it may be busy.
	r.SetTestTimeout(time.Minute)
	r.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	temporal.RegisterFlow(r)
	var mu sync.Mutex
	n := map[string]int{}
	play := func(name string, f func(n int, k temporal.Task) (temporal.Done, error)) {
		r.RegisterActivityWithOptions(func(_ context.Context, k temporal.Task) (temporal.Done, error) {
			mu.Lock()
			defer mu.Unlock()
			n[name+k.Call]++
			return f(n[name+k.Call], k)
		}, activity.RegisterOptions{Name: name})
	}
	play(temporal.StepType, step)
	play(temporal.ToolType, call)
	return r
}

// records are what an activity returns.
func (r *rehearsal) records(records ...loop.Record) temporal.Done {
	r.t.Helper()
	entries, err := run.EntriesOf(time.Unix(1, 0).UTC(), harness.Usage{}, records...)
	if err != nil {
		r.t.Fatal(err)
	}
	return temporal.Done{Entries: entries}
}

// play runs the workflow until nothing more comes, and returns its entries.
func (r *rehearsal) play() []run.Entry {
	r.t.Helper()
	s := submission("go", false)
	r.ExecuteWorkflow(temporal.FlowType, temporal.Input{
		Run: s.Run, First: s.First, Carried: s.Carried,
		Settings: temporal.Settings{Queue: "q", Beat: time.Second, Claim: time.Second, MaxEvents: 1_000},
	})
	var entries []run.Entry
	for {
		v, err := r.QueryWorkflow("entries", len(entries))
		if err != nil {
			r.t.Fatal(err)
		}
		var p struct {
			Entries []run.Entry `json:"entries"`
			More    bool        `json:"more"`
		}
		if err := v.Get(&p); err != nil {
			r.t.Fatal(err)
		}
		if entries = append(entries, p.Entries...); !p.More {
			return entries
		}
	}
}

// asksFor is an answer that asks for calls, which then begin.
func asksFor(repeatable bool, ids ...string) []loop.Record {
	m := harness.Message{Role: harness.RoleAssistant}
	var rest []loop.Record
	for _, id := range ids {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "t"}})
		rest = append(rest, loop.Judged{CallID: id, Permission: "allow"})
	}
	for _, id := range ids {
		rest = append(rest, loop.Began{CallID: id, Repeatable: repeatable})
	}
	return append([]loop.Record{loop.Answered{Message: &m, Stop: harness.StopTools, Attempt: 1}}, rest...)
}

func answers(text string) []loop.Record {
	m := harness.AssistantText(text)
	return []loop.Record{loop.Answered{Message: &m, Stop: harness.StopEnd, Attempt: 2}, loop.Rested{Status: harness.RunCompleted, Stop: harness.StopEnd}}
}

func ended(k temporal.Task) loop.Record {
	return loop.Ended{Message: loop.Result(harness.ToolCall{ID: k.Call, Name: "t"}, "did "+k.Call, false, false)}
}

func silent() error { return sdk.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, errors.New("silent")) }

func TestACallThatMayRunAgainDoesWhenItsWorkerIsSilentAndTheOthersAreKept(t *testing.T) {
	t.Parallel()
	var r *rehearsal
	r = rehearse(t, func(n int, _ temporal.Task) (temporal.Done, error) {
		if n == 1 {
			return r.records(asksFor(true, "1", "2")...), nil
		}
		return r.records(answers("done")...), nil
	}, func(n int, k temporal.Task) (temporal.Done, error) {
		if k.Call == "1" && n == 1 {
			return temporal.Done{}, silent()
		}
		return r.records(ended(k)), nil
	})
	wantKinds(t, r.play(), "started answered judged judged began began ended ended answered rested:completed")
}

func TestAManualCallWhoseWorkerIsSilentWaitsForAPersonWhenTheOthersHaveEnded(t *testing.T) {
	t.Parallel()
	var r *rehearsal
	r = rehearse(t, func(int, temporal.Task) (temporal.Done, error) {
		return r.records(asksFor(false, "1", "2")...), nil
	}, func(n int, k temporal.Task) (temporal.Done, error) {
		if n > 1 {
			t.Errorf("the call %s runs again", k.Call)
		}
		return map[string]temporal.Done{"1": {Gone: true}, "2": r.records(ended(k))}[k.Call], nil
	})
	entries := r.play()
	wantKinds(t, entries, "started answered judged judged began began ended resumed rested:awaiting_input")
	if p := pending(t, entries); len(p) != 1 || p[0].Call.ID != "1" || !p[0].Uncertain {
		t.Errorf("it waits for %+v", p)
	}
}

func TestAStepThatKillsEveryWorkerEndsTheRun(t *testing.T) {
	t.Parallel()
	r := rehearse(t, func(int, temporal.Task) (temporal.Done, error) { return temporal.Done{}, silent() }, nil)
	entries := r.play()
	last := entries[len(entries)-1]
	if last.Status != harness.RunFailed || last.Error == nil || last.Error.Kind != "worker" {
		t.Errorf("the run ends with %+v", last)
	}
}

func TestAPageOfEntriesFitsOneAnswer(t *testing.T) {
	t.Parallel()
	var r *rehearsal
	r = rehearse(t, func(n int, _ temporal.Task) (temporal.Done, error) {
		if n <= 3 {
			ids := []string{}
			for i := range 8 {
				ids = append(ids, fmt.Sprintf("%d_%d", n, i))
			}
			return r.records(asksFor(true, ids...)...), nil
		}
		return r.records(answers("done")...), nil
	}, func(_ int, k temporal.Task) (temporal.Done, error) {
		text := fmt.Sprintf("%0*d", 20_000, 1)
		return r.records(loop.Ended{Message: loop.Result(harness.ToolCall{ID: k.Call, Name: "t"}, text, false, false)}), nil
	})
	entries := r.play()
	if want := 1 + 3*(1+3*8) + 2; len(entries) != want {
		t.Errorf("%d entries came in pages, want %d", len(entries), want)
	}
	for i, e := range entries {
		if e.Seq != i+1 {
			t.Fatalf("entry %d has the number %d", i+1, e.Seq)
		}
	}
}

package temporal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
	"cairn/harness/tool"
)

// hanging streams a text and stays until its context ends.
func hanging(text string, stopped chan<- time.Time) answering {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		emit(model.Delta{Kind: model.DeltaText, Text: text})
		<-ctx.Done()
		stopped <- time.Now()
		return model.Reply{}, ctx.Err()
	}
}

func writes(t *testing.T, wrote chan<- string) agent.Steps {
	t.Helper()
	write := newTool(t, "write", tool.Manual, tool.Ask, func(_ context.Context, _ tool.Call, text string) (string, error) {
		wrote <- text
		return "written", nil
	})
	return parts(t, script(says("", call("write", `{"text":"a"}`)), says("done")), write)
}

func TestAnApprovalIsGivenByAnotherProcessAfterTheWorkerWasReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	wrote := make(chan string, 2)
	steps := writes(t, wrote)
	first := w.open(agent.Steps{})
	stop := w.work(steps)
	id := submit(t, first, submission("write", false))
	untilStatus(t, first, id, harness.RunAwaiting)
	stop()
	other := w.open(agent.Steps{})
	p := pending(t, read(t, other, id))
	if len(p) != 1 || p[0].Call.Name != "write" {
		t.Fatalf("the run waits for %+v", p)
	}
	ok := harness.Decision{Call: p[0].Call.ID, Digest: p[0].Digest, How: harness.DecideApprove, By: "ada"}
	for want, d := range map[error]harness.Decision{
		harness.ErrNotFound: {Call: "none", How: harness.DecideApprove},
		harness.ErrStale:    {Call: ok.Call, Digest: "other", How: harness.DecideApprove},
		loop.ErrDecision:    {Call: ok.Call, Digest: ok.Digest, How: harness.DecideRetry},
	} {
		if err := other.Decide(t.Context(), id, false, d); !errors.Is(err, want) {
			t.Errorf("the decision %+v gives %v, want %v", d, err, want)
		}
	}
	if err := other.Decide(t.Context(), id, false, ok); err != nil {
		t.Fatal(err)
	}
	if err := other.Decide(t.Context(), id, false, ok); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("deciding again gives %v", err)
	}
	w.work(steps)
	untilStatus(t, other, id, harness.RunCompleted)
	wantKinds(t, read(t, other, id), "started answered judged rested:awaiting_input decided resumed judged began ended answered rested:completed")
	if got := <-wrote; got != "a" || len(wrote) > 0 {
		t.Errorf("written was %q, and %d times more", got, len(wrote))
	}
	if err := other.Decide(t.Context(), id, false, ok); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("deciding about a run that has ended gives %v", err)
	}
}

func TestARefusedCallIsNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	wrote := make(chan string, 2)
	b := w.open(writes(t, wrote))
	id := submit(t, b, submission("write", true))
	untilStatus(t, b, id, harness.RunAwaiting)
	p := pending(t, read(t, b, id))
	if err := b.Decide(t.Context(), id, true, harness.Decision{Call: p[0].Call.ID, Digest: p[0].Digest, How: harness.DecideDecline, Text: "no"}); err != nil {
		t.Fatal(err)
	}
	untilStatus(t, b, id, harness.RunCompleted)
	wantKinds(t, read(t, b, id), "started answered judged rested:awaiting_input decided resumed ended answered rested:completed")
	if len(wrote) > 0 {
		t.Error("it was run")
	}
}

func TestACancelReachesAnotherProcessAndKeepsTheHalfAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(agent.Steps{})
	stopped := make(chan time.Time, 1)
	w.work(parts(t, hanging("half", stopped)))
	id := submit(t, b, submission("go", false))
	j := until(t, b, id, "the half answer", func(j run.Job) bool { return j.Run.Partial != nil })
	if j.Run.Partial.Text != "half" || j.Run.Worker == nil || j.Run.Worker.PID != 4411 {
		t.Errorf("the run is %+v", j.Run)
	}
	if err := b.Resume(t.Context(), id, harness.ResumeContinue, false); err == nil {
		t.Error("a run that is driven was resumed")
	} else if h, held := harness.AsHeld(err); !held || h.PID != 4411 {
		t.Errorf("resuming a run that is driven gives %v", err)
	}
	if err := b.Ask(t.Context(), id, run.AskCancel); err != nil {
		t.Fatal(err)
	}
	<-stopped
	untilStatus(t, b, id, harness.RunCancelled)
	wantKinds(t, read(t, b, id), "started cut rested:cancelled")
	if err := b.Ask(t.Context(), id, run.AskCancel); err != nil {
		t.Errorf("cancelling what has ended gives %v", err)
	}
}

func TestAPausedRunLetsItsToolFinishAndGoesOnWhenResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	begun, finish := make(chan struct{}), make(chan struct{})
	slow := newTool(t, "slow", tool.Manual, tool.Allow, func(context.Context, tool.Call, string) (string, error) {
		close(begun)
		<-finish
		return "finished", nil
	})
	b := w.open(agent.Steps{})
	w.work(parts(t, script(says("", call("slow", "{}")), says("done")), slow))
	id := submit(t, b, submission("go", false))
	<-begun
	if err := b.Ask(t.Context(), id, run.AskPause); err != nil {
		t.Fatal(err)
	}
	if j, err := b.Get(t.Context(), id); err != nil || j.Asked != run.AskPause || j.Run.Status != harness.RunRunning {
		t.Errorf("while the tool runs the run is %+v (%v)", j, err)
	}
	close(finish)
	untilStatus(t, b, id, harness.RunPaused)
	wantKinds(t, read(t, b, id), "started answered judged began ended rested:paused")
	if err := b.Resume(t.Context(), id, harness.ResumeContinue, false); err != nil {
		t.Fatal(err)
	}
	untilStatus(t, b, id, harness.RunCompleted)
	wantKinds(t, read(t, b, id), "started answered judged began ended rested:paused resumed answered rested:completed")
}

func TestAWorkerThatEndsHandsItsRunBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(agent.Steps{})
	stopped := make(chan time.Time, 1)
	stop := w.work(parts(t, hanging("half", stopped)))
	id := submit(t, b, submission("go", false))
	until(t, b, id, "the half answer", func(j run.Job) bool { return j.Run.Partial != nil })
	stop()
	w.work(parts(t, script(says("whole"))))
	untilStatus(t, b, id, harness.RunCompleted)
	wantKinds(t, read(t, b, id), "started resumed cut answered rested:completed")
}

func TestARunThatIsRefusedWaitsWithTheReasonForAWorkerThatFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(agent.Steps{})
	id := submit(t, b, submission("go", false))
	j := until(t, b, id, "a reason", func(j run.Job) bool { return j.Run.Waits != "" })
	if j.Run.Waits != "no worker has taken it" || j.Run.Interrupted || j.Run.Worker != nil {
		t.Errorf("without a worker the run is %+v", j.Run)
	}
	o := w.options(agent.Steps{})
	asked := make(chan struct{}, 100)
	o.Steps = func(context.Context, run.Job, run.Carried) (agent.Steps, error) {
		asked <- struct{}{}
		return agent.Steps{}, fmt.Errorf("it has no tool sing: %w", run.ErrUnfit)
	}
	stop := w.workWith(o)
	until(t, b, id, "the reason", func(j run.Job) bool { return strings.Contains(j.Run.Waits, "sing") })
	if len(asked) != 1 {
		t.Errorf("the worker was asked %d times", len(asked))
	}
	stop()
	if err := b.Resume(t.Context(), id, harness.ResumeClose, false); err != nil {
		t.Fatal(err)
	}
	wantKinds(t, read(t, b, id), "started rested:cancelled")
}

func TestARunOfAChatThatIsGoneIsTakenByAWorkerOrByTheNextChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	stopped := make(chan time.Time, 1)
	gone, err := temporal.Open(t.Context(), w.address, w.options(parts(t, hanging("half", stopped))))
	if err != nil {
		t.Fatal(err)
	}
	ids := []harness.RunID{submit(t, gone, submission("1", true)), submit(t, gone, submission("2", true))}
	b := w.open(parts(t, script(says("whole"))))
	for _, id := range ids {
		until(t, b, id, "the half answer", func(j run.Job) bool { return j.Run.Partial != nil })
	}
	gone.Die()
	// The server does not know yet, and is waited for.
	if err := b.Resume(t.Context(), ids[0], harness.ResumeContinue, true); err != nil {
		t.Fatal(err)
	}
	j := until(t, b, ids[1], "a run without a driver", func(j run.Job) bool { return j.Run.Interrupted })
	if j.Run.Waits == "" || j.Run.Partial == nil || j.Run.Partial.Text != "half" {
		t.Errorf("nobody drives %+v", j.Run)
	}
	untilStatus(t, b, ids[0], harness.RunCompleted)
	w.work(parts(t, script(says("whole"))))
	untilStatus(t, b, ids[1], harness.RunCompleted)
	wantKinds(t, read(t, b, ids[0]), "started resumed cut noted answered rested:completed")
	wantKinds(t, read(t, b, ids[1]), "started resumed cut answered rested:completed")
}

func TestLargeMessagesAndResultsAreKeptApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	big := newTool(t, "big", tool.Safe, tool.Allow, func(_ context.Context, c tool.Call, _ string) (string, error) {
		return strings.Repeat("x", 200_000) + c.Key, nil
	})
	var many []harness.ToolCall
	for range 30 {
		many = append(many, call("big", "{}"))
	}
	b := w.open(parts(t, script(says(strings.Repeat("y", 2_200_000), many...), says("done")), big))
	s := submission("go", true)
	for i := range 50 {
		m := harness.UserText(strings.Repeat("z", 100_000))
		s.Carried.History = append(s.Carried.History, harness.Record{Seq: i + 1, Kind: harness.RecordMessage, Message: &m})
	}
	id := submit(t, b, s)
	untilStatus(t, b, id, harness.RunCompleted)
	entries := read(t, b, id)
	artifacts := 0
	for _, e := range entries {
		if e.Message == nil || e.Kind != "ended" {
			continue
		}
		r := e.Message.Parts[0].Result
		data, err := b.Artifact(t.Context(), id, r.Artifact)
		if err != nil || len(data) < 200_000 || !strings.HasSuffix(string(data), r.CallID) {
			t.Fatalf("the result of %s has %d bytes: %v", r.CallID, len(data), err)
		}
		artifacts++
	}
	answer := slices.IndexFunc(entries, func(e run.Entry) bool { return e.Kind == "answered" })
	if artifacts != 30 || len(entries[answer].Message.Text()) != 2_200_000 {
		t.Errorf("%d results, an answer of %d bytes", artifacts, len(entries[answer].Message.Text()))
	}
	if err := b.Acknowledge(t.Context(), id, len(entries)); err != nil {
		t.Fatal(err)
	}
	until(t, b, id, "the end of the workflow", func(j run.Job) bool { return j.Run.Unfetched == 0 })
	if again := read(t, b, id); kinds(again) != kinds(entries) {
		t.Errorf("when it was acknowledged %d entries are left of %d", len(again), len(entries))
	}
}

func TestAPartThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(parts(t, script(says(strings.Repeat("y", 100_000)))))
	id := submit(t, b, submission("go", true))
	untilStatus(t, b, id, harness.RunCompleted)
	entries := read(t, b, id)
	if err := b.Acknowledge(t.Context(), id, len(entries)); err != nil {
		t.Fatal(err)
	}
	until(t, b, id, "the end of the workflow", func(j run.Job) bool { return j.Run.Unfetched == 0 })
	w.blobs = t.TempDir()
	other := w.open(agent.Steps{})
	_, err := other.Read(t.Context(), id, 0)
	if err == nil || !strings.Contains(err.Error(), w.blobs) || !strings.Contains(err.Error(), "blobs=") {
		t.Errorf("reading gives %v", err)
	}
}

func TestARunWithTooManyEventsEndsWithTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	w.o.MaxEvents = 60
	echo := newTool(t, "echo", tool.Safe, tool.Allow, func(context.Context, tool.Call, string) (string, error) { return "echo", nil })
	n := 0
	b := w.open(parts(t, answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		n++
		return says("", call("echo", fmt.Sprintf(`{"text":"%d"}`, n))), nil
	}), echo))
	id := submit(t, b, submission("go", true))
	j := untilStatus(t, b, id, harness.RunFailed)
	if j.Run.Error == nil || j.Run.Error.Kind != "history" || !strings.Contains(j.Run.Error.Text, "60 events") {
		t.Errorf("it failed with %+v", j.Run.Error)
	}
	if err := b.Resume(t.Context(), id, harness.ResumeContinue, true); err == nil || !strings.Contains(err.Error(), "history") {
		t.Errorf("going on gives %v", err)
	}
	if err := b.Resume(t.Context(), id, harness.ResumeDrop, false); err != nil {
		t.Error(err)
	}
}

func TestListsAndPrunesKnowWhatWasHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	store := "store-" + harness.NewID()
	b := w.open(parts(t, script(says("done"))))
	var ids []harness.RunID
	for i := range 3 {
		s := submission("go", true)
		s.Carried.Store = store
		s.Run.Session = harness.SessionID(fmt.Sprintf("s%d", i))
		ids = append(ids, submit(t, b, s))
		untilStatus(t, b, ids[i], harness.RunCompleted)
	}
	list := func(f run.JobFilter) []harness.RunID {
		t.Helper()
		f.Store = store
		jobs, err := b.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var got []harness.RunID
		for _, j := range jobs {
			got = append(got, j.Run.ID)
		}
		return got
	}
	want := []harness.RunID{ids[2], ids[1], ids[0]}
	if got := list(run.JobFilter{}); !slices.Equal(got, want) {
		t.Errorf("listed are %v, want %v", got, want)
	}
	if got := list(run.JobFilter{Session: "s1", Unacknowledged: true}); !slices.Equal(got, ids[1:2]) {
		t.Errorf("of session s1 not handed over are %v", got)
	}
	if got := list(run.JobFilter{Unfinished: true}); len(got) != 0 {
		t.Errorf("unfinished are %v", got)
	}
	if err := b.Acknowledge(t.Context(), ids[1], 3); err != nil {
		t.Fatal(err)
	}
	until(t, b, ids[1], "the end of the workflow", func(j run.Job) bool { return j.Run.Unfetched == 0 })
	for slices.Contains(list(run.JobFilter{Unacknowledged: true}), ids[1]) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it is listed as not handed over")
		}
	}
}

func TestPruneKeepsWhatWasNotHandedOverUnlessItIsForced(t *testing.T) {
	t.Parallel()
	// Of a server of its own, because it takes the runs of all.
	w := newWorld(t, temporaltest.Own(t))
	b := w.open(parts(t, script(says("done"))))
	var ids []harness.RunID
	for range 2 {
		ids = append(ids, submit(t, b, submission("go", true)))
		untilStatus(t, b, ids[len(ids)-1], harness.RunCompleted)
	}
	if err := b.Acknowledge(t.Context(), ids[0], 3); err != nil {
		t.Fatal(err)
	}
	until(t, b, ids[0], "the end of the workflow", func(j run.Job) bool { return j.Run.Unfetched == 0 })
	prune := func(want int, p run.Prune) {
		t.Helper()
		n := 0
		for n < want { // the server's lists lag behind
			more, err := b.Prune(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			n += more
		}
		if more, err := b.Prune(t.Context(), p); n != want || more != 0 || err != nil {
			t.Errorf("%d runs were pruned, then %d (%v), want %d", n, more, err, want)
		}
	}
	later := run.Prune{Before: time.Now().Add(time.Hour)}
	if n, err := b.Prune(t.Context(), run.Prune{Before: time.Now().Add(-time.Hour)}); n != 0 || err != nil {
		t.Errorf("by age %d were pruned: %v", n, err)
	}
	prune(1, later)
	if _, err := b.Get(t.Context(), ids[0]); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("the pruned run gives %v", err)
	}
	if _, err := b.Get(t.Context(), ids[1]); err != nil {
		t.Error(err)
	}
	later.Force = true
	prune(1, later)
	if _, err := b.Read(t.Context(), ids[1], 0); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("the pruned run gives %v", err)
	}
}

func TestGettingReadyLongerThanAWorkerMayBeSilentIsNoDeath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	ran := make(chan string, 10)
	slow := newTool(t, "slow", tool.Manual, tool.Allow, func(_ context.Context, c tool.Call, _ string) (string, error) {
		time.Sleep(w.o.Lease + time.Second)
		ran <- c.Key
		return "done", nil
	})
	steps := parts(t, script(says("", call("slow", "{}")), says("done")), slow)
	o := w.options(steps)
	o.Steps = func(_ context.Context, j run.Job, _ run.Carried) (agent.Steps, error) {
		time.Sleep(w.o.Lease + time.Second)
		return steps, nil
	}
	b := w.open(agent.Steps{})
	w.workWith(o)
	id := submit(t, b, submission("go", false))
	untilStatus(t, b, id, harness.RunCompleted)
	entries := read(t, b, id)
	wantKinds(t, entries, "started answered judged began ended answered rested:completed")
	if len(ran) != 1 || <-ran != entries[4].Message.Parts[0].Result.CallID {
		t.Error("the tool ran more than once, or without its execution key")
	}
}

func TestAddressesAreReadAndNeverRepeated(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"temporal://u:secret@h/n?que=x":         "queue, blobs and tls",
		"temporal://u:secret@h/n?tls=maybe":     "true or false",
		"postgres://u:secret@h/n":               "temporal://",
		"temporal://u:secret@127.0.0.1:1/n":     "cannot be reached",
		"temporal://u:secret@h/n?blobs=what://": "what://",
	} {
		_, err := temporal.Open(t.Context(), address, temporal.Options{Blobs: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gives %v, want %q", address, err, want)
		}
	}
	if _, err := temporal.Open(t.Context(), "temporal://h/n", temporal.Options{}); err == nil || !strings.Contains(err.Error(), "blobs=") {
		t.Errorf("without a place for blobs comes %v", err)
	}
}

package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
)

// here has a run be driven by the process that submits it.
func here(s *run.Submission) { s.Here = true }

func (o *owner) here(change ...func(*run.DriverOptions)) run.Backend {
	o.t.Helper()
	d := o.options(kept{o.q})
	for _, f := range change {
		f(&d)
	}
	b := run.NewQueueBackend(run.QueueOptions{DriverOptions: d})
	o.t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

func TestBackendDrivesHereWhatIsSubmittedHere(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"look", "pay"}}})
	b := o.here()
	for range 2 { // the second changes nothing
		if err := b.Submit(t.Context(), submission(t, "r", here)); err != nil {
			t.Fatal(err)
		}
	}
	o.status("r", harness.RunCompleted)
	if o.answer("r") != "all: done look|done pay" || len(o.lines("effects")) != 2 {
		t.Errorf("it answers %q", o.answer("r"))
	}
	if err := b.Submit(t.Context(), submission(t, "later")); err != nil {
		t.Fatal(err)
	}
	if j, err := b.Get(t.Context(), "later"); err != nil || j.Run.Worker != nil || j.Run.Status != harness.RunRunning {
		t.Errorf("what is left to workers is %+v, %v", j.Run, err)
	}
	if err := b.Resume(t.Context(), "later", harness.ResumeContinue, true); err != nil {
		t.Fatal(err)
	}
	o.status("later", harness.RunCompleted)
	if got := o.kinds("later"); strings.Contains(got, "resumed") {
		t.Errorf("a run that nobody had taken is %s", got)
	}
}

func TestClosePausesWhatIsDrivenHere(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Words: []string{"half "}})
	b := o.here()
	for n := range 3 {
		if err := b.Submit(t.Context(), submission(t, harness.RunID(fmt.Sprint("r", n)), here)); err != nil {
			t.Fatal(err)
		}
	}
	o.begun("words", 3)
	if err := b.Resume(t.Context(), "r0", harness.ResumeContinue, true); !held1(err) {
		t.Errorf("resuming what is under way is %v", err)
	}
	if err := b.Decide(t.Context(), "r0", true, harness.Decision{Call: "x", How: harness.DecideApprove}); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("deciding about what is under way is %v", err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, how := range []harness.ResumeHow{harness.ResumeContinue, harness.ResumeRetry, harness.ResumeClose} {
		id := harness.RunID(fmt.Sprint("r", n))
		j := o.status(id, harness.RunPaused)
		if j.Run.Partial == nil || j.Run.Partial.Text != "half " {
			t.Errorf("the half answer is %+v", j.Run.Partial)
		}
		if n == 0 {
			o.letGo()
		}
		if err := o.here().Resume(t.Context(), id, how, how == harness.ResumeContinue); err != nil {
			t.Fatal(err)
		}
	}
	if o.status("r0", harness.RunCompleted); !strings.Contains(o.kinds("r0"), "resumed cut noted answered") {
		t.Errorf("continued it is %s", o.kinds("r0"))
	}
	if j := o.status("r1", harness.RunRunning); j.Run.Waits == "" {
		t.Errorf("left to workers it is %+v", j.Run)
	}
	j := o.status("r2", harness.RunCancelled)
	last := o.entries("r2")[len(o.entries("r2"))-2]
	if j.Run.Stop != harness.StopCancelled || last.Kind != "cut" || last.Rewind || last.Message.Text() != "half " {
		t.Errorf("closed it is %+v, after %+v", j.Run, last)
	}
	if err := o.here().Resume(t.Context(), "r2", harness.ResumeContinue, true); err == nil {
		t.Error("a run that has ended goes on")
	}
}

func held1(err error) bool {
	_, ok := harness.AsHeld(err)
	return ok
}

func TestRunThatCannotBeDrivenHereSaysWhy(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{})
	why := errors.New("there is no key for p: set P_API_KEY")
	b := o.here(func(d *run.DriverOptions) {
		d.Steps = func(context.Context, run.Job, run.Carried) (agent.Steps, error) { return agent.Steps{}, why }
	})
	if err := b.Submit(t.Context(), submission(t, "r", here)); err != nil {
		t.Fatal(err)
	}
	j := o.status("r", harness.RunFailed)
	if j.Run.Error == nil || !strings.Contains(j.Run.Error.Text, "set P_API_KEY") {
		t.Errorf("it failed with %+v", j.Run.Error)
	}
	if err := b.Resume(t.Context(), "r", harness.ResumeContinue, true); !errors.Is(err, why) {
		t.Errorf("resumed it is %v", err)
	}
	why = fmt.Errorf("%w: it has no tool sing", run.ErrUnfit)
	if err := b.Submit(t.Context(), submission(t, "unfit", here)); err != nil {
		t.Fatal(err)
	}
	if j := o.status("unfit", harness.RunRunning); !strings.Contains(j.Run.Waits, "no tool sing") {
		t.Errorf("it waits because %q", j.Run.Waits)
	}
	if err := b.Resume(t.Context(), "unfit", harness.ResumeContinue, true); !errors.Is(err, run.ErrUnfit) {
		t.Errorf("resumed it is %v", err)
	}
	if err := o.here().Resume(t.Context(), "r", harness.ResumeContinue, true); err != nil {
		t.Fatal(err)
	}
	o.status("r", harness.RunCompleted)
}

func TestStoppedProcessLeavesAnInterruptedRunThatIsTakenUpHere(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}, {"sign"}}})
	o.submit("r")
	o.dead("r", o.process(func(y *yard) { y.Point = "in pay" }))
	b := o.here()
	if j, err := b.Get(t.Context(), "r"); err != nil || !j.Run.Interrupted || j.Run.Worker != nil {
		t.Errorf("it is %+v, %v", j.Run, err)
	}
	if err := b.Resume(t.Context(), "r", harness.ResumeContinue, true); err != nil {
		t.Fatal(err)
	}
	o.status("r", harness.RunAwaiting)
	o.decide(b, "r", harness.DecideResult, true) // at once: whoever drove it may be letting go of it
	o.status("r", harness.RunAwaiting)
	o.decide(b, "r", harness.DecideApprove, true)
	o.status("r", harness.RunCompleted)
	if o.answer("r") != "all: seen|done sign" || o.count("effects", "pay") != 0 {
		t.Errorf("it answers %q", o.answer("r"))
	}
}

func TestInterruptedRunIsTakenUpByADecision(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}}})
	o.submit("r")
	o.dead("r", o.process(func(y *yard) { y.Point = "done pay" }))
	b := o.here()
	call := o.entries("r")[1].Message.Calls()[0].ID
	if err := b.Decide(t.Context(), "r", true, harness.Decision{Call: call, How: harness.DecideResult, Text: "the bank says so"}); err != nil {
		t.Fatal(err)
	}
	if o.status("r", harness.RunCompleted); o.answer("r") != "all: the bank says so" || o.count("effects", "pay") != 1 {
		t.Errorf("it answers %q: %s", o.answer("r"), o.kinds("r"))
	}
}

func TestLiveShowsWhatIsStreamedHere(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"look"}}, Words: []string{"one ", "two "}})
	b := o.here()
	if err := b.Submit(t.Context(), submission(t, "r", here)); err != nil {
		t.Fatal(err)
	}
	o.begun("words", 1)
	events, ok := b.Live(t.Context(), "r")
	if !ok {
		t.Fatal("it is not driven here")
	}
	text := ""
	take := func(want string) {
		for text != want {
			e, open := <-events
			if !open {
				t.Fatalf("it ends after %q", text)
			}
			if e.Type == harness.EventText {
				if e.Offset != len(text) || e.Run != "r" || e.Attempt != 2 || e.Seq != 0 {
					t.Errorf("after %q it shows %+v", text, e)
				}
				text += e.Text
			}
		}
	}
	take("one two ")
	o.letGo()
	take("one two all: done look")
	for range events { // until the run is left
	}
	if _, ok := b.Live(t.Context(), "r"); ok {
		t.Error("it is still shown")
	}
}

// flaky is a queue that cannot be reached for a while.
type flaky struct {
	run.Queue

	down   atomic.Bool
	missed atomic.Int32
}

var errUnreached = errors.New("the server is away")

func (f *flaky) fails() error {
	if f.down.Load() {
		f.missed.Add(1)
		return errUnreached
	}
	return nil
}

func (f *flaky) Renew(ctx context.Context, c run.Claim) (run.Ask, error) {
	if err := f.fails(); err != nil {
		return "", err
	}
	return f.Queue.Renew(ctx, c)
}

func (f *flaky) Append(ctx context.Context, c run.Claim, after int, artifacts [][]byte, entries ...run.Entry) ([]run.Entry, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Queue.Append(ctx, c, after, artifacts, entries...)
}

func (f *flaky) SavePartial(ctx context.Context, c run.Claim, p harness.Partial) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Queue.SavePartial(ctx, c, p)
}

func (f *flaky) Next(ctx context.Context, h harness.Holder, host string, skip []harness.RunID) (run.Claim, error) {
	if err := f.fails(); err != nil {
		return run.Claim{}, err
	}
	return f.Queue.Next(ctx, h, host, skip)
}

func TestFailedRenewalAbortsNothing(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}, {"send"}}, Slow: []string{"pay"}})
	o.submit("r")
	f := &flaky{Queue: o.q}
	w, stop := o.work(func(w *run.WorkerOptions) { w.Queue, w.Lease = f, 60*time.Millisecond })
	o.begun("pay", 1)
	f.down.Store(true)
	if !o.soon(func() bool { return f.missed.Load() > 5 && w.Status().Trouble != "" }) {
		t.Fatal("nothing is tried")
	}
	o.letGo() // the tool ends while nothing can be stored
	if !o.soon(func() bool { return o.count("effects", "pay") == 1 }) {
		t.Fatal("the tool was aborted")
	}
	time.Sleep(50 * time.Millisecond)
	f.down.Store(false)
	o.status("r", harness.RunCompleted)
	o.soon(func() bool { return w.Status().Trouble == "" }) // it asks again
	stop()
	if s := w.Status(); s.Done != 1 || s.Lost != 0 || s.Trouble != "" || o.answer("r") != "all: done pay|done send" {
		t.Errorf("the worker tells %+v, the run %q", s, o.answer("r"))
	}
}

func TestStopWhileNothingCanBeStoredLeavesTheRunBroken(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}}, Slow: []string{"pay"}})
	o.submit("r")
	f := &flaky{Queue: o.q}
	w, stop := o.work(func(w *run.WorkerOptions) { w.Queue = f })
	o.begun("pay", 1)
	f.down.Store(true)
	stop()
	if s := w.Status(); s.Returned != 1 || s.Done != 0 {
		t.Errorf("the worker tells %+v", s)
	}
	if err := o.q.Close(); err != nil { // the process ends
		t.Fatal(err)
	}
	next := &owner{yard: o.yard, t: t}
	var err error
	if next.q, err = o.queue(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = next.q.Close() }()
	_, stop = next.work()
	defer stop()
	next.status("r", harness.RunAwaiting)
	if ps := next.pending("r"); len(ps) != 1 || !ps[0].Uncertain {
		t.Errorf("it waits for %+v", ps)
	}
}

package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
)

func TestWorkerDrivesRunsToTheirEnd(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"look", "pay"}, {"send"}}})
	for n := range 6 {
		// The same session in several stores: none of them is in the way of another.
		o.submit(harness.RunID(fmt.Sprint("r", n)))
	}
	w, stop := o.work(func(w *run.WorkerOptions) { w.Concurrency = 3 })
	for n := range 6 {
		id := harness.RunID(fmt.Sprint("r", n))
		j := o.status(id, harness.RunCompleted)
		if got := o.answer(id); got != "all: done look|done pay|done send" {
			t.Errorf("it answers %q", got)
		}
		if j.Run.Usage.Input != 30 || j.Run.Cursor != len(o.entries(id)) {
			t.Errorf("the run is told as %+v", j.Run)
		}
		if got := o.kinds(id); strings.Contains(got, "resumed") {
			t.Errorf("a run that nobody disturbed has %s", got)
		}
	}
	stop()
	if s := w.Status(); s.Done != 6 || s.Failed+s.Refused+s.Lost+s.Returned != 0 || len(s.Driving) != 0 || s.Since.IsZero() {
		t.Errorf("the worker tells %+v", s)
	}
	if n := len(o.lines("effects")); n != 18 {
		t.Errorf("the tools left %d lines", n)
	}
}

// Wherever a worker is killed, another one takes the run to its end, or a person
// does who is asked about the call whose outcome nobody knows. No call leaves two
// lines, and nothing that was acknowledged is lost.
func TestKilledWorkerLeavesARunThatAnotherFinishes(t *testing.T) {
	t.Parallel()
	points := []string{"in pay", "done pay", "in look", "done look"}
	for n := 1; n <= 9; n++ {
		points = append(points, fmt.Sprint("before ", n), fmt.Sprint("after ", n))
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			o := newOwner(t, yard{Turns: [][]string{{"look"}, {"pay"}}})
			o.submit("r")
			o.dead("r", o.process(func(y *yard) { y.Point = point }))
			before := o.entries("r")
			_, stop := o.work()
			j := o.until("r", func(j run.Job) bool {
				return j.Run.Worker == nil && (j.Run.Status == harness.RunAwaiting || j.Run.Status.Closed())
			})
			if j.Run.Status == harness.RunAwaiting {
				if ps := o.pending("r"); len(ps) != 1 || !ps[0].Uncertain || ps[0].Call.Name != "pay" {
					t.Fatalf("it waits for %+v", ps)
				}
				o.decide(o.backend(), "r", harness.DecideResult, false)
				o.status("r", harness.RunCompleted)
			}
			stop()
			for i, e := range o.entries("r")[:len(before)] {
				if e.Kind != before[i].Kind || string(e.Data) != string(before[i].Data) {
					t.Errorf("entry %d was %s and is %s", i+1, before[i].Kind, e.Kind)
				}
			}
			if n := o.count("effects", "pay"); n > 1 {
				t.Errorf("pay left %d lines", n)
			}
			if got := o.answer("r"); !strings.HasPrefix(got, "all: done look|") {
				t.Errorf("it answers %q, %s", got, o.kinds("r"))
			}
		})
	}
}

func TestUncertainCallRunsAgainOnlyIfAPersonSaysSo(t *testing.T) {
	t.Parallel()
	for how, want := range map[harness.DecisionHow]int{harness.DecideResult: 1, harness.DecideRetry: 2, harness.DecideAbort: 1} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			o := newOwner(t, yard{Turns: [][]string{{"pay"}}})
			o.submit("r")
			o.dead("r", o.process(func(y *yard) { y.Point = "done pay" }))
			o.work()
			o.status("r", harness.RunAwaiting)
			o.decide(o.backend(), "r", how, false)
			j := o.until("r", func(j run.Job) bool { return j.Run.Status.Closed() && j.Run.Worker == nil })
			if n := o.count("effects", "pay"); n != want || (j.Run.Status == harness.RunCancelled) != (how == harness.DecideAbort) {
				t.Errorf("pay left %d lines, the run is %s", n, j.Run.Status)
			}
		})
	}
}

func TestApprovalSurvivesWorkersAndIsDecidedFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, how := range []harness.DecisionHow{harness.DecideApprove, harness.DecideDecline} {
		for _, here := range []bool{false, true} {
			t.Run(fmt.Sprint(how, " here=", here), func(t *testing.T) {
				t.Parallel()
				o := newOwner(t, yard{Turns: [][]string{{"sign"}}})
				o.submit("r")
				worker := o.process(func(*yard) {})
				o.status("r", harness.RunAwaiting)
				first := o.pending("r")
				_ = worker.Process.Kill()
				_ = worker.Wait()
				other := o.process(func(*yard) {}) // it has nothing to do: a person is asked
				b := o.backend()
				if err := b.Decide(t.Context(), "r", false, harness.Decision{Call: first[0].Call.ID, Digest: "other", How: how}); !errors.Is(err, harness.ErrStale) {
					t.Errorf("a decision about something else is %v", err)
				}
				if again := o.pending("r"); len(again) != 1 || again[0].Digest != first[0].Digest || again[0].Digest == "" {
					t.Fatalf("it is shown as %+v, it was %+v", again, first)
				}
				_ = other.Process.Signal(syscall.SIGTERM)
				_ = other.Wait()
				o.decide(b, "r", how, here)
				if !here {
					if j, err := o.q.Get(t.Context(), "r"); err != nil || j.Run.Status != harness.RunRunning || j.Run.Worker != nil {
						t.Fatalf("it is %+v, %v", j.Run, err)
					}
					o.work()
				}
				o.status("r", harness.RunCompleted)
				want, lines := "all: done sign", 1
				if how == harness.DecideDecline {
					want, lines = "all: permission denied by the person: because", 0
				}
				if got := o.answer("r"); got != want || o.count("effects", "sign") != lines {
					t.Errorf("it answers %q, and the tool left %q", got, o.lines("effects"))
				}
				if strings.Count(o.kinds("r"), "decided") != 1 {
					t.Errorf("it was asked more than once: %s", o.kinds("r"))
				}
				if err := b.Decide(t.Context(), "r", here, harness.Decision{Call: first[0].Call.ID, How: how}); !errors.Is(err, harness.ErrNotFound) {
					t.Errorf("a second decision is %v", err)
				}
			})
		}
	}
}

func TestDrainedWorkerHandsItsRunsBack(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"look"}}, Words: []string{"half ", "an "}})
	o.submit("r")
	worker := o.process(func(*yard) {})
	o.begun("words", 1)
	o.until("r", func(j run.Job) bool { return j.Run.Partial != nil && j.Run.Partial.Text == "half an " })
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Fatalf("the worker ends with %v", err)
	}
	j, err := o.q.Get(t.Context(), "r")
	if err != nil || j.Run.Status != harness.RunRunning || j.Run.Worker != nil || j.Run.Interrupted {
		t.Fatalf("it left %+v, %v", j.Run, err)
	}
	o.letGo()
	o.work()
	o.status("r", harness.RunCompleted)
	var half, resumed int
	for _, e := range o.entries("r") {
		if e.Kind == "answered" && e.Message.Text() != "" && !strings.Contains(string(e.Data), `"attempt":3`) {
			t.Errorf("after two attempts comes %s", e.Data)
		}
		if e.Kind == "cut" && e.Rewind && e.Message.Text() == "half an " {
			half++
		}
		if e.Kind == "resumed" {
			resumed++
		}
	}
	if half != 1 || resumed != 1 || o.answer("r") != "half an all: done look" || o.count("effects", "look") != 1 {
		t.Errorf("%d halves, resumed %d times, %q: %s", half, resumed, o.answer("r"), o.kinds("r"))
	}
}

func TestDrainLeavesAToolItsTimeAndNoMore(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}, {"send"}}, Slow: []string{"pay", "send"}})
	o.submit("r")
	_, stop := o.work(func(w *run.WorkerOptions) { w.Grace = time.Minute })
	o.begun("pay", 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = o.add("go", "")
	}()
	stop()
	if got := o.kinds("r"); o.count("effects", "pay") != 1 || !strings.Contains(got, "ended") {
		t.Errorf("the tool left %q: %s", o.lines("effects"), got)
	}
	o.work()
	if o.status("r", harness.RunCompleted); o.answer("r") != "all: done pay|done send" {
		t.Errorf("it answers %q", o.answer("r"))
	}
}

func TestToolThatIsLeftByADrainIsUncertain(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}}, Slow: []string{"pay"}})
	o.submit("r")
	_, stop := o.work()
	o.begun("pay", 1)
	stop()
	o.work()
	o.status("r", harness.RunAwaiting)
	if ps := o.pending("r"); len(ps) != 1 || !ps[0].Uncertain || o.count("begun", "pay") != 1 {
		t.Errorf("it waits for %+v; the tool began %d times", ps, o.count("begun", "pay"))
	}
}

func TestCancelAndPauseReachWhoeverDrives(t *testing.T) {
	t.Parallel()
	for ask, want := range map[run.Ask]harness.RunStatus{run.AskCancel: harness.RunCancelled, run.AskPause: harness.RunPaused} {
		t.Run(string(ask), func(t *testing.T) {
			t.Parallel()
			o := newOwner(t, yard{Turns: [][]string{{"look"}}, Words: []string{"half"}})
			o.submit("r")
			o.work()
			o.begun("words", 1)
			other, err := o.queue(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b := run.NewQueueBackend(run.QueueOptions{DriverOptions: o.options(other)})
			defer func() { _ = b.Close(context.Background()) }()
			if err := b.Ask(t.Context(), "r", ask); err != nil {
				t.Fatal(err)
			}
			o.status("r", want)
			if got := o.kinds("r"); (want == harness.RunCancelled) != strings.Contains(got, "cut") {
				t.Errorf("%s leaves %s", ask, got)
			}
			if want == harness.RunPaused {
				o.letGo()
				if err := b.Resume(t.Context(), "r", harness.ResumeContinue, true); err != nil {
					t.Fatal(err)
				}
				if o.status("r", harness.RunCompleted); o.answer("r") != "halfall: done look" {
					t.Errorf("it answers %q", o.answer("r"))
				}
			}
		})
	}
}

func TestWhatNobodyDrivesIsCancelledAtOnce(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"sign"}}})
	b := o.backend()
	o.submit("fresh")
	o.submit("waits")
	o.submit("paused")
	if err := b.Ask(t.Context(), "paused", run.AskPause); err != nil {
		t.Fatal(err)
	}
	if j := o.status("paused", harness.RunPaused); j.Asked != run.AskNothing {
		t.Errorf("it is still asked to %s", j.Asked)
	}
	if err := b.Ask(t.Context(), "fresh", run.AskCancel); err != nil {
		t.Fatal(err)
	}
	o.status("fresh", harness.RunCancelled)
	w, stop := o.work()
	o.status("waits", harness.RunAwaiting)
	stop()
	if s := w.Status(); s.Done != 1 {
		t.Errorf("it drove %+v", s)
	}
	if err := b.Ask(t.Context(), "waits", run.AskCancel); err != nil {
		t.Fatal(err)
	}
	o.status("waits", harness.RunCancelled)
	if err := b.Ask(t.Context(), "waits", run.AskCancel); err != nil {
		t.Errorf("of a run that has ended it is %v", err)
	}
}

func TestRefusedRunWaitsWithTheReason(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{})
	o.submit("r")
	o.submit("elsewhere", func(s *run.Submission) { s.Carried.Needs.Host = "other" })
	w, stop := o.work(func(w *run.WorkerOptions) {
		w.Steps = func(context.Context, run.Job, run.Carried) (agent.Steps, error) {
			return agent.Steps{}, fmt.Errorf("%w: it has no tool sing", run.ErrUnfit)
		}
	})
	j := o.until("r", func(j run.Job) bool {
		return strings.Contains(j.Run.Waits, "it has no tool sing") && j.Run.Worker == nil
	})
	if j.Run.Status != harness.RunRunning || o.kinds("r") != "started" {
		t.Errorf("it is %+v, %s", j.Run, o.kinds("r"))
	}
	time.Sleep(100 * time.Millisecond) // it looks many times
	stop()
	if s := w.Status(); s.Refused != 1 {
		t.Errorf("it refused %d times", s.Refused)
	}
	o.work()
	o.status("r", harness.RunCompleted)
	if j, err := o.q.Get(t.Context(), "elsewhere"); err != nil || o.kinds("elsewhere") != "started" || j.Run.Status != harness.RunRunning {
		t.Errorf("a run of another machine is %+v, %v", j.Run, err)
	}
	o.work(func(w *run.WorkerOptions) { w.Host = "other" })
	o.status("elsewhere", harness.RunCompleted)
}

func TestWorkerThatLostItsRunStartsNoFurtherTool(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay", "send"}}, Slow: []string{"pay"}})
	o.submit("r")
	w, stop := o.work()
	o.begun("pay", 1)
	c, err := o.q.(interface {
		Force(ctx context.Context, id harness.RunID, h harness.Holder) (run.Claim, error)
	}).Force(t.Context(), "r", harness.Holder{PID: 99})
	if err != nil || !c.Broken {
		t.Fatalf("the claim is %+v, %v", c, err)
	}
	at := o.kinds("r")
	if !o.soon(func() bool { return w.Status().Lost == 1 }) {
		t.Fatalf("it tells %+v", w.Status())
	}
	o.letGo()
	stop()
	if got := o.kinds("r"); got != at || o.count("effects", "send") != 0 {
		t.Errorf("it wrote %s after %s, and left %q", got, at, o.lines("effects"))
	}
	if err := o.q.Release(t.Context(), c, ""); err != nil {
		t.Fatal(err)
	}
	o.work()
	o.status("r", harness.RunAwaiting)
	if ps := o.pending("r"); len(ps) == 0 || !ps[0].Uncertain {
		t.Errorf("it waits for %+v", ps)
	}
}

// late is a queue at which somebody cancels a run at the moment it comes to rest.
type late struct{ run.Queue }

func (l late) Append(ctx context.Context, c run.Claim, after int, artifacts [][]byte, entries ...run.Entry) ([]run.Entry, error) {
	stored, err := l.Queue.Append(ctx, c, after, artifacts, entries...)
	if err == nil && stored[len(stored)-1].Status == harness.RunAwaiting {
		err = l.Ask(ctx, c.Run, run.AskCancel)
	}
	return stored, err
}

func TestCancelOfARunThatJustCameToRestIsNotLost(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"sign"}}})
	o.submit("r")
	w, stop := o.work(func(w *run.WorkerOptions) { w.Queue = late{o.q} })
	o.status("r", harness.RunCancelled)
	stop()
	if s := w.Status(); s.Done != 1 || o.count("effects", "sign") != 0 {
		t.Errorf("the worker tells %+v", s)
	}
}

func TestRunThatIsToBeCancelledIsNotBegun(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}}})
	for ask, id := range map[run.Ask]harness.RunID{run.AskCancel: "c", run.AskPause: "p"} {
		o.submit(id)
		if err := o.q.Ask(t.Context(), id, ask); err != nil {
			t.Fatal(err)
		}
	}
	o.work()
	o.status("c", harness.RunCancelled)
	o.status("p", harness.RunPaused)
	if len(o.lines("effects")) != 0 || o.kinds("c") != "started rested" || o.kinds("p") != "started rested" {
		t.Errorf("%s; %s", o.kinds("c"), o.kinds("p"))
	}
}

package run_test

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/storage/postgres/pgtest"
)

// leased is a yard whose claims last a second unless they are renewed.
func leased(t *testing.T, y yard) *owner {
	t.Helper()
	y.URL, y.LeaseMS = pgtest.Start(t).Database(t), 1_000
	return newOwner(t, y)
}

func TestToolMayTakeLongerThanTheLease(t *testing.T) {
	t.Parallel()
	o := leased(t, yard{Turns: [][]string{{"pay"}, {"send"}}, Slow: []string{"pay"}})
	o.submit("r")
	first, _ := o.work()
	second, _ := o.work()
	o.begun("pay", 1)
	time.Sleep(3 * o.lease())
	if a, b := first.Status(), second.Status(); len(a.Driving)+len(b.Driving) != 1 || a.Lost+b.Lost != 0 {
		t.Errorf("they tell %+v and %+v", a, b)
	}
	o.letGo()
	o.status("r", harness.RunCompleted)
	if got := o.lines("begun"); len(got) != 1 || len(o.lines("effects")) != 2 || strings.Contains(o.kinds("r"), "resumed") {
		t.Errorf("the tools began %q and left %q: %s", got, o.lines("effects"), o.kinds("r"))
	}
}

// Getting ready, such as to connect to servers of tools, may take longer than the
// lease, too, and nobody takes the run meanwhile.
func TestGettingReadyMayTakeLongerThanTheLease(t *testing.T) {
	t.Parallel()
	o := leased(t, yard{Turns: [][]string{{"pay"}}})
	o.submit("r")
	var ready atomic.Int32
	slow := func(w *run.WorkerOptions) {
		steps := w.Steps
		w.Steps = func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error) {
			ready.Add(1)
			time.Sleep(3 * o.lease())
			return steps(ctx, j, c)
		}
	}
	first, _ := o.work(slow)
	second, _ := o.work(slow)
	o.status("r", harness.RunCompleted)
	if a, b := first.Status(), second.Status(); a.Lost+b.Lost != 0 || ready.Load() != 1 || strings.Contains(o.kinds("r"), "resumed") {
		t.Errorf("%d got ready; they tell %+v and %+v, the run %s", ready.Load(), a, b, o.kinds("r"))
	}
}

// A worker that stood still past its lease finds its run taken over: what its tool
// did meanwhile is refused, and it starts no further one.
func TestWokenWorkerWritesNothingMore(t *testing.T) {
	t.Parallel()
	o := leased(t, yard{Turns: [][]string{{"pay", "send"}}, Slow: []string{"pay"}})
	o.submit("r")
	stopped := o.process(func(*yard) {})
	o.begun("pay", 1)
	if err := stopped.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	o.until("r", func(j run.Job) bool { return j.Run.Interrupted })
	o.work()
	o.status("r", harness.RunAwaiting)
	if ps := o.pending("r"); len(ps) != 1 || !ps[0].Uncertain || ps[0].Call.Name != "pay" {
		t.Fatalf("it waits for %+v", ps)
	}
	at := o.kinds("r")
	o.letGo()
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := stopped.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := stopped.Wait(); err != nil {
		t.Errorf("the woken worker ends with %v", err)
	}
	if got := o.kinds("r"); got != at || o.count("effects", "send") != 0 {
		t.Errorf("it wrote %s after %s, and left %q", got, at, o.lines("effects"))
	}
	o.decide(o.backend(), "r", harness.DecideResult, false)
	o.status("r", harness.RunCompleted)
	if o.answer("r") != "all: seen|done send" || o.count("effects", "send") != 1 {
		t.Errorf("it answers %q, and the tools left %q", o.answer("r"), o.lines("effects"))
	}
}

func TestWorkerThatCannotRenewStopsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	o := leased(t, yard{Turns: [][]string{{"pay", "send"}}, Slow: []string{"pay"}})
	o.submit("r")
	f := &flaky{Queue: o.q}
	w, stop := o.work(func(w *run.WorkerOptions) { w.Queue = f })
	o.begun("pay", 1)
	f.down.Store(true)
	if !o.soon(func() bool { return w.Status().Lost == 1 }) {
		t.Fatalf("it tells %+v", w.Status())
	}
	o.letGo()
	stop()
	if f.missed.Load() < 2 {
		t.Errorf("it gave up after %d renewals", f.missed.Load())
	}
	o.work()
	o.status("r", harness.RunAwaiting)
	if ps := o.pending("r"); len(ps) != 1 || !ps[0].Uncertain || o.count("effects", "send") != 0 {
		t.Errorf("it waits for %+v; the tools left %q", ps, o.lines("effects"))
	}
}

// A machine that slept, or a server that was away, for longer than a lease: the run
// is driven on where a person watches it, if nobody else has taken it.
func TestRunDrivenHereIsClaimedAgainAfterItsLease(t *testing.T) {
	t.Parallel()
	o := leased(t, yard{Turns: [][]string{{"look"}}, Words: []string{"half "}})
	f := &flaky{Queue: o.q}
	b := o.here(func(d *run.DriverOptions) { d.Queue = kept{f} })
	if err := b.Submit(t.Context(), submission(t, "r", here)); err != nil {
		t.Fatal(err)
	}
	o.begun("words", 1)
	f.down.Store(true)
	if !o.soon(func() bool {
		j, err := o.q.Get(t.Context(), "r")
		return err == nil && j.Run.Interrupted
	}) {
		t.Fatal("the lease does not end")
	}
	f.down.Store(false)
	o.begun("words", 2)
	o.letGo()
	o.status("r", harness.RunCompleted)
	if got := o.kinds("r"); strings.Count(got, "resumed") != 1 || o.count("effects", "look") != 1 {
		t.Errorf("it went %s; the tools left %q", got, o.lines("effects"))
	}
}

func TestManyWorkersDriveEachRunOnce(t *testing.T) {
	t.Parallel()
	o := leased(t, yard{Turns: [][]string{{"look"}, {"pay"}}})
	const runs = 24
	ids := make([]harness.RunID, runs)
	for n := range ids {
		ids[n] = harness.RunID(harness.NewID())
		o.submit(ids[n])
	}
	o.work()
	o.process(func(y *yard) { y.Point = "after 9" })
	o.process(func(*yard) {})
	for _, id := range ids {
		j := o.until(id, func(j run.Job) bool {
			return j.Run.Worker == nil && (j.Run.Status.Closed() || j.Run.Status == harness.RunAwaiting)
		})
		if j.Run.Status == harness.RunAwaiting {
			o.decide(o.backend(), id, harness.DecideResult, false)
			o.status(id, harness.RunCompleted)
		}
		if n := o.count("effects", string(id)+"_2_1 pay"); n > 1 {
			t.Errorf("pay ran %d times in %s", n, id)
		}
	}
}

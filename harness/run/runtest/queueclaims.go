package runtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

func testSubmit(t *testing.T, f *queueFixture) {
	c, err := f.Queue.Submit(f.ctx(), submission("r"), worker(1))
	f.must(err)
	if c.Generation != 0 {
		t.Fatalf("a run for workers was claimed: %+v", c)
	}
	again := submission("r")
	again.Here, again.First = true, begun("something else")
	c, err = f.Queue.Submit(f.ctx(), again, worker(2))
	f.want(err, harness.ErrExists)
	if c.Generation != 0 {
		t.Fatalf("the second submit claimed: %+v", c)
	}
	_, err = f.Queue.Submit(f.ctx(), run.Submission{First: begun("x")}, worker(1))
	if err == nil {
		t.Fatal("a run without an id was taken")
	}
	f.Queue = f.Reopen()
	entries := f.read(0)
	if len(entries) != 1 || entries[0].Seq != 1 || entries[0].Record != 7 || entries[0].At.IsZero() || entries[0].Message.Text() != "hello" {
		t.Fatalf("entries %+v", entries)
	}
	j := f.get("r")
	r := j.Run
	if r.ID != "r" || r.Session != "s" || r.Status != harness.RunRunning || r.Cursor != 1 || r.First != 7 || r.Dir != "/home/ada" ||
		r.Engine != "test:place" || r.Config.Model != "p/m" || r.Started.IsZero() || r.Worker != nil || r.Interrupted || r.Unfetched != 0 {
		t.Fatalf("run %+v", r)
	}
	if j.Store != "store" || j.Needs.Agent != "a@1" || j.Acknowledged != 1 || j.Asked != run.AskNothing {
		t.Fatalf("job %+v", j)
	}
}

func testExclusive(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	if c.Run != "r" || c.Generation != 1 || c.Broken || c.Holder.PID != 1 {
		t.Fatalf("claim %+v", c)
	}
	second := f.Second()
	for name, q := range map[string]run.Queue{"the same": f.Queue, "another": second} {
		_, err := q.Claim(f.ctx(), "r", worker(2))
		if h, ok := harness.AsHeld(err); !ok || h.PID != 1 || h.Host != "ada-laptop" || !strings.Contains(err.Error(), "run r is driven by pid 1") {
			t.Fatalf("a claim by %s process: %v", name, err)
		}
		if _, err := q.Next(f.ctx(), worker(2), "", nil); !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("the run that is driven is next for %s process: %v", name, err)
		}
		j, err := q.Get(f.ctx(), "r")
		f.must(err)
		if j.Run.Worker == nil || j.Run.Worker.PID != 1 || j.Run.Waits != "" || j.Run.Interrupted {
			t.Fatalf("%s process sees %+v", name, j.Run)
		}
	}
	f.release(c)
	c, err := second.Claim(f.ctx(), "r", worker(2))
	f.must(err)
	if c.Generation != 2 || c.Broken {
		t.Fatalf("claim %+v", c)
	}
	if j := f.get("r"); j.Run.Worker == nil || j.Run.Worker.PID != 2 {
		t.Fatalf("the first process sees %+v", j.Run)
	}
}

// writes are what a driver writes with a claim.
func (f *queueFixture) writes(c run.Claim, after int) map[string]error {
	_, appended := f.Queue.Append(f.ctx(), c, after, nil, answer("late"))
	_, renewed := f.Queue.Renew(f.ctx(), c)
	return map[string]error{
		"append":  appended,
		"renew":   renewed,
		"partial": f.Queue.SavePartial(f.ctx(), c, harness.Partial{Attempt: 1, Text: "late"}),
	}
}

func testFenced(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	f.append(c, 1, answer("one"))
	second := f.Second()
	taken, err := f.Take(second, "r", worker(2))
	f.must(err)
	if taken.Generation != c.Generation+1 || !taken.Broken || taken.Holder.PID != 2 {
		t.Fatalf("claim %+v", taken)
	}
	for what, err := range f.writes(c, 2) {
		if !errors.Is(err, harness.ErrLost) {
			t.Errorf("%s with a lost claim: %v", what, err)
		}
	}
	f.must(f.Queue.Release(f.ctx(), c, "it must not be heard"))
	if j := f.get("r"); j.Run.Cursor != 2 || j.Run.Partial != nil || j.Run.Worker == nil || j.Run.Worker.PID != 2 {
		t.Fatalf("the lost claim changed the run: %+v", j.Run)
	}
	_, err = second.Append(f.ctx(), taken, 2, nil, answer("two"))
	f.must(err)
	f.must(second.Release(f.ctx(), taken, ""))
	if j := f.get("r"); j.Run.Cursor != 3 || strings.Contains(j.Run.Waits, "heard") {
		t.Fatalf("run %+v", j.Run)
	}
}

func testReleased(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	f.release(c)
	for what, err := range f.writes(c, 1) {
		if !errors.Is(err, harness.ErrLost) {
			t.Errorf("%s after giving back: %v", what, err)
		}
	}
	f.must(f.Queue.Release(f.ctx(), c, "again"))
	if j := f.get("r"); j.Run.Cursor != 1 || j.Run.Partial != nil || strings.Contains(j.Run.Waits, "again") {
		t.Fatalf("run %+v", j.Run)
	}
}

func testBroken(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	f.append(c, 1, answer("one"))
	f.must(f.Queue.SavePartial(f.ctx(), c, harness.Partial{Attempt: 2, Text: "half"}))
	f.Queue = f.Reopen()
	j := f.get("r")
	if !j.Run.Interrupted || j.Run.Worker != nil || j.Run.Waits == "" || j.Run.Partial == nil || j.Run.Partial.Text != "half" || j.Run.Cursor != 2 {
		t.Fatalf("run %+v", j.Run)
	}
	next, err := f.Queue.Next(f.ctx(), worker(2), "", nil)
	f.must(err)
	if next.Run != "r" || !next.Broken || next.Generation != 2 {
		t.Fatalf("claim %+v", next)
	}
	for what, err := range f.writes(c, 2) {
		if !errors.Is(err, harness.ErrLost) {
			t.Errorf("%s of a driver that died: %v", what, err)
		}
	}
	f.append(next, 2, answer("two"))
	f.release(next)
	if j := f.get("r"); j.Run.Interrupted {
		t.Fatalf("run %+v", j.Run)
	}
	if c := f.claim("r"); c.Broken {
		t.Fatalf("claim %+v", c)
	}
}

func testBrokenRefused(t *testing.T, f *queueFixture) {
	f.drive("r")
	f.Queue = f.Reopen()
	for range 2 {
		c := f.claim("r")
		if !c.Broken {
			t.Fatalf("claim %+v", c)
		}
		f.must(f.Queue.Release(f.ctx(), c, "it lacks the tools"))
		if j := f.get("r"); !j.Run.Interrupted || !strings.Contains(j.Run.Waits, "lacks the tools") {
			t.Fatalf("run %+v", j.Run)
		}
	}
}

func testNext(t *testing.T, f *queueFixture) {
	f.submit("c", "a")
	here := submission("b")
	here.Carried.Needs.Host = "ada-laptop"
	_, err := f.Queue.Submit(f.ctx(), here, worker(1))
	f.must(err)
	f.Advance(-time.Hour) // order is not that of the clock
	f.submit("d")
	for _, c := range []struct {
		host, want string
		skip       []harness.RunID
	}{
		{"", "c a d", nil},
		{"other", "c a d", nil},
		{"ada-laptop", "c a b d", nil},
		{"ada-laptop", "b d", []harness.RunID{"a", "c"}},
		{"", "", []harness.RunID{"a", "c", "d", "none"}},
	} {
		if got := f.next(c.host, c.skip...); got != c.want {
			t.Errorf("next on %q without %v: %q, want %q", c.host, c.skip, got, c.want)
		}
	}
}

func testResting(t *testing.T, f *queueFixture) {
	for _, s := range []harness.RunStatus{harness.RunAwaiting, harness.RunPaused, harness.RunFailed, harness.RunCompleted, harness.RunCancelled} {
		c := f.drive(harness.RunID(s))
		f.append(c, 1, status(s))
		f.release(c)
		if j := f.get(harness.RunID(s)); j.Run.Waits != "" || j.Run.Interrupted {
			t.Errorf("a run at rest waits for a driver: %+v", j.Run)
		}
	}
	// One that died after its run came to rest left nothing to do either.
	f.append(f.drive("died"), 1, status(harness.RunPaused))
	f.Queue = f.Reopen()
	if got := f.next(""); got != "" {
		t.Fatalf("next are %q, and all rest", got)
	}
	second := f.Second()
	c, err := second.Claim(f.ctx(), harness.RunID(harness.RunAwaiting), worker(4))
	f.must(err)
	_, err = second.Append(f.ctx(), c, 2, nil, status(harness.RunRunning))
	f.must(err)
	f.must(second.Release(f.ctx(), c, ""))
	if got := f.next(""); got != string(harness.RunAwaiting) {
		t.Fatalf("next are %q, want the one that was decided", got)
	}
}

func testClaimers(t *testing.T, f *queueFixture) {
	const runs = 24
	for i := range runs {
		f.submit(harness.RunID(fmt.Sprint("r", i)))
	}
	queues := []run.Queue{f.Queue, f.Second(), f.Second()}
	var mu sync.Mutex
	got := map[harness.RunID]int{}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			q := queues[i%len(queues)]
			for {
				c, err := q.Next(f.ctx(), worker(10+i), "", nil)
				if errors.Is(err, harness.ErrNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				got[c.Run]++
				mu.Unlock()
				_, err = q.Append(f.ctx(), c, 1, nil, status(harness.RunCompleted))
				if err = errors.Join(err, q.Release(f.ctx(), c, "")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if len(got) != runs {
		t.Errorf("%d runs were driven, want %d", len(got), runs)
	}
	for id, n := range got {
		if n != 1 {
			t.Errorf("run %s was driven %d times", id, n)
		}
	}
}

func testWaits(t *testing.T, f *queueFixture) {
	f.submit("r")
	if j := f.get("r"); !strings.Contains(j.Run.Waits, "no worker has taken it") {
		t.Fatalf("run %+v", j.Run)
	}
	for _, reason := range []string{"this worker has no agent a@1", "the tool shell differs", "the tool shell differs"} {
		f.must(f.Queue.Release(f.ctx(), f.claim("r"), reason))
	}
	f.Queue = f.Reopen()
	jobs, err := f.Queue.List(f.ctx(), run.JobFilter{})
	f.must(err)
	for _, j := range append(jobs, f.get("r")) {
		if !strings.Contains(j.Run.Waits, "no agent a@1") || strings.Count(j.Run.Waits, "shell differs") != 1 {
			t.Fatalf("it waits because %q", j.Run.Waits)
		}
	}
	c := f.claim("r")
	if j := f.get("r"); j.Run.Waits != "" {
		t.Fatalf("a run that is driven waits: %q", j.Run.Waits)
	}
	f.release(c)
	if j := f.get("r"); strings.Contains(j.Run.Waits, "differs") {
		t.Fatalf("a worker could drive it, and it waits because %q", j.Run.Waits)
	}
}

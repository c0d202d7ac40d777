package runtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

func testAsk(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	asked := func(want run.Ask) {
		t.Helper()
		got, err := f.Queue.Renew(f.ctx(), c)
		f.must(err)
		if j := f.get("r"); got != want || j.Asked != want {
			t.Fatalf("asked is %q and shown %q, want %q", got, j.Asked, want)
		}
	}
	second := f.Second()
	asked(run.AskNothing)
	f.must(second.Ask(f.ctx(), "r", run.AskPause))
	asked(run.AskPause)
	f.must(second.Ask(f.ctx(), "r", run.AskCancel))
	asked(run.AskCancel)
	f.must(second.Ask(f.ctx(), "r", run.AskPause))
	asked(run.AskCancel)
	// A driver that gives the run back without having done it leaves that to the next.
	f.release(c)
	c = f.claim("r")
	asked(run.AskCancel)
	f.append(c, 1, status(harness.RunPaused))
	f.release(c)
	if j := f.get("r"); j.Asked != run.AskNothing {
		t.Fatalf("of a run that rests %q is asked", j.Asked)
	}
	c = f.claim("r")
	asked(run.AskNothing)
	// Of the claim of a run that rests something can be asked: it is about to go on.
	f.must(f.Queue.Ask(f.ctx(), "r", run.AskPause))
	asked(run.AskPause)
	f.release(c)
	// Nobody drives it, so there is nobody to ask.
	f.must(f.Queue.Ask(f.ctx(), "r", run.AskCancel))
	c = f.claim("r")
	asked(run.AskNothing)
	f.append(c, 2, status(harness.RunCompleted))
	f.must(f.Queue.Ask(f.ctx(), "r", run.AskCancel))
	asked(run.AskNothing)
	// A run that waits for a worker can be asked before one has it.
	f.submit("waits")
	f.must(f.Queue.Ask(f.ctx(), "waits", run.AskCancel))
	c, err := f.Queue.Next(f.ctx(), worker(2), "", nil)
	f.must(err)
	if got, err := f.Queue.Renew(f.ctx(), c); err != nil || got != run.AskCancel {
		t.Fatalf("asked is %q (%v)", got, err)
	}
	// What was asked of a driver that died when its run rested is over too.
	f.append(c, 1, status(harness.RunPaused))
	f.Queue = f.Reopen()
	if c = f.claim("waits"); !c.Broken {
		t.Fatalf("claim %+v", c)
	}
	asks, err := f.Queue.Renew(f.ctx(), c)
	f.must(err)
	if asks != run.AskNothing {
		t.Fatalf("%q is asked of who takes up a run that rests", asks)
	}
	for _, wrong := range []run.Ask{run.AskNothing, "stop"} {
		if err := f.Queue.Ask(f.ctx(), "r", wrong); err == nil {
			t.Errorf("%q was asked", wrong)
		}
	}
}

func testPruneFetched(t *testing.T, f *queueFixture) {
	f.submit("r", "open")
	f.end("r")
	if j := f.get("r"); j.Acknowledged != 1 || j.Run.Unfetched != 1 {
		t.Fatalf("job %+v", j)
	}
	updated := f.get("r").Run.Updated
	f.Advance(time.Hour)
	old := run.Prune{Before: updated.Add(time.Minute), Keep: 1}
	prune := func(p run.Prune, want int) {
		t.Helper()
		n, err := f.Queue.Prune(f.ctx(), p)
		f.must(err)
		if n != want {
			t.Fatalf("pruned %d, want %d", n, want)
		}
	}
	prune(old, 0)
	f.must(f.Queue.Acknowledge(f.ctx(), "r", 1))
	prune(old, 0)
	f.want(f.Queue.Acknowledge(f.ctx(), "r", 3), harness.ErrStale)
	f.must(f.Queue.Acknowledge(f.ctx(), "r", 2))
	f.must(f.Queue.Acknowledge(f.ctx(), "r", 1)) // what was acknowledged stays so
	f.Queue = f.Reopen()
	if j := f.get("r"); j.Acknowledged != 2 || j.Run.Unfetched != 0 || !j.Run.Updated.Equal(updated) {
		t.Fatalf("job %+v", j)
	}
	prune(run.Prune{}, 0)
	prune(old, 1)
	_, err := f.Queue.Get(f.ctx(), "r")
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Read(f.ctx(), "r", 0)
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Carried(f.ctx(), "r")
	f.want(err, harness.ErrNotFound)
	prune(run.Prune{Before: updated.Add(24 * time.Hour), Force: true}, 0)
	f.end("open")
	prune(run.Prune{Before: updated.Add(24 * time.Hour)}, 0)
	prune(run.Prune{Before: updated.Add(24 * time.Hour), Force: true}, 1)
	if got := f.list(run.JobFilter{}); got != "" {
		t.Fatalf("left are %q", got)
	}
	f.submit("r") // its id is free again
}

func testPruneAge(t *testing.T, f *queueFixture) {
	f.submit("old", "new")
	f.end("old")
	ended := f.get("old").Run.Updated
	f.Advance(time.Hour)
	f.end("new")
	f.Advance(time.Hour)
	f.must(f.Queue.Acknowledge(f.ctx(), "old", 2))
	f.must(f.Queue.Acknowledge(f.ctx(), "new", 2))
	n, err := f.Queue.Prune(f.ctx(), run.Prune{Before: ended.Add(time.Minute)})
	f.must(err)
	if got := f.list(run.JobFilter{}); n != 1 || got != "new" {
		t.Fatalf("pruned %d, left are %q", n, got)
	}
}

func testPruneCount(t *testing.T, f *queueFixture) {
	for i := range 6 {
		id := harness.RunID(fmt.Sprint("r", i))
		f.submit(id)
		if i != 3 {
			f.end(id)
		}
		if i > 0 && i != 3 {
			f.must(f.Queue.Acknowledge(f.ctx(), id, 2))
		}
	}
	n, err := f.Queue.Prune(f.ctx(), run.Prune{Keep: 2})
	f.must(err)
	if got := f.list(run.JobFilter{}); n != 2 || got != "r5 r4 r3 r0" {
		t.Fatalf("pruned %d, left are %q", n, got)
	}
}

func testPruneStore(t *testing.T, f *queueFixture) {
	for i, store := range []string{"one", "two", "one", "two", "one"} {
		s := submission(harness.RunID(fmt.Sprint("r", i)))
		s.Carried.Store = store
		_, err := f.Queue.Submit(f.ctx(), s, worker(1))
		f.must(err)
		f.end(s.Run.ID)
		if i != 4 {
			f.must(f.Queue.Acknowledge(f.ctx(), s.Run.ID, 2))
		}
	}
	f.Advance(time.Hour)
	later := f.get("r4").Run.Updated.Add(time.Minute)
	for _, c := range []struct {
		p    run.Prune
		left string
	}{
		{run.Prune{Store: "one", Keep: 2}, "r4 r3 r2 r1"},
		{run.Prune{Store: "none", Before: later, Force: true}, "r4 r3 r2 r1"},
		{run.Prune{Store: "one", Before: later}, "r4 r3 r1"},
		{run.Prune{Store: "one", Before: later, Force: true}, "r3 r1"},
		{run.Prune{Store: "two", Before: later, Keep: 1}, ""},
	} {
		_, err := f.Queue.Prune(f.ctx(), c.p)
		f.must(err)
		if got := f.list(run.JobFilter{}); got != c.left {
			t.Errorf("%+v leaves %q, want %q", c.p, got, c.left)
		}
	}
}

func testJobs(t *testing.T, f *queueFixture) {
	for i, at := range []struct {
		store   string
		session harness.SessionID
	}{{"one", "a"}, {"one", "b"}, {"two", "a"}, {"one", "a"}, {"one", "c"}} {
		s := submission(harness.RunID(fmt.Sprint("r", i)))
		s.Carried.Store, s.Run.Session = at.store, at.session
		_, err := f.Queue.Submit(f.ctx(), s, worker(1))
		f.must(err)
		f.Advance(-time.Hour)
	}
	f.end("r0")
	f.end("r1")
	f.must(f.Queue.Acknowledge(f.ctx(), "r1", 2))
	f.append(f.claim("r3"), 1, run.Entry{Kind: "intent"})
	f.Queue = f.Reopen()
	for _, c := range []struct {
		filter run.JobFilter
		want   string
	}{
		{run.JobFilter{}, "r4 r3 r2 r1 r0"},
		{run.JobFilter{Limit: 2}, "r4 r3"},
		{run.JobFilter{Store: "one"}, "r4 r3 r1 r0"},
		{run.JobFilter{Session: "a"}, "r3 r2 r0"},
		{run.JobFilter{Store: "one", Session: "a"}, "r3 r0"},
		{run.JobFilter{Unfinished: true}, "r4 r3 r2"},
		{run.JobFilter{Unacknowledged: true}, "r3 r0"},
		{run.JobFilter{Unacknowledged: true, Unfinished: true, Store: "one", Session: "a", Limit: 1}, "r3"},
		{run.JobFilter{Session: "none"}, ""},
	} {
		if got := f.list(c.filter); got != c.want {
			t.Errorf("%+v lists %q, want %q", c.filter, got, c.want)
		}
	}
	jobs, err := f.Queue.List(f.ctx(), run.JobFilter{})
	f.must(err)
	for _, j := range jobs {
		f.equal("a listed job", j, f.get(j.Run.ID))
	}
}

// patience bounds how long a case waits for what comes by itself.
const patience = 30 * time.Second

func testWatch(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	second := f.Second()
	ctx, cancel := context.WithCancel(f.ctx())
	defer cancel()
	own, err := f.Queue.Watch(ctx, "r")
	f.must(err)
	others, err := second.Watch(ctx, "r")
	f.must(err)
	// What is not told is not looked at.
	seen := func(ch <-chan struct{}, q run.Queue, what string, is func(run.Job) bool) {
		t.Helper()
		late := time.After(patience)
		for {
			select {
			case _, ok := <-ch:
				if !ok {
					t.Fatalf("%s: the channel was closed", what)
				}
			case <-late:
				t.Fatalf("%s was not told", what)
			}
			j, err := q.Get(f.ctx(), "r")
			f.must(err)
			if is(j) {
				return
			}
		}
	}
	both := func(what string, is func(run.Job) bool) {
		t.Helper()
		seen(own, f.Queue, what+" in the process of the change", is)
		seen(others, second, what+" in another process", is)
	}
	f.append(c, 1, answer("one"))
	both("an entry", func(j run.Job) bool { return j.Run.Cursor == 2 })
	f.must(f.Queue.SavePartial(f.ctx(), c, harness.Partial{Attempt: 2, Text: "half"}))
	both("text", func(j run.Job) bool { return j.Run.Partial != nil })
	f.must(second.Ask(f.ctx(), "r", run.AskPause))
	both("a wish", func(j run.Job) bool { return j.Asked == run.AskPause })
	f.must(second.Acknowledge(f.ctx(), "r", 2))
	both("a hand-over", func(j run.Job) bool { return j.Acknowledged == 2 })
	f.release(c)
	both("giving back", func(j run.Job) bool { return j.Run.Worker == nil })
	cancel()
	late := time.After(patience)
	for _, ch := range []<-chan struct{}{own, others} {
		for open := true; open; {
			select {
			case _, open = <-ch:
			case <-late:
				t.Fatal("the channel stays open")
			}
		}
	}
}

func testQueueMissing(_ *testing.T, f *queueFixture) {
	none := run.Claim{Run: "none", Generation: 1}
	_, err := f.Queue.Get(f.ctx(), "none")
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Read(f.ctx(), "none", 0)
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Carried(f.ctx(), "none")
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Claim(f.ctx(), "none", worker(1))
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Renew(f.ctx(), none)
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Append(f.ctx(), none, 0, nil, answer("x"))
	f.want(err, harness.ErrNotFound)
	_, err = f.Queue.Next(f.ctx(), worker(1), "", nil)
	f.want(err, harness.ErrNotFound)
	f.want(f.Queue.SavePartial(f.ctx(), none, harness.Partial{}), harness.ErrNotFound)
	f.want(f.Queue.Ask(f.ctx(), "none", run.AskPause), harness.ErrNotFound)
	f.want(f.Queue.Acknowledge(f.ctx(), "none", 1), harness.ErrNotFound)
	f.must(f.Queue.Release(f.ctx(), none, ""))
}

func testQueueClosed(_ *testing.T, f *queueFixture) {
	f.submit("r")
	f.must(f.Queue.Close())
	_, err := f.Queue.Get(f.ctx(), "r")
	f.want(err, harness.ErrClosed)
	_, err = f.Queue.Next(f.ctx(), worker(1), "", nil)
	f.want(err, harness.ErrClosed)
	_, err = f.Queue.Watch(f.ctx(), "r")
	f.want(err, harness.ErrClosed)
	f.must(f.Queue.Close())
}

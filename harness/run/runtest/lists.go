package runtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

func testUsage(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	u := harness.Usage{Input: 100, Output: 10, Cost: 0.5, CostKnown: true}
	one := answer("one")
	one.Usage = u
	f.append(l, "r", 1, one)
	f.append(l, "r", 2, run.Entry{Kind: "summary", Usage: u}, status(harness.RunCompleted))
	f.equal("usage of the run", f.get("r").Usage, u.Add(u))
	f.start(l, "r2", "more")
	f.append(l, "r2", 1, one)
	f.reopen()
	f.equal("usage of the session", f.session().Usage, u.Add(u).Add(u))
}

func testList(t *testing.T, f *fixture) {
	done := status(harness.RunCompleted)
	for i, id := range []harness.SessionID{"a", "b", "a", "c"} {
		l := f.acquire(id)
		r := harness.RunID(fmt.Sprint("r", i))
		f.start(l, r, "hello")
		if i%2 == 0 {
			f.append(l, r, 1, done)
		}
		f.must(f.Owners.Release(f.ctx(), l))
		f.Advance(-time.Hour)
	}
	f.reopen()
	for _, c := range []struct {
		filter harness.RunFilter
		want   string
	}{
		{harness.RunFilter{}, "r3 r2 r1 r0"},
		{harness.RunFilter{Limit: 2}, "r3 r2"},
		{harness.RunFilter{Session: "a"}, "r2 r0"},
		{harness.RunFilter{Unfinished: true}, "r3 r1"},
		{harness.RunFilter{Unfinished: true, Session: "b"}, "r1"},
		{harness.RunFilter{Session: "none"}, ""},
	} {
		runs, err := f.Journal.List(f.ctx(), c.filter)
		f.must(err)
		var ids []string
		for _, r := range runs {
			ids = append(ids, string(r.ID))
			if r.Interrupted != (r.Status == harness.RunRunning) {
				t.Errorf("run %+v", r)
			}
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v lists %q, want %q", c.filter, got, c.want)
		}
	}
}

func testPrune(t *testing.T, f *fixture) {
	l := f.acquire("s")
	r := f.run("old")
	r.Request = "req"
	first, _, err := f.Journal.Create(f.ctx(), l, r, begun("one"))
	f.must(err)
	f.append(l, "old", 1, answer("two"), status(harness.RunCompleted))
	f.Advance(time.Hour)
	f.start(l, "new", "three")
	f.append(l, "new", 1, status(harness.RunCompleted))
	f.start(l, "open", "four")
	f.Advance(time.Hour)
	n, err := f.Journal.Prune(f.ctx(), first.Started.Add(time.Minute))
	f.must(err)
	if n != 1 {
		t.Fatalf("pruned %d", n)
	}
	_, err = f.Journal.Get(f.ctx(), "old")
	f.want(err, harness.ErrNotFound)
	f.get("new")
	n, err = f.Journal.Prune(f.ctx(), first.Started.Add(24*time.Hour))
	f.must(err)
	if n != 1 {
		t.Fatalf("pruned %d", n)
	}
	f.get("open")
	if got := f.tail(); got != "one | two | three | four" {
		t.Fatalf("conversation %q", got)
	}
	runs, err := f.Journal.List(f.ctx(), harness.RunFilter{Session: "s"})
	f.must(err)
	if len(runs) != 1 {
		t.Fatalf("runs %+v", runs)
	}
	f.append(l, "open", 1, status(harness.RunCompleted))
	r.ID = "again"
	_, _, err = f.Journal.Create(f.ctx(), l, r, begun("five"))
	f.must(err)
}

func testKeep(t *testing.T, f *fixture) {
	l := f.acquire("s")
	for _, id := range []harness.RunID{"r0", "r1", "r2", "r3"} {
		f.start(l, id, "hello")
		f.append(l, id, 1, status(harness.RunCompleted))
		f.Advance(time.Hour)
	}
	f.start(f.acquire("other"), "open", "hello")
	prune := func(p run.Prune, want int) {
		t.Helper()
		n, err := f.Journal.(run.Pruner).PruneRuns(f.ctx(), p)
		f.must(err)
		if n != want {
			t.Errorf("%+v removes %d runs, want %d", p, n, want)
		}
	}
	prune(run.Prune{}, 0)
	prune(run.Prune{Keep: 4}, 0)
	prune(run.Prune{Keep: 3}, 1)
	_, err := f.Journal.Get(f.ctx(), "r0")
	f.want(err, harness.ErrNotFound)
	prune(run.Prune{Keep: 2, Before: f.get("r2").Updated.Add(time.Minute)}, 2)
	f.get("r3")
	f.get("open")
}

func testSystem(t *testing.T, f *fixture) {
	l := f.acquire("s")
	system := strings.Repeat("Be brief. ", 1000)
	for _, id := range []harness.RunID{"r1", "r2"} {
		r := f.run(id)
		r.Config.System = system
		_, _, err := f.Journal.Create(f.ctx(), l, r, begun("hello"))
		f.must(err)
		f.append(l, id, 1, status(harness.RunCompleted))
	}
	f.reopen()
	for _, id := range []harness.RunID{"r1", "r2"} {
		if got := f.get(id).Config.System; got != system {
			t.Fatalf("system prompt of %d characters", len(got))
		}
	}
}

func testMissing(t *testing.T, f *fixture) {
	_, err := f.Journal.Get(f.ctx(), "none")
	f.want(err, harness.ErrNotFound)
	_, err = f.Journal.Read(f.ctx(), "none", 0)
	f.want(err, harness.ErrNotFound)
	l := f.acquire("s")
	_, err = f.Journal.Append(f.ctx(), l, "none", 0, answer("x"))
	f.want(err, harness.ErrNotFound)
	f.start(l, "r", "hello")
	other := f.acquire("other")
	f.start(other, "r2", "hello")
	_, err = f.Journal.Append(f.ctx(), other, "r", 1, answer("x"))
	f.want(err, harness.ErrNotFound)
	f.want(f.Journal.SavePartial(f.ctx(), other, "r", harness.Partial{Text: "x"}), harness.ErrNotFound)
}

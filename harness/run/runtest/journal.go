// Package runtest holds the suite of the run journal. The one thing to know: a
// journal is judged by what is there after its process died, so the cases open
// the store again where it matters.
package runtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// Stores are a journal with what its runs need, and how they come back.
type Stores struct {
	Journal    run.Journal
	Owners     harness.Owners
	Sessions   harness.Sessions
	Transcript harness.Transcript
	// Reopen opens the same store again as another process would after the
	// first one died.
	Reopen func() Stores
	// Advance moves the clock of the stores.
	Advance func(time.Duration)
}

// TestJournal tests a [run.Journal]. open opens empty stores.
func TestJournal(t *testing.T, open func(t *testing.T) Stores) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"a run begins with its message and its session": testCreate,
		"entries are numbered, kept and joined again":   testAppend,
		"an append past somebody else's is stale":       testStale,
		"a request starts once":                         testRequest,
		"an open run blocks the next":                   testBlocked,
		"a run is closed and the next begun at once":    testCloses,
		"partial text stays until its answer":           testPartial,
		"a rewound message is out of the context":       testRewind,
		"a lost lease writes nothing":                   testLost,
		"a run whose owner died is interrupted":         testInterrupted,
		"usage adds up":                                 testUsage,
		"lists are newest first":                        testList,
		"pruning leaves conversations alone":            testPrune,
		"long system prompts are kept":                  testSystem,
		"what is not there":                             testMissing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &fixture{Stores: open(t), t: t})
		})
	}
}

// fixture is the stores of one case.
type fixture struct {
	Stores
	t *testing.T
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) want(err, target error) {
	f.t.Helper()
	if !errors.Is(err, target) {
		f.t.Fatalf("error %v, want %v", err, target)
	}
}

func (f *fixture) equal(what string, got, want any) {
	f.t.Helper()
	g, err := json.Marshal(got)
	f.must(err)
	w, err := json.Marshal(want)
	f.must(err)
	if string(g) != string(w) {
		f.t.Fatalf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// reopen goes on as another process after the first one died.
func (f *fixture) reopen() { f.Stores = f.Reopen() }

func (f *fixture) acquire(id harness.SessionID) harness.Lease {
	f.t.Helper()
	l, err := f.Owners.Acquire(f.ctx(), harness.Session{ID: id, Dir: "/work"}, harness.Holder{})
	f.must(err)
	return l
}

// start begins a run with a message from the user.
func (f *fixture) start(l harness.Lease, id harness.RunID, text string, closes ...run.Closing) harness.Run {
	f.t.Helper()
	r, _, err := f.Journal.Create(f.ctx(), l, f.run(id), begun(text), closes...)
	f.must(err)
	return r
}

func (f *fixture) run(id harness.RunID) harness.Run {
	return harness.Run{ID: id, Engine: "test", Config: harness.RunConfig{Agent: "a@1", Model: "p/m"}, Host: "h", Dir: "/work"}
}

func begun(text string) run.Entry {
	m := harness.UserText(text)
	return run.Entry{Kind: "begun", Message: &m}
}

func answer(text string) run.Entry {
	m := harness.AssistantText(text)
	return run.Entry{Kind: "answer", Message: &m}
}

func status(s harness.RunStatus) run.Entry { return run.Entry{Kind: "status", Status: s} }

func (f *fixture) append(l harness.Lease, id harness.RunID, after int, entries ...run.Entry) []run.Entry {
	f.t.Helper()
	added, err := f.Journal.Append(f.ctx(), l, id, after, entries...)
	f.must(err)
	return added
}

func (f *fixture) get(id harness.RunID) harness.Run {
	f.t.Helper()
	r, err := f.Journal.Get(f.ctx(), id)
	f.must(err)
	return r
}

func (f *fixture) read(id harness.RunID, after int) []run.Entry {
	f.t.Helper()
	entries, err := f.Journal.Read(f.ctx(), id, after)
	f.must(err)
	return entries
}

func (f *fixture) tail(id harness.SessionID) string {
	f.t.Helper()
	records, err := f.Transcript.Tail(f.ctx(), id, 0, 0)
	f.must(err)
	var all []string
	for _, r := range records {
		all = append(all, r.Message.Text())
	}
	return strings.Join(all, " | ")
}

func (f *fixture) session(id harness.SessionID) harness.Session {
	f.t.Helper()
	s, err := f.Sessions.Get(f.ctx(), id)
	f.must(err)
	return s
}

func testCreate(t *testing.T, f *fixture) {
	l := f.acquire("s")
	r, entries, err := f.Journal.Create(f.ctx(), l, f.run("r"), begun("hello"))
	f.must(err)
	if r.Session != "s" || r.Cursor != 1 || r.First != 1 || r.Status != harness.RunRunning || r.Interrupted || r.Started.IsZero() {
		t.Fatalf("run %+v", r)
	}
	if len(entries) != 1 || entries[0].Seq != 1 || entries[0].Record != 1 || entries[0].Message.Text() != "hello" {
		t.Fatalf("entries %+v", entries)
	}
	if s := f.session("s"); s.OpenRun != "r" || s.Messages != 1 || s.Title != "hello" || s.Dir != "/work" {
		t.Fatalf("session %+v", s)
	}
	record, err := f.Transcript.Record(f.ctx(), "s", 1)
	f.must(err)
	if record.Run != "r" || record.Message.Text() != "hello" {
		t.Fatalf("record %+v", record)
	}
	f.equal("read", f.read("r", 0), entries)
	f.equal("get", f.get("r"), r)
	_, _, err = f.Journal.Create(f.ctx(), f.acquire("other"), f.run("r"), begun("hello"))
	f.want(err, harness.ErrExists)
	if _, err := f.Sessions.Get(f.ctx(), "other"); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("a refused start left a session (%v)", err)
	}
}

func testAppend(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	added := f.append(l, "r", 1,
		run.Entry{Kind: "intent", Data: json.RawMessage(`{"tool":"x","args":"<&>"}`)}, answer("one"))
	added = append(added, f.append(l, "r", 3, run.Entry{
		Kind: "end", Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{Kind: "auth", Text: "no key"},
	})...)
	for i, e := range added {
		if e.Seq != i+2 || e.At.IsZero() {
			t.Fatalf("entry %+v", e)
		}
	}
	if added[1].Record != 2 || added[0].Record != 0 {
		t.Fatalf("records %d and %d", added[0].Record, added[1].Record)
	}
	f.reopen()
	f.equal("entries", f.read("r", 1), added)
	f.equal("entries after 3", f.read("r", 3), added[2:])
	if got := f.read("r", 4); len(got) != 0 {
		t.Fatalf("entries past the end %+v", got)
	}
	r := f.get("r")
	if r.Cursor != 4 || r.Status != harness.RunFailed || r.Stop != harness.StopError || r.Error == nil || r.Error.Kind != "auth" {
		t.Fatalf("run %+v", r)
	}
	if s := f.session("s"); s.OpenRun != "r" {
		t.Fatalf("a failed run can be continued, but the session has %+v", s)
	}
	l = f.acquire("s")
	f.append(l, "r", 4, status(harness.RunRunning), run.Entry{Kind: "end", Status: harness.RunCompleted, Stop: harness.StopEnd})
	if r := f.get("r"); r.Status != harness.RunCompleted || r.Error != nil || r.Stop != harness.StopEnd {
		t.Fatalf("run %+v", r)
	}
	if s := f.session("s"); s.OpenRun != "" {
		t.Fatalf("session %+v", s)
	}
	if got := f.tail("s"); got != "hello | one" {
		t.Fatalf("conversation %q", got)
	}
}

func testStale(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	f.append(l, "r", 1, answer("one"))
	for _, after := range []int{0, 1, 3} {
		_, err := f.Journal.Append(f.ctx(), l, "r", after, answer("late"))
		f.want(err, harness.ErrStale)
	}
	if got := f.tail("s"); got != "hello | one" {
		t.Fatalf("conversation %q", got)
	}
}

func testRequest(t *testing.T, f *fixture) {
	l := f.acquire("s")
	r := f.run("r")
	r.Request = "req"
	_, _, err := f.Journal.Create(f.ctx(), l, r, begun("hello"))
	f.must(err)
	f.append(l, "r", 1, answer("hi"))
	again := f.run("r2")
	again.Request = "req"
	got, _, err := f.Journal.Create(f.ctx(), l, again, begun("hello"))
	f.want(err, harness.ErrExists)
	f.equal("the first one's run", got, f.get("r"))
	if got := f.tail("s"); got != "hello | hi" {
		t.Fatalf("conversation %q", got)
	}
	// Another session may use the same request.
	again.ID = "r3"
	_, _, err = f.Journal.Create(f.ctx(), f.acquire("other"), again, begun("hello"))
	f.must(err)
}

func testBlocked(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	for i, c := range []struct {
		status harness.RunStatus
		want   error
	}{
		{harness.RunRunning, harness.ErrBusy},
		{harness.RunAwaiting, harness.ErrAwaiting},
		{harness.RunPaused, harness.ErrBusy},
		{harness.RunFailed, harness.ErrBusy},
	} {
		f.append(l, "r", i+1, status(c.status))
		_, _, err := f.Journal.Create(f.ctx(), l, f.run("next"), begun("next"))
		f.want(err, c.want)
	}
	f.append(l, "r", 5, status(harness.RunCancelled))
	f.start(l, "next", "next")
	if got := f.tail("s"); got != "hello | next" {
		t.Fatalf("conversation %q", got)
	}
}

func testCloses(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	f.must(f.Journal.SavePartial(f.ctx(), l, "r", harness.Partial{Attempt: 1, Text: "half"}))
	half := answer("half")
	half.Message.Mark = harness.MarkInterrupted
	closing := run.Closing{Run: "r", After: 1, Entries: []run.Entry{half, status(harness.RunCancelled)}}

	stale := closing
	stale.After = 7
	_, _, err := f.Journal.Create(f.ctx(), l, f.run("next"), begun("next"), stale)
	f.want(err, harness.ErrStale)
	unclosed := run.Closing{Run: "r", After: 1, Entries: []run.Entry{half}}
	_, _, err = f.Journal.Create(f.ctx(), l, f.run("next"), begun("next"), unclosed)
	f.want(err, harness.ErrBusy)
	if r := f.get("r"); r.Cursor != 1 || r.Partial == nil {
		t.Fatalf("a refused start changed the old run: %+v", r)
	}
	if got := f.tail("s"); got != "hello" {
		t.Fatalf("conversation %q", got)
	}

	r, entries, err := f.Journal.Create(f.ctx(), l, f.run("next"), begun("next"), closing)
	f.must(err)
	if len(entries) != 1 || entries[0].Record != 3 || r.First != 3 {
		t.Fatalf("run %+v, entries %+v", r, entries)
	}
	f.reopen()
	if r := f.get("r"); r.Status != harness.RunCancelled || r.Cursor != 3 || r.Partial != nil {
		t.Fatalf("closed run %+v", r)
	}
	if got := f.tail("s"); got != "hello | half | next" {
		t.Fatalf("conversation %q", got)
	}
	if s := f.session("s"); s.OpenRun != "next" {
		t.Fatalf("session %+v", s)
	}
}

func testPartial(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	save := func(text string) {
		f.must(f.Journal.SavePartial(f.ctx(), l, "r", harness.Partial{Attempt: 1, Text: text, Thinking: "hm"}))
	}
	partial := func() string {
		if p := f.get("r").Partial; p != nil {
			return fmt.Sprint(p.Attempt, p.Text, p.Thinking)
		}
		return ""
	}
	save("ab")
	save("abc")
	f.reopen()
	if got := partial(); got != "1abchm" {
		t.Fatalf("partial %q", got)
	}
	l = f.acquire("s")
	notice := harness.UserText("go on")
	f.append(l, "r", 1, run.Entry{Kind: "x"}, run.Entry{Kind: "notice", Message: &notice}, status(harness.RunPaused), status(harness.RunFailed))
	if got := partial(); got != "1abchm" {
		t.Fatalf("partial %q after entries that do not answer", got)
	}
	f.append(l, "r", 5, answer("abc"))
	if got := partial(); got != "" {
		t.Fatalf("partial %q after the answer", got)
	}
	save("next")
	f.append(l, "r", 6, status(harness.RunCompleted))
	if got := partial(); got != "" {
		t.Fatalf("partial %q after the end", got)
	}
	f.want(f.Journal.SavePartial(f.ctx(), l, "r", harness.Partial{Text: "late"}), harness.ErrStale)
	if r := f.get("r"); r.Cursor != 7 {
		t.Fatalf("partial text has numbers: %+v", r)
	}
}

func testRewind(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	bad := answer("bad")
	bad.Rewind = true
	added := f.append(l, "r", 1, bad, answer("good"))
	if added[0].Record != 2 || added[1].Record != 3 {
		t.Fatalf("entries %+v", added)
	}
	if got := f.tail("s"); got != "hello | good" {
		t.Fatalf("context %q", got)
	}
	record, err := f.Transcript.Record(f.ctx(), "s", 2)
	f.must(err)
	if record.Message.Text() != "bad" || record.Prev != 1 {
		t.Fatalf("history %+v", record)
	}
	if got := f.read("r", 1); got[0].Message.Text() != "bad" || !got[0].Rewind {
		t.Fatalf("journal %+v", got)
	}
}

func testLost(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	next, err := f.Owners.Force(f.ctx(), harness.Session{ID: "s"}, harness.Holder{})
	f.must(err)
	_, err = f.Journal.Append(f.ctx(), l, "r", 1, answer("late"))
	f.want(err, harness.ErrLost)
	f.want(f.Journal.SavePartial(f.ctx(), l, "r", harness.Partial{Text: "late"}), harness.ErrLost)
	_, _, err = f.Journal.Create(f.ctx(), l, f.run("r2"), begun("late"), run.Closing{Run: "r", After: 1, Entries: []run.Entry{status(harness.RunCancelled)}})
	f.want(err, harness.ErrLost)
	f.append(next, "r", 1, answer("one"))
	if got := f.tail("s"); got != "hello | one" {
		t.Fatalf("conversation %q", got)
	}
}

func testInterrupted(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	if f.get("r").Interrupted {
		t.Fatal("interrupted with a living owner")
	}
	f.reopen()
	if r := f.get("r"); !r.Interrupted || r.Status != harness.RunRunning {
		t.Fatalf("run %+v", r)
	}
	l = f.acquire("s")
	if !f.get("r").Interrupted {
		t.Fatal("a new owner alone drives nothing")
	}
	f.append(l, "r", 1, status(harness.RunRunning))
	if f.get("r").Interrupted {
		t.Fatal("interrupted while its new owner drives it")
	}
	f.append(l, "r", 2, status(harness.RunPaused))
	f.must(f.Owners.Release(f.ctx(), l))
	if f.get("r").Interrupted {
		t.Fatal("a paused run is not interrupted")
	}
}

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
	f.equal("usage of the session", f.session("s").Usage, u.Add(u).Add(u))
}

func testList(t *testing.T, f *fixture) {
	done := status(harness.RunCompleted)
	for i, id := range []harness.SessionID{"a", "b", "a", "c"} {
		l := f.acquire(id)
		run := harness.RunID(fmt.Sprint("r", i))
		f.start(l, run, "hello")
		if i%2 == 0 {
			f.append(l, run, 1, done)
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
	if got := f.tail("s"); got != "one | two | three | four" {
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

// Package runtest holds the suite of the run journal. The one thing to know: a
// journal is judged by what is there after its process died, so the cases open
// the store again where it matters.
package runtest

import (
	"encoding/json"
	"errors"
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
	// Facts, Notes and Inbox are the long-term memory of the same store.
	Facts harness.Facts
	Notes harness.Notes
	Inbox harness.Inbox
	// Artifacts and Grants are of the same store too, and ID is its id.
	Artifacts harness.Artifacts
	Grants    harness.Grants
	ID        string
	// Reopen opens the same store again as another process would after the
	// first one died.
	Reopen func() Stores
	// Advance moves the clock of the stores.
	Advance func(time.Duration)
}

// TestJournal tests a [run.Journal]. open opens empty stores.
func TestJournal(t *testing.T, open func(t *testing.T) Stores) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *fixture){
		"a run begins with its message and its session": testCreate,
		"entries are numbered, kept and joined again":   testAppend,
		"an append past somebody else's is stale":       testStale,
		"a request starts once":                         testRequest,
		"an open run blocks the next":                   testBlocked,
		"a run is closed and the next begun at once":    testCloses,
		"partial text stays until its answer":           testPartial,
		"a rewound message is out of the context":       testRewind,
		"a condensing is a record of the conversation":  testCondensed,
		"the bytes of files are kept apart":             testFiles,
		"a lost lease writes nothing":                   testLost,
		"a run whose owner died is interrupted":         testInterrupted,
		"usage adds up":                                 testUsage,
		"lists are newest first":                        testList,
		"pruning leaves conversations alone":            testPrune,
		"a number of closed runs is kept":               testKeep,
		"effects on the memory are carried out":         testEffects,
		"what cannot be carried out is told":            testLeftOut,
		"what a run saved elsewhere has a name":         testNamed,
		"effects and their entry are one":               testEffectsAtOnce,
		"a run kept elsewhere is never interrupted":     testAway,
		"long system prompts are kept":                  testSystem,
		"anybody steers a run and nobody takes it over": testSteer,
		"what is not there":                             testMissing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &fixture{Stores: open(t), trial: trial{t}})
		})
	}
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
	if s := f.session(); s.OpenRun != "r" || s.OpenStatus != harness.RunRunning || s.Messages != 1 || s.Title != "hello" || s.Dir != "/home/ada" {
		t.Fatalf("session %+v", s)
	}
	record, err := f.Transcript.Record(f.ctx(), "s", 1)
	f.must(err)
	if record.Run != "r" || record.Message.Text() != "hello" {
		t.Fatalf("record %+v", record)
	}
	f.equal("read", f.read(0), entries)
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
	f.equal("entries", f.read(1), added)
	f.equal("entries after 3", f.read(3), added[2:])
	if got := f.read(4); len(got) != 0 {
		t.Fatalf("entries past the end %+v", got)
	}
	r := f.get("r")
	if r.Cursor != 4 || r.Status != harness.RunFailed || r.Stop != harness.StopError || r.Error == nil || r.Error.Kind != "auth" {
		t.Fatalf("run %+v", r)
	}
	if s := f.session(); s.OpenRun != "r" || s.OpenStatus != harness.RunFailed {
		t.Fatalf("a failed run can be continued, but the session has %+v", s)
	}
	l = f.acquire("s")
	f.append(l, "r", 4, status(harness.RunRunning), run.Entry{Kind: "end", Status: harness.RunCompleted, Stop: harness.StopEnd})
	if r := f.get("r"); r.Status != harness.RunCompleted || r.Error != nil || r.Stop != harness.StopEnd {
		t.Fatalf("run %+v", r)
	}
	if s := f.session(); s.OpenRun != "" || s.OpenStatus != "" {
		t.Fatalf("session %+v", s)
	}
	if got := f.tail(); got != "hello | one" {
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
	if got := f.tail(); got != "hello | one" {
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
	if got := f.tail(); got != "hello | hi" {
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
	if got := f.tail(); got != "hello | next" {
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
	if got := f.tail(); got != "hello" {
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
	if got := f.tail(); got != "hello | half | next" {
		t.Fatalf("conversation %q", got)
	}
	if s := f.session(); s.OpenRun != "next" {
		t.Fatalf("session %+v", s)
	}
}

package runtest

import (
	"encoding/json"
	"fmt"
	"testing"

	"cairn/harness"
	"cairn/harness/run"
)

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
	if got := f.tail(); got != "hello | good" {
		t.Fatalf("context %q", got)
	}
	record, err := f.Transcript.Record(f.ctx(), "s", 2)
	f.must(err)
	if record.Message.Text() != "bad" || record.Prev != 1 {
		t.Fatalf("history %+v", record)
	}
	if got := f.read(1); got[0].Message.Text() != "bad" || !got[0].Rewind {
		t.Fatalf("journal %+v", got)
	}
}

func testCondensed(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	c := harness.Condensed{Note: "they said <hello>", Kept: 1, Pruned: &harness.Origin{Record: 1}, Pins: []harness.Origin{{Session: "p", Record: 2}}, Dropped: 1}
	added := f.append(l, "r", 1, run.Entry{Kind: "condensed", Data: json.RawMessage(`{"turn":1}`), Condensed: &c}, answer("good"))
	if added[0].Record != 2 || added[1].Record != 3 {
		t.Fatalf("entries %+v", added)
	}
	f.reopen()
	f.equal("entries", f.read(1), added)
	record, err := f.Transcript.Record(f.ctx(), "s", 2)
	f.must(err)
	var stored harness.Condensed
	f.must(json.Unmarshal(record.Data, &stored))
	f.equal("record", stored, c)
	if record.Kind != harness.RecordCondensed || record.Run != "r" || record.Prev != 1 || record.Message != nil {
		t.Fatalf("record %+v", record)
	}
	if s := f.session(); s.Messages != 2 || s.Records != 3 || s.Head != 3 {
		t.Fatalf("session %+v", s)
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
	if got := f.tail(); got != "hello | one" {
		t.Fatalf("conversation %q", got)
	}
}

// testAway says nothing of who drives a run that its engine keeps.
func testAway(t *testing.T, f *fixture) {
	l := f.acquire("s")
	away := f.run("r")
	away.Engine = "postgres://db.example:5432/cairn"
	_, _, err := f.Journal.Create(f.ctx(), l, away, begun("hello"))
	f.must(err)
	f.must(f.Owners.Release(f.ctx(), l))
	f.reopen()
	list, err := f.Journal.List(f.ctx(), harness.RunFilter{Unfinished: true})
	f.must(err)
	for _, r := range append(list, f.get("r")) {
		if r.Interrupted || r.Status != harness.RunRunning || r.Engine != away.Engine || !r.Away() {
			t.Errorf("run %+v", r)
		}
	}
	if s := f.session(); len(list) != 1 || s.OpenRun != "r" || s.OpenStatus != harness.RunRunning {
		t.Errorf("%d unfinished runs, session %+v", len(list), s)
	}
	l = f.acquire("s")
	f.append(l, "r", 1, answer("hi"), status(harness.RunCompleted))
	if s := f.session(); s.OpenRun != "" || f.tail() != "hello | hi" {
		t.Errorf("session %+v, conversation %q", s, f.tail())
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

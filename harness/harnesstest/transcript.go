package harnesstest

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"cairn/harness"
)

// TestTranscript tests a [harness.Transcript].
func TestTranscript(t *testing.T, open Open) {
	t.Parallel()
	run(t, "a condensing is no message", open, testCondensedRecord)
	run(t, "records are numbered, linked and kept", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		added := say(t, s, l, "one", "two")
		more := say(t, s, l, "three")
		added = append(added, more...)
		for i, r := range added {
			if r.Seq != i+1 || r.Prev != i || r.Kind != harness.RecordMessage || !r.At.Equal(s.Clock.Now()) {
				t.Fatalf("record %+v", r)
			}
		}
		s = s.Reopen()
		equal(t, "tail", value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "a", 0, 0)), added)
		equal(t, "record", value[harness.Record](t)(s.Transcript.Record(ctx(t), "a", 2)), added[1])
	})
	run(t, "a whole message comes back as it was", open, testWholeMessage)
	run(t, "a tail is cut at its old end", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "1", "2", "3", "4", "5")
		for _, c := range []struct {
			from, limit int
			want        string
		}{{0, 2, "4 | 5"}, {0, 5, "1 | 2 | 3 | 4 | 5"}, {0, 9, "1 | 2 | 3 | 4 | 5"}, {3, 0, "1 | 2 | 3"}, {3, 2, "2 | 3"}} {
			if got := texts(value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "a", c.from, c.limit))); got != c.want {
				t.Errorf("tail from %d of %d is %q, want %q", c.from, c.limit, got, c.want)
			}
		}
	})
	run(t, "what is not there", open, func(t *testing.T, s Stores) {
		if got := value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "none", 0, 0)); len(got) != 0 {
			t.Fatalf("tail of no session %+v", got)
		}
		_, err := s.Transcript.Record(ctx(t), "none", 1)
		wantErr(t, err, harness.ErrNotFound)
		say(t, s, acquire(t, s, "a"), "1")
		for _, seq := range []int{-1, 0, 2} {
			_, err = s.Transcript.Record(ctx(t), "a", seq)
			wantErr(t, err, harness.ErrNotFound)
		}
		_, err = s.Transcript.Tail(ctx(t), "a", 7, 0)
		wantErr(t, err, harness.ErrNotFound)
	})
	run(t, "moving the head makes a branch and loses nothing", open, testBranches)
	run(t, "a lost lease writes nothing", open, testLost)
	run(t, "a fork reads on in its parent", open, testFork)
	run(t, "before a record", open, testBefore)
	run(t, "the log has all branches", open, testLog)
	run(t, "order is not the clock", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		for i := range 5 {
			say(t, s, l, fmt.Sprint(i))
			s.Clock.Add(-time.Hour)
		}
		if got := tail(t, s.Reopen(), "a"); got != "0 | 1 | 2 | 3 | 4" {
			t.Fatalf("order %q", got)
		}
	})
	run(t, "the preview is the last text", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		say(t, s, l, "one", "the\nlast  text")
		m := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Text: "x"}}}}
		value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, harness.Record{Message: &m}))
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")).Preview; got != "the last text" {
			t.Fatalf("preview %q", got)
		}
	})
}

func testFork(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "1", "2", "3")
	l := fork(t, s, "b", "a", 2)
	say(t, s, l, "x", "y")
	if got := tail(t, s, "b"); got != "1 | 2 | x | y" {
		t.Fatalf("fork %q", got)
	}
	records := value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "b", 0, 3))
	if got := texts(records); got != "2 | x | y" {
		t.Fatalf("tail of the fork %q", got)
	}
	if records[0].In != "a" || records[1].In != "" {
		t.Fatalf("the records of the fork are in %q and %q", records[0].In, records[1].In)
	}
	// Such a record may come back in, and is then the other session's own.
	say(t, s, acquire(t, s, "c"), "0")
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), acquire(t, s, "d"), records[0]))
	if got := value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "d", 0, 0)); got[0].In != "" {
		t.Fatalf("stored in %q", got[0].In)
	}
	must(t, s.Transcript.MoveHead(ctx(t), l, 0))
	if got := tail(t, s, "b"); got != "1 | 2" {
		t.Fatalf("fork before its first record %q", got)
	}
	say(t, s, l, "z")
	must(t, s.Sessions.Delete(ctx(t), "a"))
	if got := tail(t, s, "b"); got != "1 | 2 | z" {
		t.Fatalf("fork of a deleted session %q", got)
	}
	say(t, s, fork(t, s, "e", "b", 0), "only")
	if got := tail(t, s, "e"); got != "only" {
		t.Fatalf("fork before the first record %q", got)
	}
}

func fork(t *testing.T, s Stores, id, of harness.SessionID, record int) harness.Lease {
	t.Helper()
	meta := harness.Session{ID: id, Parent: &harness.Origin{Session: of, Record: record}}
	return value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
}

func testBefore(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "1", "2", "3")
	say(t, s, fork(t, s, "b", "a", 2), "x", "y")
	say(t, s, fork(t, s, "c", "b", 1), "p", "q")
	for _, c := range []struct {
		id, in harness.SessionID
		record int
		limit  int
		want   string
	}{
		{"a", "", 3, 0, "1 | 2"},
		{"a", "a", 3, 1, "2"},
		{"a", "", 1, 0, ""},
		{"b", "", 1, 0, "1 | 2"},
		{"b", "", 2, 2, "2 | x"},
		{"b", "a", 2, 0, "1"},
		{"c", "c", 1, 0, "1 | 2 | x"},
		{"c", "b", 1, 1, "2"},
		{"c", "a", 2, 5, "1"},
	} {
		got := value[[]harness.Record](t)(s.Transcript.Before(ctx(t), c.id, harness.Origin{Session: c.in, Record: c.record}, c.limit))
		if texts(got) != c.want {
			t.Errorf("%d records of %s before %s/%d: %q, want %q", c.limit, c.id, c.in, c.record, texts(got), c.want)
		}
		for _, r := range got {
			if at := value[harness.Record](t)(s.Transcript.Record(ctx(t), cmp.Or(r.In, c.id), r.Seq)); at.Message.Text() != r.Message.Text() {
				t.Errorf("%q of %s is said to be record %d of %q", r.Message.Text(), c.id, r.Seq, r.In)
			}
		}
	}
	for _, of := range []harness.Origin{{Record: 0}, {Record: 9}, {Session: "c", Record: 1}, {Session: "none", Record: 1}} {
		_, err := s.Transcript.Before(ctx(t), "b", of, 0)
		wantErr(t, err, harness.ErrNotFound)
	}
	_, err := s.Transcript.Before(ctx(t), "none", harness.Origin{Record: 1}, 0)
	wantErr(t, err, harness.ErrNotFound)
}

func testLog(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1", "2", "3")
	must(t, s.Transcript.MoveHead(ctx(t), l, 1))
	say(t, s, l, "4")
	say(t, s, fork(t, s, "b", "a", 2), "x")
	for _, c := range []struct {
		id           harness.SessionID
		after, limit int
		want         string
	}{
		{"a", 0, 0, "1 | 2 | 3 | 4"},
		{"a", 2, 0, "3 | 4"},
		{"a", 1, 2, "2 | 3"},
		{"a", 4, 0, ""},
		{"a", 9, 0, ""},
		{"b", 0, 0, "x"},
		{"none", 0, 0, ""},
	} {
		if got := texts(value[[]harness.Record](t)(s.Transcript.Log(ctx(t), c.id, c.after, c.limit))); got != c.want {
			t.Errorf("%d of the log of %s after %d: %q, want %q", c.limit, c.id, c.after, got, c.want)
		}
	}
}

func testWholeMessage(t *testing.T, s Stores) {
	m := harness.Message{
		Role: harness.RoleAssistant, Name: "n", Model: "p/m", Mark: harness.MarkInterrupted, Used: []string{"f1"},
		Usage: &harness.Usage{Input: 10, Output: 3, Cost: 0.25, CostKnown: true},
		Parts: []harness.Part{
			{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "p", Data: []byte(`{"sig":"<&>"}`)}},
			{Kind: harness.PartText, Text: "a < b && \u2028 \"q\" \x00 \U0001F469\u200d\U0001F680 設備"},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Origin: "o", Name: "t", Input: []byte(`{"a":"<x>"}`)}},
			{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Name: "t", Text: "r", Failed: true}},
			{Kind: harness.PartFile, File: &harness.File{Name: "f", MediaType: "image/png", Artifact: "of another store", Size: 3, Width: 2, Height: 1}},
		},
	}
	r := harness.Record{Message: &m, Run: "run1"}
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), acquire(t, s, "a"), r))
	m.Parts[1].Text = "changed by the caller"
	got := value[[]harness.Record](t)(s.Reopen().Transcript.Tail(ctx(t), "a", 0, 0))
	m.Parts[1].Text = "a < b && \u2028 \"q\" \x00 \U0001F469\u200d\U0001F680 設備"
	equal(t, "message", got[0].Message, m)
	if got[0].Run != "run1" || string(got[0].Message.Calls()[0].Input) != `{"a":"<x>"}` {
		t.Fatalf("record %+v", got[0])
	}
}

func testBranches(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1", "2", "3")
	must(t, s.Transcript.MoveHead(ctx(t), l, 1))
	if got := tail(t, s, "a"); got != "1" {
		t.Fatalf("after undo %q", got)
	}
	if r := say(t, s, l, "4"); r[0].Seq != 4 || r[0].Prev != 1 {
		t.Fatalf("branch record %+v", r[0])
	}
	if got := tail(t, s, "a"); got != "1 | 4" {
		t.Fatalf("branch %q", got)
	}
	if got := texts(value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "a", 3, 0))); got != "1 | 2 | 3" {
		t.Fatalf("other branch %q", got)
	}
	must(t, s.Transcript.MoveHead(ctx(t), l, 3))
	if got := tail(t, s, "a"); got != "1 | 2 | 3" {
		t.Fatalf("after redo %q", got)
	}
	must(t, s.Transcript.MoveHead(ctx(t), l, 0))
	if r := say(t, s, l, "5"); r[0].Prev != 0 {
		t.Fatalf("record before the first one follows %d", r[0].Prev)
	}
	wantErr(t, s.Transcript.MoveHead(ctx(t), l, 99), harness.ErrNotFound)
	got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a"))
	if got.Records != 5 || got.Messages != 5 || got.Head != 5 {
		t.Fatalf("session %+v", got)
	}
}

func testLost(t *testing.T, s Stores) {
	for _, stored := range []bool{false, true} {
		id := harness.SessionID(fmt.Sprint("s", stored))
		l := acquire(t, s, id)
		want := ""
		if stored {
			say(t, s, l, "mine")
			want = "mine"
		}
		next := value[harness.Lease](t)(s.Owners.Force(ctx(t), harness.Session{ID: id}, harness.Holder{}))
		m := harness.UserText("late")
		_, err := s.Transcript.Append(ctx(t), l, harness.Record{Message: &m})
		wantErr(t, err, harness.ErrLost)
		if stored {
			wantErr(t, s.Transcript.MoveHead(ctx(t), l, 1), harness.ErrLost)
		}
		if got := tail(t, s, id); got != want {
			t.Fatalf("a lost lease wrote %q", got)
		}
		must(t, s.Owners.Release(ctx(t), l))
		say(t, s, next, "theirs")
	}
	m := harness.UserText("never acquired")
	_, err := s.Transcript.Append(ctx(t), harness.Lease{Session: "free"}, harness.Record{Message: &m})
	wantErr(t, err, harness.ErrLost)
}

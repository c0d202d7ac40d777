package harnesstest

import (
	"encoding/json"
	"fmt"
	"testing"

	"cairn/harness"
)

// condensing is a record that condensed what is before another one.
func condensing(kept int, note string) harness.Record {
	return harness.Record{Kind: harness.RecordCondensed, Data: fmt.Appendf(nil, `{"note":%q,"kept":%d,"messages":%d}`, note, kept, kept-1)}
}

// pinning is a record that pins a message, or takes the pin away.
func pinning(message int, off bool) harness.Record {
	return harness.Record{Kind: harness.RecordPin, Data: fmt.Appendf(nil, `{"message":%d,"off":%t}`, message, off)}
}

// wantCounts ends the test unless a session has so many records of each kind.
func wantCounts(t *testing.T, s Stores, id harness.SessionID, records, messages, pins int) harness.Session {
	t.Helper()
	got := value[harness.Session](t)(s.Sessions.Get(ctx(t), id))
	if got.Records != records || got.Messages != messages || got.PinRecords != pins {
		t.Fatalf("session %s has %d records, %d messages, %d of pins; want %d, %d, %d", id, got.Records, got.Messages, got.PinRecords, records, messages, pins)
	}
	return got
}

func testPinRecords(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1", "2", "3")
	wantCounts(t, s, "a", 3, 3, 0)
	added := value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, pinning(2, false), pinning(2, true)))
	if added[1].Seq != 5 || string(added[1].Data) != `{"message":2,"off":true}` {
		t.Fatalf("added %+v", added)
	}
	wantCounts(t, s, "a", 5, 3, 2)
	// They count on all branches.
	must(t, s.Transcript.MoveHead(ctx(t), l, 1))
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, pinning(1, false)))
	s = s.Reopen()
	wantCounts(t, s, "a", 6, 3, 3)

	fork := value[harness.Session](t)(s.Sessions.Fork(ctx(t), "a", harness.Origin{Record: 4}, harness.Session{ID: "f"}))
	if fork.PinRecords != 3 || fork.Inherited != 3 {
		t.Fatalf("fork %+v", fork)
	}
	l = acquire(t, s, "f")
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, pinning(1, false)))
	s = s.Reopen()
	wantCounts(t, s, "f", 1, 0, 4)

	log := value[[]harness.Record](t)(s.Transcript.Log(ctx(t), "a", 0, 0))
	for name, records := range map[string][]harness.Record{"whole": log, "branch": {log[0], log[1], pinning(1, false), log[2]}} {
		if name == "branch" {
			for i := range records {
				records[i].Seq, records[i].Prev = 0, 0
			}
		}
		stored, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: harness.SessionID(name), PinRecords: 99}, records)
		must(t, err)
		want := 3
		if name == "branch" {
			want = 1
		}
		if stored.PinRecords != want {
			t.Fatalf("the %s is imported as %+v", name, stored)
		}
		wantCounts(t, s, harness.SessionID(name), len(records), 3, want)
	}
}

func testCondensedRecord(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "first words", "an answer", "the last words")
	added := value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, condensing(3, "a note")))
	if added[0].Seq != 4 || added[0].Prev != 3 || added[0].Message != nil {
		t.Fatalf("added %+v", added[0])
	}
	s = s.Reopen()
	if got := wantCounts(t, s, "a", 4, 3, 0); got.Head != 4 || got.Preview != "the last words" || got.Title != "first words" {
		t.Fatalf("session %+v", got)
	}
	if got := tail(t, s, "a"); got != "first words | an answer | the last words" {
		t.Fatalf("the branch reads %q", got)
	}
	var c harness.Condensed
	must(t, json.Unmarshal(value[harness.Record](t)(s.Transcript.Record(ctx(t), "a", 4)).Data, &c))
	if c.Note != "a note" || c.Kept != 3 || c.Messages != 2 {
		t.Fatalf("condensed %+v", c)
	}
	fork := value[harness.Session](t)(s.Sessions.Fork(ctx(t), "a", harness.Origin{}, harness.Session{ID: "f"}))
	if fork.Inherited != 3 || fork.Preview != "the last words" {
		t.Fatalf("fork %+v", fork)
	}
}

func testSearchCondensed(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "the turnstile squeaks", "oil it", "thanks")
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, condensing(3, "about a zeppelin"), pinning(1, false)))
	say(t, s, l, "and the door")
	for range 2 {
		for q, want := range map[string]int{"turnstile": 1, "oil": 2, "zeppelin": 0, "kept": 0, "door": 6} {
			hits := value[[]harness.Hit](t)(s.Searcher.Search(ctx(t), q, 5))
			if want == 0 && len(hits) == 0 {
				continue
			}
			if len(hits) != 1 || hits[0].Session != "a" || hits[0].Message != want {
				t.Fatalf("%q finds %+v, want message %d", q, hits, want)
			}
		}
		s = s.Reopen()
	}
}

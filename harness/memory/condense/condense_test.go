package condense_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
)

// writer is a model that answers requests for notes and keeps them.
type writer struct {
	answer func(r model.Request) (model.Reply, error)
	asked  []model.Request
}

func (w *writer) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	w.asked = append(w.asked, r)
	if w.answer != nil {
		return w.answer(r)
	}
	return says("The note."), nil
}

func says(text string) model.Reply {
	return model.Reply{
		Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd, Model: "fake/m",
		Usage: harness.Usage{Input: 900, Output: 90},
	}
}

func info(window int) model.Info {
	return model.Info{ID: "fake/m", Window: window, MaxOutput: 4_000, PriceKnown: true}
}

// words is a text of about n tokens.
func words(n int) string { return strings.Repeat("abc ", n) }

func records(msgs ...harness.Message) []harness.Record {
	var rs []harness.Record
	for i := range msgs {
		rs = append(rs, harness.Record{Seq: i + 1, Prev: i, Kind: harness.RecordMessage, Message: &msgs[i]})
	}
	return rs
}

// talk is n turns of two messages of size tokens each.
func talk(n, size int) []harness.Message {
	var msgs []harness.Message
	for i := range n {
		msgs = append(msgs, harness.UserText(fmt.Sprint("question ", i, " ", words(size))), harness.AssistantText(fmt.Sprint("answer ", i, " ", words(size))))
	}
	return msgs
}

func condensed(t *testing.T, seq int, c harness.Condensed) harness.Record {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Record{Seq: seq, Prev: seq - 1, Kind: harness.RecordCondensed, Data: data}
}

func compose(t *testing.T, in memory.In) memory.Out {
	t.Helper()
	out, err := new(memory.Composer).Compose(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Legal(out.Request.Messages); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNextWritesANoteForTheOldestMessages(t *testing.T) {
	t.Parallel()
	in := memory.In{Session: "s1", History: records(talk(40, 150)...), Turn: []harness.Message{harness.UserText("now")}, TurnRecords: []int{81}, Info: info(16_000)}
	before := compose(t, in)
	if before.Full < before.Trigger {
		t.Fatalf("%d tokens of %d", before.Full, before.Trigger)
	}
	w := &writer{}
	s, err := condense.Next(t.Context(), in, condense.Options{Model: w, Info: in.Info})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Condensed
	if c.Note != "The note." || c.Kept < 2 || c.Kept > 78 || c.Dropped != c.Kept-1 || c.Messages != c.Dropped || s.Turn != 0 || c.Model != "fake/m" {
		t.Errorf("got %+v", s)
	}
	if len(w.asked) != 1 || w.asked[0].Purpose != model.PurposeCondense || len(w.asked[0].Tools) > 0 || !strings.Contains(w.asked[0].Messages[0].Text(), "question 0 ") {
		t.Errorf("asked %+v", w.asked)
	}
	if !s.Usage.CostKnown || s.Usage.Input != 900 {
		t.Errorf("usage %+v", s.Usage)
	}
	for name, again := range map[string]memory.In{
		"in the turn": {Session: in.Session, History: in.History, Turn: in.Turn, TurnRecords: in.TurnRecords, Info: in.Info, Condensed: &c},
		"as stored":   {Session: in.Session, History: append(in.History[:80:80], condensed(t, 81, c)), Turn: in.Turn, Info: in.Info},
	} {
		out := compose(t, again)
		if out.Full >= out.Trigger || !strings.Contains(out.Request.Messages[0].Text(), "The note.") || out.Dropped != c.Dropped {
			t.Errorf("%s: %d tokens of %d, %d dropped: %s", name, out.Full, out.Trigger, out.Dropped, out.Request.Messages[0].Text())
		}
		if out.Full != c.After {
			t.Errorf("%s: %d tokens, said to be %d", name, out.Full, c.After)
		}
	}
	if _, err := condense.Next(t.Context(), memory.In{History: in.History[:4], Info: in.Info}, condense.Options{Model: w, Info: in.Info}); !errors.Is(err, condense.ErrNothing) {
		t.Errorf("a short conversation gives %v", err)
	}
}

// What was not given is not counted as if it were all.
func TestAPlanSaysThatThereIsMoreThanItCounts(t *testing.T) {
	t.Parallel()
	for before, want := range map[int]bool{0: false, 900: true} {
		rs := records(talk(8, 600)...)
		for i := range rs {
			rs[i].Seq += before
			rs[i].Prev += before
		}
		in := memory.In{Session: "s", History: rs, First: before + len(rs) + 1, Turn: []harness.Message{harness.UserText("and now?")}, Info: info(10_000)}
		p, err := condense.Estimate(in, condense.Options{Model: &writer{}, Info: info(10_000)})
		if err != nil || p.More != want || want != (p.Calls > condense.MaxUnasked) {
			t.Errorf("%d messages before: %+v, %v", before, p, err)
		}
	}
}

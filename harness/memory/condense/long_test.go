package condense_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
)

// tape is a log without branches that is all at hand. It counts what is read.
type tape struct {
	harness.Transcript

	log  []harness.Record
	read int
}

func (t *tape) add(r harness.Record) int {
	r.Prev = len(t.log)
	r.Seq = r.Prev + 1
	t.log = append(t.log, r)
	return r.Seq
}

func (t *tape) Before(_ context.Context, _ harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	rs := t.log[max(0, of.Record-1-limit) : of.Record-1]
	t.read += len(rs)
	return slices.Clone(rs), nil
}

func (t *tape) Record(_ context.Context, _ harness.SessionID, seq int) (harness.Record, error) {
	t.read++
	return t.log[seq-1], nil
}

// work is what one turn took.
type work struct{ records, bytes, calls int }

// many is how many turns a long conversation has, unless CAIRN_TEST_TURNS names
// another number.
const many = 800

// A conversation of many turns in a window of 16k: every request is legal and
// under the window, what was pinned in the first turn is in each, and a late turn
// takes no more than an early one. What is counted is work: the clock says more of
// the machine than of the program.
func TestALateTurnCostsWhatAnEarlyOneDoes(t *testing.T) {
	t.Parallel()
	turns := many
	if text := os.Getenv("CAIRN_TEST_TURNS"); text != "" {
		var err error
		if turns, err = strconv.Atoi(text); err != nil || turns < many {
			t.Fatalf("CAIRN_TEST_TURNS=%q: not a number from %d on", text, many)
		}
	}
	const window = 16_000
	tr := &tape{}
	w := &writer{answer: func(r model.Request) (model.Reply, error) {
		return says("Note. " + words(500)), nil
	}}
	took := make([]work, turns)
	for turn := range turns {
		m := harness.UserText(fmt.Sprint("question ", turn, " ", words(60)))
		first := tr.add(harness.Record{Kind: harness.RecordMessage, Message: &m})
		if turn == 0 {
			data, _ := json.Marshal(harness.Pin{Message: 1})
			tr.add(harness.Record{Kind: harness.RecordPin, Data: data})
		}
		tr.read, w.asked = 0, nil
		in := memory.In{Session: "s", System: words(300), Info: info(window), First: first, Turn: []harness.Message{m}, TurnRecords: []int{first}}
		var err error
		if in.History, err = memory.Load(t.Context(), tr, "s", first, in.Info); err != nil {
			t.Fatal(err)
		}
		if in.Pinned, err = memory.Pinned(t.Context(), tr, harness.Session{ID: "s", PinRecords: 1}, harness.Origin{Session: "s", Record: first}); err != nil {
			t.Fatal(err)
		}
		out := compose(t, in)
		if out.Full >= out.Trigger {
			step, err := condense.Next(t.Context(), in, options(w, in))
			if err != nil {
				t.Fatalf("turn %d: %v", turn, err)
			}
			data, _ := json.Marshal(step.Condensed)
			tr.add(harness.Record{Kind: harness.RecordCondensed, Data: data})
			in.Condensed = &step.Condensed
			out = compose(t, in)
		}
		if out.Full >= out.Trigger || out.Dropped > len(in.History) || out.Request.System != in.System {
			t.Fatalf("turn %d: %d tokens of %d", turn, out.Full, out.Trigger)
		}
		took[turn] = work{tr.read, size(out), len(w.asked)}
		if turn > 0 {
			verbatim(t, out, "question 0 ", fmt.Sprint("question ", turn, " "))
		}
		answer := harness.AssistantText(fmt.Sprint("answer ", turn, " ", words(90)))
		tr.add(harness.Record{Kind: harness.RecordMessage, Message: &answer})
	}
	mean := func(from, to int) (m work) {
		for _, w := range took[from:to] {
			m.records, m.bytes, m.calls = m.records+w.records, m.bytes+w.bytes, m.calls+w.calls
		}
		return m
	}
	// Both are some rounds of what begins and ends with a condensing.
	early, late := mean(50, 250), mean(turns-200, turns)
	t.Logf("records %d and %d, bytes %d and %d, notes %d and %d", early.records, late.records, early.bytes, late.bytes, early.calls, late.calls)
	if 2*late.records > 3*early.records || 2*late.bytes > 3*early.bytes || 2*late.calls > 3*early.calls+2 {
		t.Errorf("200 late turns took %+v, as many early ones %+v", late, early)
	}
	if all := mean(0, turns); all.calls > turns/10 || all.calls < 20 {
		t.Errorf("%d condensings in %d turns", all.calls, turns)
	}
}

// size counts the bytes of a request.
func size(out memory.Out) int {
	n := len(out.Request.System) + len(out.Request.Context)
	for _, m := range out.Request.Messages {
		n += len(m.Text())
	}
	return n
}

func BenchmarkCompose(b *testing.B) {
	for _, turns := range []int{50, 5_000} {
		msgs := talk(turns, 150)
		history := records(msgs...)
		c := harness.Condensed{Note: "Note. " + words(500), Kept: max(1, len(msgs)-40), Messages: len(msgs) - 41}
		data, err := json.Marshal(c)
		if err != nil {
			b.Fatal(err)
		}
		history = append(history, harness.Record{Seq: len(msgs) + 1, Prev: len(msgs), Kind: harness.RecordCondensed, Data: data})
		tr := &tape{log: history}
		b.Run(fmt.Sprint("turn ", turns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				in := memory.In{Session: "s", Info: info(16_000), Turn: []harness.Message{harness.UserText("now")}}
				if in.History, err = memory.Load(b.Context(), tr, "s", len(history)+1, in.Info); err != nil {
					b.Fatal(err)
				}
				if _, err := new(memory.Composer).Compose(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

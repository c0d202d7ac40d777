package condense_test

import (
	"errors"
	"fmt"
	"testing"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
)

// chats has a conversation of turns of a size go on in a window of which the system
// prompt takes a part, and returns in how many notes were written, in how many in a
// row at most, and how many were sent without all that was said or a note of it.
func chats(t *testing.T, window, fixed, size int) (calls, row, short int) {
	t.Helper()
	w := &writer{answer: func(model.Request) (model.Reply, error) { return says("Note. " + words(250)), nil }}
	in := memory.In{Session: "s", System: words(fixed), Info: info(window)}
	add := func(r harness.Record) int {
		r.Prev = len(in.History)
		r.Seq = r.Prev + 1
		in.History = append(in.History, r)
		return r.Seq
	}
	last, running := 0, 0
	for n := range chatted {
		m := harness.UserText(fmt.Sprint("question ", n, " ", words(size/3)))
		seq := len(in.History) + 1
		now := in
		now.First, now.Turn, now.TurnRecords = seq, []harness.Message{m}, []int{seq}
		out := compose(t, now)
		if out.Full >= out.Trigger {
			before := len(w.asked)
			s, err := condense.Next(t.Context(), now, options(w, now))
			var fixed *condense.FixedError
			var large *condense.LargeError
			switch {
			case err == nil:
				now.Condensed = &s.Condensed
				out = compose(t, now)
			case errors.Is(err, condense.ErrNothing), errors.As(err, &fixed), errors.As(err, &large):
			default:
				t.Fatalf("turn %d: %v", n, err)
			}
			calls += len(w.asked) - before
		}
		if running++; calls == last {
			running = 0
		}
		row, last = max(row, running), calls
		if v, err := memory.Look(now); err != nil || out.Dropped > v.Before {
			short++
		}
		add(harness.Record{Kind: harness.RecordMessage, Message: &m})
		if now.Condensed != nil {
			r := condensed(t, 1, *now.Condensed)
			add(r)
		}
		a := harness.AssistantText(fmt.Sprint("answer ", n, " ", words(size*2/3)))
		add(harness.Record{Kind: harness.RecordMessage, Message: &a})
	}
	return calls, row, short
}

// chatted is how many turns a conversation has.
const chatted = 60

// Where what every request carries leaves little room, notes are written for what
// makes them worth their calls, and not in each turn.
func TestASmallWindowIsNotCondensedInEachTurn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ window, fixed, size, calls, short int }{
		{8_000, 3_500, 60, 8, 0},
		{8_000, 3_500, 200, chatted / 3, 0},
		{8_000, 3_500, 400, chatted / 2, 0},
		{8_000, 3_500, 700, 0, chatted}, // no four messages and a note fit
		{8_000, 4_200, 300, 0, chatted},
		{8_000, 500, 300, 8, 0},
		{16_000, 3_500, 400, 8, 0},
		{16_000, 9_000, 200, 0, chatted},
		{32_000, 500, 1_000, 6, 0},
	} {
		calls, row, short := chats(t, tc.window, tc.fixed, tc.size)
		if calls > tc.calls || row > 1 || short > tc.short {
			t.Errorf("%+v: %d calls, %d in a row, %d turns without all that was said", tc, calls, row, short)
		}
		if tc.calls > 0 && calls == 0 {
			t.Errorf("%+v: %d calls", tc, calls)
		}
	}
}

package chat

import (
	"encoding/json"
	"errors"
	"testing"

	"cairn/harness"
)

// TestANoteIsKeptWhereTheLastMessageIsSentAgain condenses behind the last turn and
// sends a message anew.
func TestANoteIsKeptWhereTheLastMessageIsSentAgain(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		condensed harness.Condensed
		// again is the message that is sent anew.
		again int
		start error
		// want is the note that counts then.
		want string
		pins int
	}{
		"nothing of what stays is before":    {condensed: harness.Condensed{Note: "n", Kept: 3, Pins: []harness.Origin{{Record: 1}, {Record: 4}}}, again: 3, want: ""},
		"all that the note stands for stays": {condensed: harness.Condensed{Note: "n", Kept: 2, Pins: []harness.Origin{{Record: 1}, {Record: 4}}}, again: 3, want: "n", pins: 1},
		"it stands for what is left":         {condensed: harness.Condensed{Note: "n", Kept: 3}, again: 1, want: ""},
		"sending fails":                      {condensed: harness.Condensed{Note: "n", Kept: 2}, again: 3, start: refused, want: "n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, store := talk(t, Deps{})
			lease, err := store.Owners().Acquire(t.Context(), harness.Session{ID: "talk"}, harness.Holder{})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(c.condensed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.Transcript().Append(t.Context(), lease, harness.Record{Kind: harness.RecordCondensed, Data: data}); err != nil {
				t.Fatal(err)
			}
			r, err := store.Transcript().Record(t.Context(), "talk", c.again)
			if err != nil {
				t.Fatal(err)
			}
			if err := Instead(t.Context(), m.deps, lease, r, func() error { return c.start }); !errors.Is(err, c.start) {
				t.Fatal(err)
			}
			records, err := store.Transcript().Tail(t.Context(), "talk", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got harness.Condensed
			if n := len(records); n > 0 && records[n-1].Kind == harness.RecordCondensed {
				if err := json.Unmarshal(records[n-1].Data, &got); err != nil {
					t.Fatal(err)
				}
			}
			if got.Note != c.want || len(got.Pins) != c.pins && c.start == nil {
				t.Errorf("after %d records the note is %+v, want %q with %d pins", len(records), got, c.want, c.pins)
			}
		})
	}
}

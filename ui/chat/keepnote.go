package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"cairn/harness"
)

// notePage is how many records are read at a time for a condensing.
const notePage = 64

// keepNote has what was condensed behind a record, of the messages before it,
// count where the conversation goes on before that record: it was paid for, and
// the branch that it stands on is left. head is where that branch ends.
func keepNote(ctx context.Context, t harness.Transcript, l harness.Lease, r harness.Record, head int) error {
	c, found, err := lastCondensed(ctx, t, l.Session, r.Seq, head)
	if err != nil || !found {
		return err
	}
	before := func(in harness.SessionID, seq int) bool { return cmp.Or(in, l.Session) != l.Session || seq < r.Seq }
	if c.Kept != 0 && !before(c.In, c.Kept) {
		return nil // it stands for what is left behind, too
	}
	if c.Pruned != nil && !before(c.Pruned.Session, c.Pruned.Record) {
		c.Pruned = nil
	}
	if c.Note == "" && c.Pruned == nil {
		return nil
	}
	c.Pins = slices.DeleteFunc(c.Pins, func(p harness.Origin) bool { return !before(p.Session, p.Record) })
	// What it used is booked where it was made.
	c.Usage = nil
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("keep the note of what is condensed: %w", err)
	}
	if _, err := t.Append(ctx, l, harness.Record{Kind: harness.RecordCondensed, Data: data}); err != nil {
		return fmt.Errorf("keep the note of what is condensed: %w", err)
	}
	return nil
}

// lastCondensed returns the last condensing after record after on the branch that
// ends at head; false if there is none.
func lastCondensed(ctx context.Context, t harness.Transcript, id harness.SessionID, after, head int) (c harness.Condensed, found bool, err error) {
	for head > after {
		records, err := t.Tail(ctx, id, head, notePage)
		if err != nil || len(records) == 0 {
			return c, false, err
		}
		for _, r := range slices.Backward(records) {
			switch {
			case r.In != "" || r.Seq <= after || r.Kind == harness.RecordReset:
				return c, false, nil
			case r.Kind == harness.RecordCondensed:
				if err := json.Unmarshal(r.Data, &c); err != nil {
					return c, false, fmt.Errorf("condensed record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
				}
				return c, true, nil
			}
		}
		head = records[0].Prev
	}
	return c, false, nil
}

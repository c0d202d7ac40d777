package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
)

// Pinned returns the records of the pinned messages of the branch before a
// record, in the order of the conversation; the zero Origin is the end of the
// branch on screen. It reads back to the last condensing
// or reset, which say what was pinned before, and nothing at all of a session
// without pins. A pinned message that is not stored any more is left out.
func Pinned(ctx context.Context, t harness.Transcript, s harness.Session, before harness.Origin) ([]harness.Record, error) {
	if s.PinRecords == 0 {
		return nil, nil
	}
	w := walk{transcript: t, session: s, seen: map[harness.Origin]harness.Record{}}
	if err := w.back(ctx, before); err != nil {
		return nil, fmt.Errorf("pinned messages of session %s: %w", s.ID, err)
	}
	var records []harness.Record
	for _, o := range w.pins {
		r, ok, err := w.record(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("pinned messages of session %s: %w", s.ID, err)
		}
		if ok && r.Message != nil {
			records = append(records, r)
		}
	}
	if err := w.sort(ctx, records); err != nil {
		return nil, fmt.Errorf("pinned messages of session %s: %w", s.ID, err)
	}
	return records, nil
}

// walk goes back on a branch.
type walk struct {
	transcript harness.Transcript
	session    harness.Session
	// changes are the pin records, newest first; pins what they come to.
	changes []harness.Record
	pins    []harness.Origin
	seen    map[harness.Origin]harness.Record
	// oldest is the oldest record that was read, begun that none is before it.
	oldest harness.Origin
	begun  bool
}

// back reads pages until what was pinned is known.
func (w *walk) back(ctx context.Context, before harness.Origin) error {
	w.oldest = before
	for limit := leastPage; ; limit = firstPage {
		page, err := w.page(ctx, limit)
		if err != nil {
			return err
		}
		for _, r := range slices.Backward(page) {
			switch r.Kind {
			case harness.RecordReset:
				return w.apply(nil)
			case harness.RecordCondensed:
				var c harness.Condensed
				if err := json.Unmarshal(r.Data, &c); err != nil {
					return fmt.Errorf("condensed record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
				}
				for i, o := range c.Pins {
					c.Pins[i] = w.at(cmp.Or(o.Session, r.In), o.Record)
				}
				return w.apply(c.Pins)
			case harness.RecordPin:
				w.changes = append(w.changes, r)
			default:
			}
		}
		// Once all the pins there are were met, what is before has none.
		if w.begun || len(w.changes) >= w.session.PinRecords {
			return w.apply(nil)
		}
	}
}

// page reads the records before the oldest one.
func (w *walk) page(ctx context.Context, limit int) ([]harness.Record, error) {
	page, err := pageOf(ctx, w.transcript, w.session.ID, w.oldest, limit)
	if err != nil {
		return nil, err
	}
	for _, r := range page {
		w.seen[w.at(r.In, r.Seq)] = r
	}
	if w.begun = len(page) < limit; !w.begun {
		w.oldest = w.at(page[0].In, page[0].Seq)
	}
	return page, nil
}

// at names a record with its session.
func (w *walk) at(in harness.SessionID, seq int) harness.Origin {
	return harness.Origin{Session: cmp.Or(in, w.session.ID), Record: seq}
}

// apply makes the changes to what was pinned before.
func (w *walk) apply(pins []harness.Origin) error {
	for _, r := range slices.Backward(w.changes) {
		var p harness.Pin
		if err := json.Unmarshal(r.Data, &p); err != nil {
			return fmt.Errorf("pin record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
		}
		o := w.at(cmp.Or(p.In, r.In), p.Message)
		pins = slices.DeleteFunc(pins, func(have harness.Origin) bool { return have == o })
		if !p.Off {
			pins = append(pins, o)
		}
	}
	w.pins = pins
	return nil
}

// record returns what is pinned, if it is stored. The log of a session that the
// branch was forked from may be there for its forks alone: then what is in it can
// only be reached along the branch.
func (w *walk) record(ctx context.Context, o harness.Origin) (harness.Record, bool, error) {
	if r, ok := w.seen[o]; ok {
		return r, true, nil
	}
	r, err := w.transcript.Record(ctx, o.Session, o.Record)
	if o.Session != w.session.ID {
		r.In = o.Session
	}
	if !errors.Is(err, harness.ErrNotFound) {
		return r, err == nil, err
	}
	for o.Session != w.session.ID && !w.begun {
		if _, err := w.page(ctx, allPage); err != nil {
			return r, false, err
		}
		if r, ok := w.seen[o]; ok {
			return r, true, nil
		}
	}
	return r, false, nil
}

// sort puts records into the order of the conversation: what a fork has of those
// that it was forked from comes first.
func (w *walk) sort(ctx context.Context, records []harness.Record) error {
	foreign := map[harness.SessionID]bool{}
	for _, r := range records {
		if r.In != "" {
			foreign[r.In] = true
		}
	}
	rank := map[harness.SessionID]int{"": 1}
	for in := w.session; len(foreign) > 1 && in.Parent != nil && rank[in.Parent.Session] == 0; {
		rank[in.Parent.Session] = -len(rank)
		// The first record of a log goes on in the log that it was forked from.
		older, err := w.transcript.Before(ctx, w.session.ID, harness.Origin{Session: in.Parent.Session, Record: 1}, 1)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			return err
		}
		if len(older) == 0 || older[0].In == in.Parent.Session {
			break
		}
		in.Parent = &harness.Origin{Session: older[0].In}
	}
	slices.SortStableFunc(records, func(a, b harness.Record) int {
		return cmp.Or(cmp.Compare(rank[a.In], rank[b.In]), cmp.Compare(a.Seq, b.Seq))
	})
	return nil
}

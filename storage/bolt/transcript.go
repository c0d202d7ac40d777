package bolt

import (
	"context"
	"fmt"
	"slices"

	"cairn/harness"
)

var _ harness.Transcript = (*Transcript)(nil)

// Transcript reads and extends the conversations of a file.
type Transcript struct{ d *DB }

// Tail implements [harness.Transcript]. It steps from record to record by
// their numbers, so its cost is that of the records it returns. Where a fork
// begins it goes on in the parent.
func (v *Transcript) Tail(ctx context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error) {
	var records []harness.Record
	err := v.d.view(ctx, "read session "+string(id), func(t *tx) error {
		records = nil
		s, ok, err := t.find(id)
		if err != nil || !ok || s.info.Hidden {
			return err
		}
		if from == 0 {
			from = s.info.Head
		}
		records, err = s.branch(ctx, from, limit)
		return err
	})
	return records, err
}

// Before implements [harness.Transcript].
func (v *Transcript) Before(ctx context.Context, id harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	var records []harness.Record
	err := v.d.view(ctx, fmt.Sprintf("read session %s before record %d", id, of.Record), func(t *tx) error {
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if !ok || s.info.Hidden {
			return harness.ErrNotFound
		}
		if s, err = s.lineage(of.Session); err != nil {
			return err
		}
		r, err := s.record(of.Record)
		if err != nil {
			return err
		}
		records, err = s.branch(ctx, r.Prev, limit)
		for i := range records {
			if records[i].In == "" && s.info.ID != id {
				records[i].In = s.info.ID
			}
		}
		return err
	})
	return records, err
}

// Log implements [harness.Transcript].
func (v *Transcript) Log(ctx context.Context, id harness.SessionID, after, limit int) ([]harness.Record, error) {
	var records []harness.Record
	err := v.d.view(ctx, "read session "+string(id), func(t *tx) error {
		records = nil
		s, ok, err := t.find(id)
		if err != nil || !ok || s.info.Hidden {
			return err
		}
		records, err = s.log(ctx, after, limit)
		return err
	})
	return records, err
}

// log returns the records of this session alone with numbers above after.
func (s *session) log(ctx context.Context, after, limit int) ([]harness.Record, error) {
	log, err := s.conversation()
	if err != nil {
		return nil, err
	}
	var records []harness.Record
	for seq := max(after, 0) + 1; seq <= s.info.Records && (limit == 0 || len(records) < limit); seq++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, err := s.recordIn(log, seq)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// branch returns the last records of the branch that ends at record seq; 0 is
// the place before the first one.
func (s *session) branch(ctx context.Context, seq, limit int) ([]harness.Record, error) {
	room := limit
	if room == 0 {
		room = s.info.Records
	}
	records := make([]harness.Record, 0, min(room, s.info.Records))
	seen := map[harness.SessionID]bool{}
	own := s.info.ID
	for !seen[s.info.ID] {
		seen[s.info.ID] = true
		log, err := s.conversation()
		if err != nil {
			return nil, err
		}
		for seq != 0 && (limit == 0 || len(records) < limit) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r, err := s.recordIn(log, seq)
			if err != nil {
				return nil, err
			}
			if s.info.ID != own {
				r.In = s.info.ID
			}
			records = append(records, r)
			seq = r.Prev
		}
		parent := s.info.Parent
		if parent == nil || parent.Record == 0 || limit != 0 && len(records) == limit {
			break
		}
		up, ok, err := s.t.find(parent.Session)
		if err != nil {
			return nil, err
		}
		if !ok {
			break // imported from a store that had the parent
		}
		s, seq = up, parent.Record
	}
	slices.Reverse(records)
	return records, nil
}

// Record implements [harness.Transcript].
func (v *Transcript) Record(ctx context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	var r harness.Record
	err := v.d.view(ctx, fmt.Sprintf("read record %d of session %s", seq, id), func(t *tx) error {
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if !ok || s.info.Hidden {
			return harness.ErrNotFound
		}
		r, err = s.record(seq)
		return err
	})
	return r, err
}

// Append implements [harness.Transcript].
func (v *Transcript) Append(ctx context.Context, l harness.Lease, records ...harness.Record) ([]harness.Record, error) {
	return v.append(ctx, l, records, nil)
}

// append adds records, and in the same transaction what besides is called for
// each of them.
func (v *Transcript) append(
	ctx context.Context, l harness.Lease, records []harness.Record, besides func(*session, harness.Record) error,
) ([]harness.Record, error) {
	if len(records) == 0 {
		return nil, nil
	}
	op := "append to session " + string(l.Session)
	records, artifacts, err := recordsApart(records)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var added []harness.Record
	err = v.d.update(ctx, op, func(t *tx) error {
		s, err := t.writable(l)
		if err != nil {
			return err
		}
		if err := s.putArtifacts(artifacts); err != nil {
			return err
		}
		if added, err = s.addRecords(records); err != nil {
			return err
		}
		for i := 0; besides != nil && i < len(added); i++ {
			if err := besides(s, added[i]); err != nil {
				return err
			}
		}
		return s.written()
	})
	return added, err
}

// written lists the session as used and saves it.
func (s *session) written() error {
	if err := s.touch(); err != nil {
		return err
	}
	return s.save()
}

// MoveHead implements [harness.Transcript]. Record 0 is the place before the
// first record.
func (v *Transcript) MoveHead(ctx context.Context, l harness.Lease, seq int) error {
	return v.d.update(ctx, fmt.Sprintf("move session %s to record %d", l.Session, seq), func(t *tx) error {
		s, ok, err := t.find(l.Session)
		if err != nil {
			return err
		}
		if !ok {
			return harness.ErrNotFound
		}
		if err := s.writableBy(l); err != nil {
			return err
		}
		if seq < 0 || seq > s.info.Records {
			return harness.ErrNotFound
		}
		s.info.Head, s.info.Updated = seq, t.now
		return s.written()
	})
}

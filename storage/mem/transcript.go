package mem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Transcript = (*Transcript)(nil)

// Transcript reads and extends the conversations of a store.
type Transcript struct{ st *Store }

// Tail implements [harness.Transcript]. Where a fork begins it goes on in the
// parent.
func (v *Transcript) Tail(ctx context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	s := v.st.sessions[id]
	if s == nil {
		return nil, nil
	}
	if from < 0 || from > s.info.Records {
		return nil, fmt.Errorf("read session %s: record %d: %w", id, from, harness.ErrNotFound)
	}
	if from == 0 {
		from = s.info.Head
	}
	return clone(v.st.branch(s, id, from, limit))
}

// Before implements [harness.Transcript].
func (v *Transcript) Before(ctx context.Context, id harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	s := v.st.lineage(v.st.sessions[id], cmp.Or(of.Session, id))
	if s == nil || of.Record < 1 || of.Record > len(s.records) {
		return nil, fmt.Errorf("read session %s before record %d: %w", id, of.Record, harness.ErrNotFound)
	}
	return clone(v.st.branch(s, id, s.records[of.Record-1].Prev, limit))
}

// lineage returns the session of that id among s and those that it was forked
// from, or nil.
func (st *Store) lineage(s *session, id harness.SessionID) *session {
	seen := map[harness.SessionID]bool{}
	for s != nil && s.info.ID != id {
		if seen[s.info.ID] || s.info.Parent == nil {
			return nil
		}
		seen[s.info.ID] = true
		s = st.sessions[s.info.Parent.Session]
	}
	return s
}

// Log implements [harness.Transcript].
func (v *Transcript) Log(ctx context.Context, id harness.SessionID, after, limit int) ([]harness.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	s := v.st.sessions[id]
	if s == nil {
		return nil, nil
	}
	records := s.records[min(max(after, 0), len(s.records)):]
	if limit > 0 && len(records) > limit {
		records = records[:limit]
	}
	return clone(records)
}

// branch returns the last records of the branch that ends at a record of s and
// goes on in its parents, as session id has them.
func (st *Store) branch(s *session, id harness.SessionID, from, limit int) []harness.Record {
	var records []harness.Record
	seen := map[harness.SessionID]bool{}
	for s != nil && !seen[s.info.ID] {
		seen[s.info.ID] = true
		room := limit
		if limit > 0 {
			if room = limit - len(records); room == 0 {
				break
			}
		}
		part := s.branch(from, room)
		if s.info.ID != id {
			for i := range part {
				part[i].In = s.info.ID
			}
		}
		records = append(part, records...)
		if s.info.Parent == nil || s.info.Parent.Record == 0 {
			break
		}
		from = s.info.Parent.Record
		s = st.sessions[s.info.Parent.Session]
	}
	return records
}

// branch returns the last records of the branch that ends at record seq, of this
// session alone.
func (s *session) branch(seq, limit int) []harness.Record {
	var records []harness.Record
	for seq != 0 && (limit == 0 || len(records) < limit) {
		r := s.records[seq-1]
		records = append(records, r)
		seq = r.Prev
	}
	slices.Reverse(records)
	return records
}

// Record implements [harness.Transcript].
func (v *Transcript) Record(ctx context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	if err := ctx.Err(); err != nil {
		return harness.Record{}, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	s := v.st.sessions[id]
	if s == nil || seq < 1 || seq > len(s.records) {
		return harness.Record{}, fmt.Errorf("read record %d of session %s: %w", seq, id, harness.ErrNotFound)
	}
	return clone(s.records[seq-1])
}

// Append implements [harness.Transcript].
func (v *Transcript) Append(ctx context.Context, l harness.Lease, records ...harness.Record) ([]harness.Record, error) {
	if len(records) == 0 {
		return nil, nil
	}
	records, files, err := rules.RecordsApart(records)
	if err != nil {
		return nil, fmt.Errorf("append to session %s: %w", l.Session, err)
	}
	if records, err = clone(records); err != nil {
		return nil, err
	}
	var added []harness.Record
	err = v.st.change(ctx, "append to session "+string(l.Session), func() error {
		s, err := v.st.writable(l)
		if err != nil {
			return err
		}
		if err := v.st.keepArtifacts(s, files); err != nil {
			return err
		}
		for _, r := range records {
			added = append(added, rules.AddRecord(&s.info, r, v.st.now()))
		}
		s.records = append(s.records, added...)
		v.st.wrote(s)
		added, err = clone(added)
		return err
	})
	return added, err
}

// writable returns the session of a lease. One that is not stored yet is new
// and stays outside the store until wrote.
func (st *Store) writable(l harness.Lease) (*session, error) {
	if err := rules.CheckSessionID(l.Session); err != nil {
		return nil, err
	}
	o := st.owners[l.Session]
	if l.Generation == 0 || o == nil || o.generation != l.Generation {
		return nil, harness.ErrLost
	}
	if s := st.sessions[l.Session]; s != nil {
		return s, nil
	}
	return newSession(rules.NewSession(l, st.now())), nil
}

// wrote lists a session that was written to as used, and stores it if it is
// new.
func (st *Store) wrote(s *session) {
	if st.sessions[s.info.ID] == nil {
		st.add(s)
		s.draft = st.takeDraft(s.info.ID)
		return
	}
	st.used(s)
}

// MoveHead implements [harness.Transcript]. Record 0 is the place before the
// first record.
func (v *Transcript) MoveHead(ctx context.Context, l harness.Lease, seq int) error {
	return v.st.change(ctx, fmt.Sprintf("move session %s to record %d", l.Session, seq), func() error {
		s := v.st.sessions[l.Session]
		if s == nil {
			return harness.ErrNotFound
		}
		if _, err := v.st.writable(l); err != nil {
			return err
		}
		if seq < 0 || seq > len(s.records) {
			return harness.ErrNotFound
		}
		s.info.Head, s.info.Updated = seq, v.st.now()
		v.st.used(s)
		return nil
	})
}

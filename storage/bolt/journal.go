package bolt

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

var (
	_ run.Journal = (*Journal)(nil)
	_ run.Pruner  = (*Journal)(nil)
)

// Journal keeps the runs of a file, each within its session.
type Journal struct{ d *DB }

// Create implements [run.Journal]. The entry that is returned is the first one.
func (j *Journal) Create(ctx context.Context, l harness.Lease, r harness.Run, first run.Entry, closes ...run.Closing) (harness.Run, []run.Entry, error) {
	var made harness.Run
	var entries []run.Entry
	op := fmt.Sprintf("start run %s of session %s", r.ID, l.Session)
	firsts, artifacts, err := entriesApart([]run.Entry{first})
	if err != nil {
		return made, nil, fmt.Errorf("%s: %w", op, err)
	}
	closes, more, err := closingsApart(closes)
	if err != nil {
		return made, nil, fmt.Errorf("%s: %w", op, err)
	}
	err = j.d.update(ctx, op, func(t *tx) error {
		s, err := t.writable(l)
		if err != nil {
			return err
		}
		if before, err := s.requested(r.Request); err != nil {
			return err
		} else if before != nil {
			made, err = before.shown()
			return errors.Join(harness.ErrExists, err)
		}
		if err := s.putArtifacts(append(artifacts, more...)); err != nil {
			return err
		}
		for _, c := range closes {
			if _, err := s.appendRun(c.Run, c.After, c.Entries); err != nil {
				return err
			}
		}
		if err := s.blocked(); err != nil {
			return err
		}
		b, err := s.newRun(rules.NewRun(r, l.Session, t.now))
		if err != nil {
			return err
		}
		if entries, err = b.add(firsts); err != nil {
			return err
		}
		b.info.First = entries[0].Record
		if err := errors.Join(b.save(), s.written()); err != nil {
			return err
		}
		made, err = b.shown()
		return err
	})
	return made, entries, err
}

// blocked returns why the session takes no new run now.
func (s *session) blocked() error {
	if s.info.OpenRun == "" {
		return nil
	}
	open, err := s.run(s.info.OpenRun)
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", open.info.ID, rules.Blocks(open.info.Run))
}

// appendRun adds entries to a run of the session after entry number after. The
// caller saves the session.
func (s *session) appendRun(id harness.RunID, after int, entries []run.Entry) ([]run.Entry, error) {
	r, err := s.t.findRun(id)
	if err != nil {
		return nil, err
	}
	if r.s.info.ID != s.info.ID {
		return nil, fmt.Errorf("run %s of session %s: %w", id, s.info.ID, harness.ErrNotFound)
	}
	// Both must write to the one description that is saved in the end.
	r.s = s
	if r.info.Cursor != after {
		return nil, fmt.Errorf("run %s is at entry %d, not %d: %w", id, r.info.Cursor, after, harness.ErrStale)
	}
	added, err := r.add(entries)
	if err != nil {
		return nil, err
	}
	return added, r.save()
}

// Append implements [run.Journal].
func (j *Journal) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	op := "append to run " + string(id)
	entries, artifacts, err := entriesApart(entries)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var added []run.Entry
	err = j.d.update(ctx, op, func(t *tx) error {
		s, err := t.writableRun(l)
		if err != nil {
			return err
		}
		if err := s.putArtifacts(artifacts); err != nil {
			return err
		}
		if added, err = s.appendRun(id, after, entries); err != nil || len(entries) == 0 {
			return err
		}
		return s.written()
	})
	return added, err
}

// writableRun returns the session of a lease that has runs and so is stored.
func (t *tx) writableRun(l harness.Lease) (*session, error) {
	s, ok, err := t.find(l.Session)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, harness.ErrNotFound
	}
	return s, s.writableBy(l)
}

// SavePartial implements [run.Journal]. A run that has ended takes none.
func (j *Journal) SavePartial(ctx context.Context, l harness.Lease, id harness.RunID, p harness.Partial) error {
	return j.d.update(ctx, "save the text of run "+string(id), func(t *tx) error {
		s, err := t.writableRun(l)
		if err != nil {
			return err
		}
		r, err := t.findRun(id)
		if err != nil {
			return err
		}
		if r.s.info.ID != s.info.ID {
			return harness.ErrNotFound
		}
		if r.info.Status.Closed() {
			return fmt.Errorf("the run has ended: %w", harness.ErrStale)
		}
		if p.At.IsZero() {
			p.At = t.now
		}
		if !r.info.Streaming {
			r.info.Streaming = true
			if err := r.putInfo(); err != nil {
				return err
			}
		}
		return r.put(keyPartial, p)
	})
}

package bolt

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Owners = (*Owners)(nil)

// Owners gives the sessions of a file to one writer at a time. The owner of a
// session that is not stored yet is known by its lock file alone.
type Owners struct{ d *DB }

// shownAtOnce is how many records a window reads when it opens a session.
const shownAtOnce = 200

// wish is the value of asks/<session>.
type wish struct {
	Holder harness.Holder `json:"holder"`
	// Generation is that of the owner who is asked.
	Generation int `json:"generation"`
}

// Acquire implements [harness.Owners].
func (v *Owners) Acquire(ctx context.Context, meta harness.Session, h harness.Holder) (harness.Lease, error) {
	return v.take(ctx, "open session "+string(meta.ID), meta, h, false)
}

// Force implements [harness.Owners].
func (v *Owners) Force(ctx context.Context, meta harness.Session, h harness.Holder) (harness.Lease, error) {
	return v.take(ctx, "take over session "+string(meta.ID), meta, h, true)
}

func (v *Owners) take(ctx context.Context, op string, meta harness.Session, h harness.Holder, force bool) (harness.Lease, error) {
	h = v.d.fill(h)
	lease := harness.Lease{Session: meta.ID, Holder: h, Meta: meta}
	if err := rules.CheckSessionID(meta.ID); err != nil {
		return harness.Lease{}, fmt.Errorf("%s: %w", op, err)
	}
	err := v.d.update(ctx, op, func(t *tx) error {
		s, err := t.takeable(ctx, meta.ID, force)
		if err != nil {
			return err
		}
		// Lock files can be ahead of a database that was restored.
		newest, err := t.lastGeneration(meta.ID)
		if err != nil {
			return err
		}
		lease.Generation = newest + 1
		if s != nil {
			lease.Generation = max(s.info.Generation, newest) + 1
		}
		if err := t.takeOwnership(leaseKey{meta.ID, lease.Generation}, h); err != nil {
			return err
		}
		t.done = append(t.done, func() { t.dropOlder(meta.ID, lease.Generation) })
		if err := t.dropWish(meta.ID); err != nil || s == nil {
			return err
		}
		s.info.Generation = lease.Generation
		return s.save()
	})
	if err != nil {
		return harness.Lease{}, err
	}
	return lease, nil
}

// takeable returns a session that may be taken, nil if it is not stored yet.
func (t *tx) takeable(ctx context.Context, id harness.SessionID, force bool) (*session, error) {
	s, stored, err := t.find(id)
	if err != nil {
		return nil, err
	}
	if stored && s.info.Deleted != nil {
		return nil, fmt.Errorf("%w in the trash; restore it, or use another id", harness.ErrExists)
	}
	last, err := t.generation(id, s)
	if err != nil {
		return nil, err
	}
	if holder, alive, err := t.owner(id, last); err != nil {
		return nil, err
	} else if alive && !force {
		return nil, &harness.HeldError{Session: id, Holder: holder}
	}
	if !stored {
		return nil, nil
	}
	// Taking the session writes. Whoever could not show it then would have
	// changed a damaged file for nothing.
	return s, s.readShown(ctx)
}

// readShown reads what is looked at first in a session: its last records, its
// draft, which runs it has, and its last and its unfinished ones with what they
// streamed.
func (s *session) readShown(ctx context.Context) error {
	if _, err := s.branch(ctx, s.info.Head, shownAtOnce); err != nil {
		return err
	}
	if _, err := s.draft(); err != nil {
		return err
	}
	// The next run is filed among these.
	if _, err := s.runIDs(); err != nil {
		return err
	}
	if s.info.LastRun != "" {
		if _, err := s.run(s.info.LastRun); err != nil {
			return err
		}
	}
	refs, err := s.t.runRefs(harness.RunFilter{Session: s.info.ID, Unfinished: true})
	if err != nil {
		return err
	}
	for _, ref := range refs {
		r, err := s.run(ref.id)
		if err != nil {
			return err
		}
		if _, err := r.shown(); err != nil {
			return err
		}
		if _, err := r.entries(0); err != nil {
			return err
		}
	}
	return nil
}

// fill adds to a holder what only this process knows.
func (d *DB) fill(h harness.Holder) harness.Holder {
	if h.PID == 0 {
		h.PID = d.self.PID
	}
	if h.Host == "" {
		h.Host = d.self.Host
	}
	if h.Terminal == "" {
		h.Terminal = d.self.Terminal
	}
	if h.Purpose == "" {
		h.Purpose = d.self.Purpose
	}
	if h.Since.IsZero() {
		h.Since = d.now()
	}
	return h
}

// generation returns the present generation of a session; s is nil if it is not
// stored.
func (t *tx) generation(id harness.SessionID, s *session) (int, error) {
	last, err := t.lastGeneration(id)
	if s != nil {
		// Lock files of a lost store do not count.
		return s.info.Generation, err
	}
	return last, err
}

// Ask implements [harness.Owners].
func (v *Owners) Ask(ctx context.Context, id harness.SessionID, h harness.Holder) error {
	h = v.d.fill(h)
	return v.d.update(ctx, "ask for session "+string(id), func(t *tx) error {
		if err := rules.CheckSessionID(id); err != nil {
			return err
		}
		s, _, err := t.find(id)
		if err != nil {
			return err
		}
		generation, err := t.generation(id, s)
		if err != nil {
			return err
		}
		asks, err := t.root("asks")
		if err != nil {
			return err
		}
		return asks.put([]byte(id), wish{h, generation})
	})
}

// Asked implements [harness.Owners].
func (v *Owners) Asked(ctx context.Context, l harness.Lease) (harness.Holder, bool, error) {
	var w wish
	var asked bool
	err := v.d.view(ctx, "look who wants session "+string(l.Session), func(t *tx) error {
		s, _, err := t.find(l.Session)
		if err != nil {
			return err
		}
		generation, err := t.generation(l.Session, s)
		if err != nil {
			return err
		}
		if generation != l.Generation {
			return harness.ErrLost
		}
		asks, err := t.root("asks")
		if err != nil {
			return err
		}
		asked, err = asks.get([]byte(l.Session), &w)
		asked = asked && w.Generation == l.Generation
		return err
	})
	if err != nil || !asked {
		return harness.Holder{}, false, err
	}
	return w.Holder, true, nil
}

// Release implements [harness.Owners].
func (v *Owners) Release(ctx context.Context, l harness.Lease) error {
	return v.d.update(ctx, "give back session "+string(l.Session), func(t *tx) error {
		_, stored, err := t.find(l.Session)
		if err != nil {
			return err
		}
		t.done = append(t.done, func() {
			v.d.dropOwnership(leaseKey{l.Session, l.Generation}, stored || l.Generation == 1)
		})
		asks, err := t.root("asks")
		if err != nil {
			return err
		}
		var w wish
		if ok, err := asks.get([]byte(l.Session), &w); err != nil || !ok || w.Generation != l.Generation {
			return err
		}
		return t.dropWish(l.Session)
	})
}

func (t *tx) dropWish(id harness.SessionID) error {
	asks, err := t.root("asks")
	if err != nil || !asks.has([]byte(id)) {
		return err
	}
	return asks.del([]byte(id))
}

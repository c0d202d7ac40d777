package bolt

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Sessions = (*Sessions)(nil)

// Sessions finds and describes the conversations of a file.
type Sessions struct{ d *DB }

// Get implements [harness.Sessions].
func (v *Sessions) Get(ctx context.Context, id harness.SessionID) (harness.Session, error) {
	var got harness.Session
	err := v.d.view(ctx, "read session "+string(id), func(t *tx) error {
		s, err := t.present(id)
		if err != nil {
			return err
		}
		got, err = s.shown()
		return err
	})
	return got, err
}

// present returns a session that is not deleted.
func (t *tx) present(id harness.SessionID) (*session, error) {
	s, ok, err := t.find(id)
	if err != nil {
		return nil, err
	}
	if !ok || s.info.Deleted != nil {
		return nil, harness.ErrNotFound
	}
	return s, nil
}

// shown returns the session as lists show it.
func (s *session) shown() (harness.Session, error) {
	out := s.info.Session
	out.HasDraft = s.info.Draft
	holder, alive, err := s.t.owner(out.ID, out.Generation)
	if alive {
		out.Owner = &holder
	}
	return out, err
}

// List implements [harness.Sessions].
func (v *Sessions) List(ctx context.Context, f harness.SessionFilter) ([]harness.Session, error) {
	var list []harness.Session
	err := v.d.view(ctx, "list sessions", func(t *tx) error {
		list = nil
		var err error
		if f.Deleted {
			list, err = t.listTrash(ctx, f)
		} else {
			list, err = t.listRecent(ctx, f)
		}
		return err
	})
	return list, err
}

func (t *tx) listRecent(ctx context.Context, f harness.SessionFilter) ([]harness.Session, error) {
	recent, err := t.root("recent")
	if err != nil {
		return nil, err
	}
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	l := lister{t: t, f: f, match: rules.MatchSession(f)}
	err = recent.backwards(func(key, value []byte) (bool, error) {
		if len(key) <= 8 {
			return false, t.d.damaged(place("recent", key), "the key is too short")
		}
		if err := recent.decode(key, value, &listed{}); err != nil {
			return false, err
		}
		l.seen++
		return l.add(ctx, harness.SessionID(key[8:]), func(s *session) bool {
			return s.info.Deleted == nil && string(s.recentKey()) == string(key)
		})
	})
	if err == nil && !l.full && l.seen != c.Sessions-c.Trashed {
		err = t.d.damaged("recent", fmt.Sprintf("it lists %d sessions of %d", l.seen, c.Sessions-c.Trashed))
	}
	return l.list, err
}

func (t *tx) listTrash(ctx context.Context, f harness.SessionFilter) ([]harness.Session, error) {
	trash, err := t.root("trash")
	if err != nil {
		return nil, err
	}
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	l := lister{t: t, f: f, match: rules.MatchSession(f)}
	if kind, ok := trash.sub(trashSessions); ok {
		err = kind.backwards(func(key, value []byte) (bool, error) {
			if len(key) <= 8 {
				return false, t.d.damaged(place(kind.path, key), "the key is too short")
			}
			if err := kind.decode(key, value, &listed{}); err != nil {
				return false, err
			}
			l.seen++
			return l.add(ctx, harness.SessionID(key[8:]), func(s *session) bool {
				return s.info.Deleted != nil && string(s.trashKey()) == string(key)
			})
		})
	}
	if err == nil && !l.full && l.seen != c.Trashed {
		err = t.d.damaged("trash", fmt.Sprintf("it lists %d sessions of %d", l.seen, c.Trashed))
	}
	return l.list, err
}

// lister collects the sessions of a list.
type lister struct {
	t     *tx
	f     harness.SessionFilter
	match func(harness.Session) bool
	list  []harness.Session
	seen  int
	full  bool
}

// add reads the session id and keeps it if it matches. right tells whether the
// info belongs to the key that led to it.
func (l *lister) add(ctx context.Context, id harness.SessionID, right func(*session) bool) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	sessions, err := l.t.root("sessions")
	if err != nil {
		return false, err
	}
	b, err := sessions.must(string(id))
	if err != nil {
		return false, err
	}
	s := &session{bucket: b}
	if err := s.load(); err != nil {
		return false, err
	}
	if s.info.ID != id || !right(s) {
		return false, l.t.d.damaged(b.path, "the session is not the one listed")
	}
	if !l.match(s.info.Session) {
		return true, nil
	}
	shown, err := s.shown()
	if err != nil {
		return false, err
	}
	l.list = append(l.list, shown)
	l.full = len(l.list) == l.f.Limit
	return !l.full, nil
}

// Edit implements [harness.Sessions].
func (v *Sessions) Edit(ctx context.Context, id harness.SessionID, e harness.SessionEdit) (harness.Session, error) {
	var got harness.Session
	err := v.d.update(ctx, "edit session "+string(id), func(t *tx) error {
		s, err := t.present(id)
		if err != nil {
			return err
		}
		recent, err := t.root("recent")
		if err != nil {
			return err
		}
		was := s.recentKey()
		rules.EditSession(&s.info.Session, e)
		if now := s.recentKey(); string(now) != string(was) {
			if err := recent.del(was); err != nil {
				return err
			}
			if err := recent.put(now, listed{}); err != nil {
				return err
			}
		}
		if err := s.save(); err != nil {
			return err
		}
		got, err = s.shown()
		return err
	})
	return got, err
}

// Delete implements [harness.Sessions].
func (v *Sessions) Delete(ctx context.Context, id harness.SessionID) error {
	return v.d.update(ctx, "delete session "+string(id), func(t *tx) error {
		s, err := t.present(id)
		if err != nil {
			return err
		}
		recent, err := t.root("recent")
		if err != nil {
			return err
		}
		if err := recent.del(s.recentKey()); err != nil {
			return err
		}
		now := t.now
		s.info.Deleted = &now
		return s.moveTrash(+1)
	})
}

// Restore implements [harness.Sessions].
func (v *Sessions) Restore(ctx context.Context, id harness.SessionID) error {
	return v.d.update(ctx, "restore session "+string(id), func(t *tx) error {
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if !ok || s.info.Hidden {
			return harness.ErrNotFound
		}
		if s.info.Deleted == nil {
			return nil
		}
		recent, err := t.root("recent")
		if err != nil {
			return err
		}
		if err := recent.put(s.recentKey(), listed{}); err != nil {
			return err
		}
		return s.moveTrash(-1)
	})
}

// moveTrash puts the session into the trash (+1) or takes it out (-1).
func (s *session) moveTrash(by int) error {
	trash, err := s.t.root("trash")
	if err != nil {
		return err
	}
	kind, err := trash.make(trashSessions)
	if err != nil {
		return err
	}
	c, err := s.t.counters()
	if err != nil {
		return err
	}
	c.Trashed += by
	if by > 0 {
		err = kind.put(s.trashKey(), listed{})
	} else {
		err = kind.del(s.trashKey())
		s.info.Deleted = nil
	}
	if err != nil {
		return err
	}
	return s.save()
}

package bolt

import (
	"context"
	"fmt"
	"slices"

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
	return t.listKeys(ctx, f, recent, c.Sessions-c.Trashed, func(s *session) []byte {
		if s.info.Deleted != nil {
			return nil
		}
		return s.recentKey()
	})
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
	kind, ok := trash.sub(trashSessions)
	if !ok {
		if c.Trashed > 0 {
			return nil, t.d.damaged(kind.path, "the bucket is missing")
		}
		return nil, nil
	}
	return t.listKeys(ctx, f, kind, c.Trashed, func(s *session) []byte {
		if s.info.Deleted == nil {
			return nil
		}
		return s.trashKey()
	})
}

// listKeys lists the sessions that the keys of an index name, the last one
// first. keyOf returns the key that a session should have in the index.
func (t *tx) listKeys(ctx context.Context, f harness.SessionFilter, index bucket, want int, keyOf func(*session) []byte) ([]harness.Session, error) {
	keys, err := index.keys(want)
	if err != nil {
		return nil, err
	}
	sessions, err := t.root("sessions")
	if err != nil {
		return nil, err
	}
	match := rules.MatchSession(f)
	var list []harness.Session
	for _, key := range slices.Backward(keys) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b, err := sessions.must(key[8:])
		if err != nil {
			return nil, err
		}
		s := &session{bucket: b}
		if err := s.load(); err != nil {
			return nil, err
		}
		if string(keyOf(s)) != key {
			return nil, t.d.damaged(b.path, "the session is not the one listed")
		}
		if !match(s.info.Session) {
			continue
		}
		shown, err := s.shown()
		if err != nil {
			return nil, err
		}
		if list = append(list, shown); len(list) == f.Limit {
			break
		}
	}
	return list, nil
}

// keys returns all keys of an index in which a number of eight bytes comes
// before an id. That all are looked at, also where few are wanted, shows that
// none has vanished or changed its place.
func (b bucket) keys(want int) ([]string, error) {
	keys := make([]string, 0, want)
	err := b.each(nil, func(key, value []byte) (bool, error) {
		if len(key) <= 8 {
			return false, b.t.d.damaged(place(b.path, key), "the key is too short")
		}
		keys = append(keys, string(key))
		return true, b.verify(key, value)
	})
	if err == nil && len(keys) != want {
		err = b.t.d.damaged(b.path, fmt.Sprintf("it lists %d sessions of %d", len(keys), want))
	}
	return keys, err
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

package bolt

import (
	"context"
	"time"

	"cairn/harness"
)

// moveOut files the items of a session in no session.
func moveOut[T any](v shelf[T], s *session, source func(*T) *harness.Source) error {
	b, ok := s.sub(v.name)
	if !ok {
		return nil
	}
	sessions, err := s.t.root("sessions")
	if err != nil {
		return err
	}
	nowhere, err := sessions.must(string(harness.NoSession))
	if err != nil {
		return err
	}
	var ids []string
	err = b.each(nil, func(key, _ []byte) (bool, error) {
		ids = append(ids, string(key))
		return true, nil
	})
	for _, id := range ids {
		if err == nil {
			err = v.moveItem(s, nowhere, id, source)
		}
	}
	return err
}

// moveItem files an item and its older revisions elsewhere.
func (v shelf[T]) moveItem(s *session, to bucket, id string, source func(*T) *harness.Source) error {
	f, err := v.find(s.t, id)
	if err != nil {
		return err
	}
	leave := func(item *T) {
		*v.kind.Common(item).Session = ""
		if from := source(item); from.Session == s.info.ID {
			from.Gone = true
		}
	}
	older, err := v.olderRevisions(f)
	if err != nil {
		return err
	}
	if err := v.drop(f); err != nil {
		return err
	}
	f.home = to
	for i := range older {
		leave(&older[i])
		if err := v.putRevision(f, i+1, older[i]); err != nil {
			return err
		}
	}
	leave(&f.Item)
	return v.rewrite(s.t, f)
}

// drop removes the stored item and its revisions from its bucket.
func (v shelf[T]) drop(f *filed[T]) error {
	b, err := f.home.must(v.name)
	if err != nil {
		return err
	}
	if err := b.del([]byte(f.id)); err != nil {
		return err
	}
	all, ok := f.home.sub("revisions")
	if !ok {
		return nil
	}
	if _, ok := all.sub(f.id); !ok {
		return nil
	}
	return all.drop(f.id)
}

// purgeSlice is how many items one transaction of a purge removes.
const purgeSlice = 50

// purge removes the items that were forgotten before a time, some in each
// transaction. Their ids stay taken.
func (v shelf[T]) purge(ctx context.Context, before time.Time) (int, error) {
	all := 0
	for {
		n := 0
		err := v.d.update(ctx, "purge "+v.name, func(t *tx) error {
			trash, err := t.root("trash")
			if err != nil {
				return err
			}
			kind, ok := trash.sub(v.kind.Name)
			if !ok {
				return nil
			}
			ids, err := forgotten(kind, before, purgeSlice)
			for _, id := range ids {
				if err == nil {
					err = v.purgeItem(t, kind, id)
				}
			}
			n = len(ids)
			return err
		})
		if err != nil {
			return all, err
		}
		if all += n; n < purgeSlice {
			return all, nil
		}
	}
}

// forgotten returns the first ids in a list of the trash, up to a limit, that
// went there before a time.
func forgotten(list bucket, before time.Time, limit int) ([]string, error) {
	var ids []string
	err := list.each(nil, func(key, _ []byte) (bool, error) {
		at, ok := numberOf(key[:min(8, len(key))])
		if !ok || int64(at) >= before.UnixNano() {
			// The list is in the order of time.
			return !ok, nil
		}
		ids = append(ids, string(key[8:]))
		return len(ids) < limit, nil
	})
	return ids, err
}

func (v shelf[T]) purgeItem(t *tx, trash bucket, id string) error {
	f, err := v.find(t, id)
	if err != nil {
		return err
	}
	if err := trash.del(f.trashKey()); err != nil {
		return err
	}
	if err := v.drop(f); err != nil {
		return err
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	*v.count(c)--
	if err := t.forgetItemVectors(id); err != nil {
		return err
	}
	where, err := t.root("where")
	if err != nil {
		return err
	}
	return where.put([]byte(id), itemPlace{Gone: true})
}

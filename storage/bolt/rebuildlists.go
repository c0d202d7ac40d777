package bolt

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"

	"go.etcd.io/bbolt"

	"cairn/harness"
)

// flat is a bucket with those in it: the values by their places.
type flat map[string][]byte

// oldLists is what can be read of the lists of a file.
type oldLists struct {
	// lists lacks those that are not readable, counters is nil if they are not.
	lists    map[string]flat
	counters *counters
}

func flatten(b *bbolt.Bucket, prefix string, into flat) error {
	return b.ForEach(func(key, value []byte) error {
		if value == nil {
			return flatten(b.Bucket(key), prefix+string(key)+"/", into)
		}
		into[prefix+string(key)] = bytes.Clone(value)
		return nil
	})
}

// oldLists reads all lists; those that are not readable are left out.
func (d *DB) oldLists(ctx context.Context) (*oldLists, error) {
	old := &oldLists{lists: map[string]flat{}}
	for _, name := range listNames() {
		all := flat{}
		err := d.view(ctx, "read "+name, func(t *tx) error {
			b, err := t.root(name)
			if err != nil {
				return err
			}
			return flatten(b.b, "", all)
		})
		if err == nil {
			old.lists[name] = all
		} else if err := d.passDamage(err); err != nil {
			return nil, err
		}
	}
	err := d.view(ctx, "read the counters", func(t *tx) (err error) {
		old.counters, err = t.counters()
		return err
	})
	return old, d.passDamage(err)
}

// passDamage takes damage of what is made anew for no error.
func (d *DB) passDamage(err error) error {
	if !errors.Is(err, harness.ErrDamaged) {
		return err
	}
	d.log.Warn("a list is not readable", slog.Any("error", err))
	return d.reopenOld()
}

// lister makes the lists of a file that has none.
type lister struct {
	old *oldLists
	// now are the new counters.
	now counters
	// newest is the order of the session that was used last.
	newest uint64
}

// run makes all lists.
func (l *lister) run(ctx context.Context, t *tx) error {
	l.now = counters{FirstPrompt: 1}
	if c := l.old.counters; c != nil {
		// What is counted up by use is not counted again.
		l.now = *c
		l.now.Sessions, l.now.Trashed, l.now.Runs, l.now.Unfinished, l.now.Facts, l.now.Notes, l.now.Drafts, l.now.Usages = 0, 0, 0, 0, 0, 0, 0, 0
	}
	sessions, err := t.root("sessions")
	if err != nil {
		return err
	}
	err = sessions.each(nil, func(key, _ []byte) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		b, err := sessions.must(string(key))
		if err != nil {
			return false, err
		}
		return true, l.session(t, b, harness.SessionID(key))
	})
	if err == nil {
		err = l.gone(t)
	}
	if err == nil {
		err = l.countRest(t)
	}
	if err != nil {
		return err
	}
	c, err := t.counters()
	if err == nil {
		*c = l.now
	}
	return err
}

// session lists a session and what is in it.
func (l *lister) session(t *tx, b bucket, id harness.SessionID) error {
	if err := listItems(l, t, t.d.Facts().v, b, id); err != nil {
		return err
	}
	if err := listItems(l, t, t.d.Notes().v, b, id); err != nil || id == harness.NoSession {
		return err
	}
	s := &session{bucket: b}
	if err := s.load(); err != nil {
		return err
	}
	if s.info.ID != id {
		return t.d.damaged(place(b.path, keyInfo), "it is another session's")
	}
	where, err := t.root("where")
	if err != nil {
		return err
	}
	if err := where.put(whereSession(id), id); err != nil {
		return err
	}
	if err := l.place(s); err != nil {
		return err
	}
	return l.runs(s, where)
}

// place puts a session into the list that it belongs in.
func (l *lister) place(s *session) error {
	if s.info.Hidden {
		return nil
	}
	l.now.Sessions++
	if s.info.Order > l.newest {
		l.newest = s.info.Order
		if l.old.counters == nil {
			l.now.LastUsed = s.info.ID
		}
	}
	l.now.LastOrder = max(l.now.LastOrder, s.info.Order)
	if s.info.Deleted == nil {
		recent, err := s.t.root("recent")
		if err != nil {
			return err
		}
		return recent.put(s.recentKey(), listed{})
	}
	l.now.Trashed++
	trash, err := s.t.root("trash")
	if err != nil {
		return err
	}
	kind, err := trash.make(trashSessions)
	if err != nil {
		return err
	}
	return kind.put(s.trashKey(), listed{})
}

// runs lists the runs of a session.
func (l *lister) runs(s *session, where bucket) error {
	unfinished, err := s.t.root("unfinished")
	if err != nil {
		return err
	}
	runs, err := s.must("runs")
	if err != nil {
		return err
	}
	return runs.each(nil, func(key, _ []byte) (bool, error) {
		r, err := s.run(harness.RunID(key))
		if err != nil {
			return false, err
		}
		l.now.Runs++
		l.now.LastRun = max(l.now.LastRun, r.info.Number)
		if err := where.put(whereRun(r.info.ID), runPlace{s.info.ID, r.info.Number}); err != nil {
			return false, err
		}
		if r.info.Status.Closed() {
			return true, nil
		}
		l.now.Unfinished++
		return true, unfinished.put(key, s.info.ID)
	})
}

// listItems lists the facts or notes in a session's bucket.
func listItems[T any](l *lister, t *tx, v shelf[T], home bucket, at harness.SessionID) error {
	b, ok := home.sub(v.name)
	if !ok {
		return nil
	}
	where, err := t.root("where")
	if err != nil {
		return err
	}
	return b.each(nil, func(key, value []byte) (bool, error) {
		f := &filed[T]{home: home, id: string(key)}
		if err := b.decode(key, value, &f.shelved); err != nil {
			return false, err
		}
		c := v.common(f)
		if *c.ID != f.id || !v.isID(f.id) || where.has(key) {
			return false, t.d.damaged(place(b.path, key), "it is another "+v.kind.Name)
		}
		n, _ := strconv.Atoi(f.id[1:])
		*v.count(&l.now)++
		*v.last(&l.now) = max(*v.last(&l.now), n)
		l.now.LastChange = max(l.now.LastChange, f.Changed)
		if err := where.put(key, itemPlace{Session: at, Version: f.Version, Pin: pinOf(*c.Pinned)}); err != nil {
			return false, err
		}
		if *c.State == harness.StateTrashed {
			return true, v.moveTrashTo(t, f)
		}
		return true, v.index(t, f)
	})
}

// moveTrashTo lists a forgotten item in the trash.
func (v shelf[T]) moveTrashTo(t *tx, f *filed[T]) error {
	trash, err := t.root("trash")
	if err != nil {
		return err
	}
	kind, err := trash.make(v.kind.Name)
	if err != nil {
		return err
	}
	return kind.put(f.trashKey(), listed{})
}

// gone marks the ids of facts and notes that were given out and are not there.
func (l *lister) gone(t *tx) error {
	where, err := t.root("where")
	if err != nil {
		return err
	}
	for key := range l.old.lists["where"] {
		n, err := strconv.Atoi(key[1:])
		switch {
		case err != nil:
		case key[0] == 'f':
			l.now.LastFact = max(l.now.LastFact, n)
		case key[0] == 'n':
			l.now.LastNote = max(l.now.LastNote, n)
		}
	}
	for prefix, last := range map[string]int{"f": l.now.LastFact, "n": l.now.LastNote} {
		for n := 1; n <= last; n++ {
			key := []byte(prefix + strconv.Itoa(n))
			if where.has(key) {
				continue
			}
			if err := where.put(key, itemPlace{Gone: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// countRest counts what is in no list.
func (l *lister) countRest(t *tx) error {
	count := func(name string, n, last *int) error {
		b, err := t.root(name)
		if err != nil {
			return err
		}
		return b.each(nil, func(key, value []byte) (bool, error) {
			if value == nil {
				*n += b.b.Bucket(key).Stats().KeyN
				return true, nil
			}
			*n++
			if k, ok := numberOf(key); ok && last != nil {
				*last = max(*last, k)
			}
			return true, nil
		})
	}
	prompts := 0
	err := errors.Join(
		count("drafts", &l.now.Drafts, &l.now.LastDraft), count("usage", &l.now.Usages, nil), count("prompts", &prompts, &l.now.LastPrompt),
	)
	if err != nil {
		return err
	}
	l.now.FirstPrompt = l.now.LastPrompt - prompts + 1
	l.countHolds(t)
	return errors.Join(l.countLimits(t), l.countBooks(t))
}

// countHolds counts what is held, unless an older cairn left the number out.
func (l *lister) countHolds(t *tx) {
	l.now.Holds = 0
	if b := t.b.Bucket([]byte(spendingName)); b != nil && (l.old.counters == nil || l.old.counters.Holds != 0) {
		l.now.Holds = b.Stats().KeyN
	}
}

// countLimits counts the models of which something was learned, unless an older
// cairn left their number out.
func (l *lister) countLimits(t *tx) error {
	limits, err := t.root("limits")
	if err != nil {
		return err
	}
	n, err := limits.models()
	if c := l.old.counters; c == nil || c.Limits != 0 {
		l.now.Limits = n
	}
	return err
}

// countBooks takes over what the books of grants and suggestions say.
func (l *lister) countBooks(t *tx) error {
	var grants grantBook
	var inbox inboxBook
	for name, into := range map[string]any{"grants": &grants, "inbox": &inbox} {
		b, err := t.root(name)
		if err != nil {
			return err
		}
		if _, err := b.get(keyBook, into); err != nil {
			return err
		}
	}
	// An older cairn leaves 0 there, which says nothing.
	if c := l.old.counters; c == nil || c.Grants != 0 {
		l.now.Grants = grants.Writes
	}
	if c := l.old.counters; c == nil || c.Inbox != 0 {
		l.now.Inbox = inbox.Writes
	}
	return nil
}

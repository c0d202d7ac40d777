package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

// SetSchema makes the file one of another version.
func (d *DB) SetSchema(ctx context.Context, n int) error {
	return d.update(ctx, "set the schema", func(t *tx) error {
		meta, err := t.root("meta")
		if err != nil {
			return err
		}
		return meta.put(keyFormat, format{Schema: n, MinReader: n})
	})
}

// Step is a migration for a test; it may do as it likes with the file at hand.
type Step func(ctx context.Context, d *DB) error

// withSteps are the steps of a program to come.
func withSteps(later []Step) []step {
	all := steps()
	for _, apply := range later {
		all = append(all, step{reader: firstSchema + len(all) + 1, apply: apply})
	}
	return all
}

// OpenAsFirst opens a database as the first cairn does, which knows of no steps.
func OpenAsFirst(path string) (*DB, error) {
	return openExisting(context.Background(), path, Options{}, func(d *DB) { d.steps = nil })
}

// OpenWith opens a database as a program to come would.
func OpenWith(path string, o Options, all ...Step) (*DB, error) {
	return openExisting(context.Background(), path, o, func(d *DB) { d.steps = withSteps(all) })
}

// MigrateWith migrates a database as a program to come would.
func MigrateWith(ctx context.Context, path string, o Options, all ...Step) (Migration, error) {
	return migrateWith(ctx, path, o, withSteps(all))
}

// Migrated is what opening the database has brought to another schema.
func (d *DB) Migrated() *Migration { return d.migrated }

// Schema is that of the file.
func (d *DB) Schema(ctx context.Context) (n int, err error) {
	s, err := d.Stats(ctx)
	return s.Schema, err
}

// Retag changes the title of every session, as a step could, and returns how
// many there are.
func (d *DB) Retag(ctx context.Context, title string) (n int, err error) {
	err = d.update(ctx, "retag", func(t *tx) error {
		sessions, err := t.root("sessions")
		if err != nil {
			return err
		}
		var all []*session
		err = sessions.each(nil, func(key, _ []byte) (bool, error) {
			if harness.SessionID(key) == harness.NoSession {
				return true, nil
			}
			b, err := sessions.must(string(key))
			if err != nil {
				return false, err
			}
			s := &session{bucket: b}
			all = append(all, s)
			return true, s.load()
		})
		for _, s := range all {
			if err == nil {
				s.info.Title = title
				err = s.save()
			}
		}
		n = len(all)
		return err
	})
	return n, err
}

// HoldLock takes the lock in front of a database and returns what gives it back.
func HoldLock(path string, h harness.Holder) (release func() error, err error) {
	l, err := takeLock(context.Background(), path, h, time.Now)
	if err != nil {
		return nil, err
	}
	return l.release, nil
}

// LockWait is how long a process waits for one that shows no progress.
const LockWait = lockWait

// WorkFor announces work that takes a time.
func (d *DB) WorkFor(ctx context.Context, long time.Duration, began func()) error {
	return d.exclusive(ctx, "test", func() error {
		began()
		select {
		case <-ctx.Done():
		case <-time.After(long):
		}
		return context.Cause(ctx)
	})
}

// FailToWrite is what a caller gets when a commit fails with an error.
func (d *DB) FailToWrite(ctx context.Context, failure error) error {
	return d.update(ctx, "save", func(*tx) error { return d.unwritten(failure) })
}

// DamageBefore fails as on a page that is damaged, before anything was looked up.
func (d *DB) DamageBefore(ctx context.Context) error {
	return d.view(ctx, "read", func(*tx) error { panic("assertion failed: Page expected to be: 34, but self identifies as 0") })
}

// ReplaceAfter puts a file in the place of the database, unless something that is
// done between the decision and the deed has written.
func (d *DB) ReplaceAfter(ctx context.Context, fresh string, between func()) error {
	since, err := d.moment(ctx)
	if err != nil {
		return err
	}
	between()
	return d.exclusive(ctx, "test", func() error { return d.replaceUnchanged(ctx, fresh, since) })
}

// Vanish removes a number from the bucket at a path, as damage would.
func (d *DB) Vanish(ctx context.Context, n int, path ...string) error {
	return d.update(ctx, "vanish", func(t *tx) error {
		b, err := t.root(path[0])
		for _, name := range path[1:] {
			if err == nil {
				b, err = b.must(name)
			}
		}
		if err != nil {
			return err
		}
		return b.del(number(n))
	})
}

// WithoutGrants writes the counters as a cairn that knows no grants does.
func (d *DB) WithoutGrants(ctx context.Context) error {
	return d.update(ctx, "write the counters", func(t *tx) error {
		c, err := t.counters()
		if err != nil {
			return err
		}
		c.Grants = 0
		return nil
	})
}

// DropSession removes a session's bucket as a cairn that knows no grants does.
func (d *DB) DropSession(ctx context.Context, id harness.SessionID) error {
	return d.update(ctx, "purge", func(t *tx) error {
		s, _, err := t.find(id)
		if err != nil {
			return err
		}
		if err := s.unlist(); err != nil {
			return err
		}
		where, err := t.root("where")
		if err != nil {
			return err
		}
		sessions, err := t.root("sessions")
		if err != nil {
			return err
		}
		return errors.Join(where.del(whereSession(id)), sessions.drop(string(id)))
	})
}

// IndexMessages makes the search index.
func (d *DB) IndexMessages(ctx context.Context) (int, error) { return d.indexMessages(ctx) }

// ForgetSearches drops what searches left in memory.
func (d *DB) ForgetSearches() {
	d.searched.mu.Lock()
	defer d.searched.mu.Unlock()
	d.searched.last, d.searched.open, d.searched.size, d.searched.known = nil, nil, 0, nil
}

// CutSegments makes segments of other sizes.
func (d *DB) CutSegments(least, most int) {
	d.cut = cut{least: least, most: most, leastBytes: 1 << 30, mostBytes: 1 << 30}
}

// Segments returns the data of all segments of the search index.
func (d *DB) Segments(ctx context.Context) (all [][]byte, err error) {
	c, err := d.survey(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range c.all {
		err = errors.Join(err, d.view(ctx, "read the search index", func(t *tx) error {
			data, err := t.segmentData(s)
			all = append(all, data)
			return err
		}))
	}
	return all, err
}

// Unindexed returns how many records are in no segment.
func (d *DB) Unindexed(ctx context.Context) (int, error) {
	c, err := d.survey(ctx)
	if err != nil {
		return 0, err
	}
	return spanned(c.rest()), nil
}

// ChangeSegment changes a stored value of the n-th segment, "head" or "data", so
// that its checksum is right if sound is.
func (d *DB) ChangeSegment(ctx context.Context, n int, key string, sound bool, change func([]byte) []byte) error {
	return d.update(ctx, "change the search index", func(t *tx) error {
		all, err := t.segments()
		if err != nil {
			return err
		}
		postings, err := t.root("postings")
		if err != nil {
			return err
		}
		b, err := postings.must(all[n].name)
		if err != nil {
			return err
		}
		raw := append([]byte(nil), b.b.Get([]byte(key))...)
		raw = append(raw[:valueHead], change(raw[valueHead:])...)
		if sound {
			binary.BigEndian.PutUint32(raw[1:], checksum(b.path, []byte(key), raw[valueHead:]))
		}
		t.dirty = true
		return b.b.Put([]byte(key), raw)
	})
}

// ChangeData puts other bytes in the place of the n-th segment, as if they were
// those that were stored.
func (d *DB) ChangeData(ctx context.Context, n int, change func([]byte) []byte) error {
	return d.update(ctx, "change the search index", func(t *tx) error {
		all, err := t.segments()
		if err != nil {
			return err
		}
		data, err := t.segmentData(all[n])
		if err == nil {
			err = t.dropSegment(all[n].name)
		}
		if err == nil {
			_, err = t.putSegment(all[n].segmentHead, change(data))
		}
		return err
	})
}

// DropPostings removes the bucket of the search index, as damage would.
func (d *DB) DropPostings(ctx context.Context) error {
	return d.update(ctx, "drop the search index", func(t *tx) error {
		t.dirty = true
		return t.b.DeleteBucket([]byte("postings"))
	})
}

// ErrWritten says that somebody wrote between.
var ErrWritten = errWritten

// InspectWith inspects a database as a program to come would.
func InspectWith(ctx context.Context, path string, o Options, all ...Step) (Inspection, error) {
	return inspectWith(ctx, path, o, withSteps(all))
}

// Unlist takes a session out of the list of those that are not deleted.
func (d *DB) Unlist(ctx context.Context, id harness.SessionID) error {
	return d.update(ctx, "unlist", func(t *tx) error {
		s, _, err := t.find(id)
		if err != nil {
			return err
		}
		recent, err := t.root("recent")
		if err != nil {
			return err
		}
		return recent.del(s.recentKey())
	})
}

// WithoutPin writes the place of a fact as a cairn does that tells nothing of
// pins there.
func (d *DB) WithoutPin(ctx context.Context, id string) error { return d.changePin(ctx, id, 0) }

// SetPin makes the place of a fact say that it is pinned, or not.
func (d *DB) SetPin(ctx context.Context, id string, pinned bool) error {
	return d.changePin(ctx, id, pinOf(pinned))
}

func (d *DB) changePin(ctx context.Context, id string, to pin) error {
	return d.update(ctx, "change a place", func(t *tx) error {
		where, err := t.root("where")
		if err != nil {
			return err
		}
		var at itemPlace
		if err := where.need([]byte(id), &at); err != nil {
			return err
		}
		at.Pin = to
		return where.put([]byte(id), at)
	})
}

// Unpinned returns how many places of facts do not tell whether they are pinned.
func (d *DB) Unpinned(ctx context.Context) (n int, err error) {
	err = d.view(ctx, "look at the places", func(t *tx) error {
		due, err := d.Facts().v.unmarked(t, nil)
		n = len(due)
		return err
	})
	return n, err
}

// SaveFacts saves facts in one transaction.
func (d *DB) SaveFacts(ctx context.Context, facts []harness.Fact) error {
	return d.update(ctx, "save facts", func(t *tx) error {
		for _, f := range facts {
			f.Category = harness.DefaultCategory
			if _, err := d.Facts().v.add(t, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// VanishKey removes a key from a top-level bucket, as damage would.
func (d *DB) VanishKey(ctx context.Context, name, key string) error {
	return d.update(ctx, "vanish", func(t *tx) error {
		b, err := t.root(name)
		if err != nil {
			return err
		}
		if !b.has([]byte(key)) {
			return notFound("key", key)
		}
		return b.del([]byte(key))
	})
}

// Scribble writes over a value of a top-level bucket.
func (d *DB) Scribble(ctx context.Context, name, key string) error {
	return d.update(ctx, "scribble", func(t *tx) error {
		b, err := t.root(name)
		if err != nil {
			return err
		}
		t.dirty = true
		return b.b.Put([]byte(key), []byte("scribble"))
	})
}

// DropBucket empties a top-level bucket.
func (d *DB) DropBucket(ctx context.Context, name string) error {
	return d.update(ctx, "drop", func(t *tx) error {
		t.dirty = true
		err := t.b.DeleteBucket([]byte(name))
		if err == nil {
			_, err = t.b.CreateBucket([]byte(name))
		}
		return err
	})
}

// Miscount makes the counters wrong.
func (d *DB) Miscount(ctx context.Context) error {
	return d.update(ctx, "miscount", func(t *tx) error {
		c, err := t.counters()
		if err != nil {
			return err
		}
		c.Sessions, c.Facts, c.Usages = c.Sessions+3, 1, 70
		return nil
	})
}

// DropRecords removes all that is stored of a session and leaves the lists.
func (d *DB) DropRecords(ctx context.Context, id harness.SessionID) error {
	return d.update(ctx, "drop", func(t *tx) error {
		sessions, err := t.root("sessions")
		if err != nil {
			return err
		}
		return sessions.drop(string(id))
	})
}

// Examine checks the file as housekeeping does.
func (d *DB) Examine(ctx context.Context) (problems int, err error) { return d.examine(ctx) }

// PurgeAlone purges without compacting.
func (d *DB) PurgeAlone(ctx context.Context, before time.Time) (Purged, error) {
	return d.purge(ctx, before)
}

// Count counts what there is.
func (d *DB) Count(ctx context.Context) (Counts, error) { return d.count(ctx) }

// Keys returns how many keys a top-level bucket has.
func (d *DB) Keys(ctx context.Context, name string) (n int, err error) {
	err = d.view(ctx, "count keys", func(t *tx) error {
		b, err := t.root(name)
		if err == nil {
			n = b.b.Stats().KeyN
		}
		return err
	})
	return n, err
}

// Kept tells which records are stored of sessions that are there.
func (d *DB) Kept(tb testing.TB, ids ...harness.SessionID) string {
	tb.Helper()
	var all []string
	err := d.view(tb.Context(), "look what is kept", func(t *tx) error {
		for _, id := range ids {
			s, ok, err := t.find(id)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			log, err := s.conversation()
			if err != nil {
				return err
			}
			text := string(id) + ":"
			err = log.each(nil, func(key, _ []byte) (bool, error) {
				n, _ := numberOf(key)
				text += fmt.Sprint(" ", n)
				return true, nil
			})
			if err != nil {
				return err
			}
			all = append(all, text)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Join(all, "; ")
}

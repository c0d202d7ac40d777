package bolt

import (
	"context"
	"errors"
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
	return d.exclusive(ctx, "test", func() error { return d.replaceUnchanged(fresh, since) })
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

// ErrWritten says that somebody wrote between.
var ErrWritten = errWritten

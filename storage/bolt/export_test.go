package bolt

import (
	"context"
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

// ErrWritten says that somebody wrote between.
var ErrWritten = errWritten

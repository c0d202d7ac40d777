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

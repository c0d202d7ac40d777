package bolt

import (
	"context"
	"time"
)

// sliceTime bounds one transaction of long work, so that others get their turn.
const sliceTime = 40 * time.Millisecond

// inSlices repeats step in read transactions until it says that it is done.
// What step learned in one transaction may be outdated in the next.
func (d *DB) inSlices(ctx context.Context, op string, step func(*tx) (done bool, err error)) error {
	for {
		done, err := d.slice(ctx, op, sliceTime, step)
		if err != nil || done {
			return err
		}
	}
}

// slice repeats step in one read transaction, until it is done or the time is
// over.
func (d *DB) slice(ctx context.Context, op string, long time.Duration, step func(*tx) (done bool, err error)) (done bool, err error) {
	err = d.view(ctx, op, func(t *tx) error {
		end := time.NewTimer(long)
		defer end.Stop()
		for !done {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var err error
			if done, err = step(t); err != nil {
				return err
			}
			select {
			case <-end.C:
				return nil
			default:
			}
		}
		return nil
	})
	return done, err
}

package bolt

import (
	"context"
	"fmt"
	"time"
)

// progressEvery is how often long work changes its note in the lock file. It is
// well below the wait of the others.
const progressEvery = 100 * time.Millisecond

// exclusive runs long work with the lock of the database held and no handle
// open. The note in the lock file says what work it is and changes as long as
// fn calls progress, so that others wait.
func (d *DB) exclusive(ctx context.Context, work string, fn func(progress func()) error) error {
	if err := d.enter(ctx); err != nil {
		return fmt.Errorf("%s: %w", work, err)
	}
	defer d.leave()
	d.idle.Stop()
	if err := d.closeHandle(); err != nil {
		return fmt.Errorf("%s: %w", work, err)
	}
	if err := d.lockOnly(ctx); err != nil {
		return fmt.Errorf("%s: %w", work, err)
	}
	defer d.giveUp()
	if err := fn(d.announce(work)); err != nil {
		return fmt.Errorf("%s: %w", work, d.unusable(err))
	}
	return nil
}

// announce returns the function that shows the progress of some work.
func (d *DB) announce(work string) func() {
	note := lockHolder{Holder: d.self, Work: work}
	note.Since = d.now()
	var last time.Time
	return func() {
		now := time.Now()
		if now.Sub(last) < progressEvery {
			return
		}
		last = now
		note.Progress++
		if err := writeNote(lockPath(d.path), note); err != nil {
			// The others then wait no longer than usual.
			d.log.Warn("announce work", "work", work, "error", err)
		}
	}
}

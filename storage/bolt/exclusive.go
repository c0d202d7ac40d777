package bolt

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// progressEvery is how often long work changes its note in the lock file. It is
// well below the wait of the others.
const progressEvery = 100 * time.Millisecond

// exclusive runs long work with the lock of the database held and no handle
// open. The note in the lock file says what work it is and changes until fn
// returns, so that others wait for it.
func (d *DB) exclusive(ctx context.Context, work string, fn func() error) error {
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
	stop := d.announce(work)
	defer stop()
	if err := fn(); err != nil {
		return fmt.Errorf("%s: %w", work, d.unusable(err))
	}
	return nil
}

// announce keeps saying in the lock file that some work goes on, until the
// returned function is called, which waits for the last word.
func (d *DB) announce(work string) (stop func()) {
	note := lockHolder{Holder: d.self, Work: work}
	note.Since = d.now()
	say := func() {
		note.Progress++
		if err := writeNote(lockPath(d.path), note); err != nil {
			// The others then wait no longer than usual.
			d.log.Warn("announce work", slog.String("work", work), slog.Any("error", err))
		}
	}
	say()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				say()
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

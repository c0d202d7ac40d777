package bolt

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"cairn/harness"
)

var _ harness.Watcher = (*DB)(nil)

// settle is how long Watch waits after a first event, so that the pages of one
// transaction become one message.
const settle = 5 * time.Millisecond

// Watch implements [harness.Watcher]. It watches the directory and not the
// file, so it goes on when the file is replaced.
func (d *DB) Watch(ctx context.Context) (<-chan struct{}, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", d.dir, err)
	}
	for _, dir := range []string{d.dir, d.locksDir()} {
		if err := w.Add(dir); err != nil {
			return nil, fmt.Errorf("watch %s: %w (and stop: %w)", dir, err, w.Close())
		}
	}
	changed := make(chan struct{}, 1)
	go d.watch(ctx, w, changed)
	return changed, nil
}

func (d *DB) watch(ctx context.Context, w *fsnotify.Watcher, changed chan<- struct{}) {
	defer close(changed)
	defer func() {
		if err := w.Close(); err != nil {
			d.log.Error("stop watching", slog.String("dir", d.dir), slog.Any("error", err))
		}
	}()
	var ripe <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if ripe == nil && d.matters(e) {
				ripe = time.After(settle)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			// Some events were lost; whoever reads looks at the store anyway.
			d.log.Warn("watch", slog.String("dir", d.dir), slog.Any("error", err))
			ripe = time.After(settle)
		case <-ripe:
			ripe = nil
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}
}

// Quiet returns once nothing was written to the store for a lull, by any process,
// or when bound is over or ctx ends: what takes long and has time, such as
// [DB.Housekeep], then stands in nobody's way.
func (d *DB) Quiet(ctx context.Context, lull, bound time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	changes, err := d.Watch(ctx)
	if err != nil {
		d.log.Warn("wait for a quiet moment", slog.Any("error", err))
		return
	}
	for {
		select {
		case _, ok := <-changes:
			if !ok { // ctx has ended
				return
			}
		case <-time.After(lull):
			return
		}
	}
}

// matters reports whether an event may be a change of the store. The lock in
// front of the database changes with every reader and does not count.
func (d *DB) matters(e fsnotify.Event) bool {
	if e.Has(fsnotify.Chmod) {
		return false
	}
	return e.Name == d.path || filepath.Dir(e.Name) == d.locksDir()
}

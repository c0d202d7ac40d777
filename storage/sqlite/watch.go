package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/harness"
)

// pollEvery is how often changes by other processes are looked for, while
// somebody watches.
const pollEvery = 150 * time.Millisecond

// Watch implements [run.Jobs]. Changes by other processes tell the watchers of
// all runs.
func (q *Queue) Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	op := "watch run " + string(id)
	ch, err := q.hub.Watch(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	q.watchMu.Lock()
	defer q.watchMu.Unlock()
	if q.polling {
		return ch, nil
	}
	// The state is looked at before the caller reads, so that no change between
	// is missed.
	conn, version, err := q.beginPoll(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, q.explain(err))
	}
	q.polling = true
	q.back.Go(func() { q.poll(conn, version) })
	return ch, nil
}

func (q *Queue) beginPoll(ctx context.Context) (*sql.Conn, int64, error) {
	conn, err := q.read.Conn(ctx)
	if err != nil {
		return nil, 0, err
	}
	version, err := dataVersion(ctx, conn)
	if err != nil {
		return nil, 0, errors.Join(err, conn.Close())
	}
	return conn, version, nil
}

// dataVersion returns a number that changes when another connection wrote.
func dataVersion(ctx context.Context, conn *sql.Conn) (version int64, err error) {
	err = conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	return version, err
}

// poll looks for changes until nobody watches.
func (q *Queue) poll(conn *sql.Conn, version int64) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	failed := false // it is told once, however long that lasts
	for q.watched(conn) {
		select {
		case <-q.done.Done():
			continue // the hub is about to close
		case <-ticker.C:
		}
		now, err := dataVersion(q.done, conn)
		if err != nil && !failed && q.done.Err() == nil {
			q.log.Warn("look for changes", slog.Any("error", err))
		}
		failed = err != nil
		if err != nil || now != version {
			version = now
			q.hub.TellAll()
		}
	}
}

// watched reports whether polling goes on; if not, it is over.
func (q *Queue) watched(conn *sql.Conn) bool {
	q.watchMu.Lock()
	defer q.watchMu.Unlock()
	if q.done.Err() == nil && q.hub.Watched() > 0 {
		return true
	}
	q.polling = false
	if err := conn.Close(); err != nil {
		q.log.Warn("end watching", slog.Any("error", err))
	}
	return false
}

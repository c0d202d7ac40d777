// Package sqlite keeps runs in one SQLite file, for drivers on one machine. The
// one thing to know: the file says which generation of a run may write, and an
// operating-system lock on a file beside it whether that driver lives, so a run
// whose driver died can be taken over at once.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cairn/harness/run"
	"cairn/storage/internal/sqljournal"
)

var _ run.Queue = (*Queue)(nil)

// Options are what a [Queue] needs besides its path.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger gets what is worth knowing and no error of the caller; nil
	// discards it.
	Logger *slog.Logger
}

// Queue is a [run.Queue] in one file.
type Queue struct {
	*sqljournal.Queue
	path  string
	file  os.FileInfo // what had the path when it was opened
	log   *slog.Logger
	write *sql.DB // one connection
	read  *sql.DB
	seats *seats
	hub   sqljournal.Hub

	// watchMu guards polling, which says that changes by others are looked for.
	watchMu sync.Mutex
	polling bool
	// stop ends what runs in the background.
	stop context.CancelFunc
	done context.Context
	back sync.WaitGroup
}

// dialect is that of SQLite, in which one transaction writes at a time.
func dialect() sqljournal.Dialect {
	return sqljournal.Dialect{Serial: "INTEGER PRIMARY KEY AUTOINCREMENT", Blob: "BLOB"}
}

const (
	// busyWait is how long a transaction waits for one of another process.
	busyWait = 10 * time.Second
	// readers bounds how many read at once.
	readers = 5
)

// Open opens the queue in a file, and makes the file if there is none. A file that
// is no database of runs is [harness.ErrForeign] and stays as it is, one of a newer
// program [harness.ErrNewer], one whose bytes are not what was written
// [harness.ErrDamaged].
func Open(ctx context.Context, path string, o Options) (*Queue, error) {
	abs, err := placeOf(path)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	q := &Queue{path: abs, log: o.Logger, seats: newSeats(abs+locksSuffix, o.Logger)}
	q.Queue = sqljournal.New(q.db(), dialect(), sqljournal.Options{Now: o.Now, Seats: q.seats})
	if err := q.prepare(ctx); err != nil {
		return nil, fmt.Errorf("open the runs in %s: %w", abs, q.explain(err))
	}
	q.done, q.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := q.open(ctx); err != nil {
		return nil, fmt.Errorf("open the runs in %s: %w", abs, errors.Join(q.explain(err), q.Close()))
	}
	return q, nil
}

// placeOf returns the whole path of a file.
func placeOf(path string) (string, error) {
	switch {
	case path == "" || strings.ContainsRune(path, 0):
		return "", fmt.Errorf("the runs of SQLite need the path of a file, such as /home/ada/runs.db")
	case strings.Contains(path, ":memory:"):
		return "", fmt.Errorf("%s: runs in memory are gone with the process: name a file, or leave the runs to the store of the conversations", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("the path of the runs: %w", err)
	}
	return abs, nil
}

// driver is the name under which the driver of SQLite is known.
const driver = "sqlite"

// source is what the driver opens. The query has no user's text in it.
func source(path, query string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query}).String()
}

// settings are those of every connection.
func settings() string {
	return fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)&_pragma=journal_size_limit(%d)",
		busyWait.Milliseconds(), 16<<20)
}

// open opens a file that is there and brings its tables up to date.
func (q *Queue) open(ctx context.Context) (err error) {
	if q.write, err = sql.Open(driver, source(q.path, "mode=rw&_txlock=immediate&"+settings())); err != nil {
		return err
	}
	q.write.SetMaxOpenConns(1)
	if q.read, err = sql.Open(driver, source(q.path, "mode=rw&_pragma=query_only(ON)&"+settings())); err != nil {
		return err
	}
	q.read.SetMaxOpenConns(readers)
	q.read.SetMaxIdleConns(readers)
	if q.file, err = os.Stat(q.path); err != nil {
		return err
	}
	made := 0
	if err := q.db().Read(ctx, func(tx sqljournal.Tx) error {
		made, err = q.Check(ctx, tx)
		return err
	}); err != nil {
		return err
	}
	return q.db().Write(ctx, func(tx sqljournal.Tx) error {
		if made < dialect().Versions() {
			if err := q.Migrate(ctx, tx); err != nil {
				return err
			}
		}
		claimed, err := q.Claimed(ctx, tx)
		if err != nil {
			return err
		}
		return q.seats.sweep(claimed)
	})
}

// Close implements [run.Queue].
func (q *Queue) Close() error {
	q.stop()
	q.hub.Close()
	q.back.Wait()
	q.seats.close()
	var err error
	for _, db := range []*sql.DB{q.read, q.write} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("close the runs in %s: %w", q.path, err)
	}
	return nil
}

// Prune implements [run.Jobs]. The space of what goes is given back to the disk.
func (q *Queue) Prune(ctx context.Context, p run.Prune) (int, error) {
	n, err := q.Queue.Prune(ctx, p)
	if err != nil || n == 0 {
		return n, err
	}
	if err := q.shrink(ctx); err != nil {
		// What was to go is gone; another time will do for the space.
		q.log.Warn("give back the space of pruned runs", slog.Any("error", err))
	}
	return n, nil
}

// shrink moves what is stored to the front of the file and cuts the rest off.
func (q *Queue) shrink(ctx context.Context) error {
	conn, err := q.write.Conn(ctx)
	if err != nil {
		return err
	}
	for _, pragma := range []string{"PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err := work(ctx, conn, pragma); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	return conn.Close()
}

// work carries out a pragma whose rows are the steps of its work.
func work(ctx context.Context, conn *sql.Conn, pragma string) error {
	steps, err := conn.QueryContext(ctx, pragma)
	if err != nil {
		return err
	}
	defer func() { _ = steps.Close() }()
	for steps.Next() {
		continue
	}
	return steps.Err()
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

// db runs transactions on the file.
type db struct{ q *Queue }

func (q *Queue) db() db { return db{q} }

// tx is one transaction; changed are the runs that watchers are told of.
type tx struct {
	*sql.Tx
	changed []harness.RunID
}

// rows are those of a query, whose error of closing is among those of reading.
type rows struct{ *sql.Rows }

// Close implements [sqljournal.Rows].
func (r rows) Close() { _ = r.Rows.Close() }

// Exec implements [sqljournal.Tx].
func (t *tx) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := t.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Query implements [sqljournal.Tx].
func (t *tx) Query(ctx context.Context, statement string, args ...any) (sqljournal.Rows, error) {
	r, err := t.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return rows{r}, r.Err()
}

// Changed implements [sqljournal.Tx].
func (t *tx) Changed(_ context.Context, id harness.RunID) error {
	if !slices.Contains(t.changed, id) {
		t.changed = append(t.changed, id)
	}
	return nil
}

// Write implements [sqljournal.DB].
func (d db) Write(ctx context.Context, f func(sqljournal.Tx) error) error {
	if err := d.q.inPlace(); err != nil {
		return err
	}
	changed, err := d.run(ctx, d.q.write, f)
	if err != nil {
		return err
	}
	d.q.hub.Tell(changed...)
	return nil
}

// Read implements [sqljournal.DB].
func (d db) Read(ctx context.Context, f func(sqljournal.Tx) error) error {
	_, err := d.run(ctx, d.q.read, f)
	return err
}

func (d db) run(ctx context.Context, pool *sql.DB, f func(sqljournal.Tx) error) ([]harness.RunID, error) {
	if d.q.done.Err() != nil {
		return nil, harness.ErrClosed
	}
	changed, err := transact(ctx, pool, f)
	return changed, d.q.explain(err)
}

// transact runs f in a transaction and returns the runs that it changed.
func transact(ctx context.Context, pool *sql.DB, f func(sqljournal.Tx) error) ([]harness.RunID, error) {
	begun, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	t := &tx{Tx: begun}
	if err := f(t); err != nil {
		if back := begun.Rollback(); back != nil && !errors.Is(back, sql.ErrTxDone) {
			err = errors.Join(err, back)
		}
		return nil, err
	}
	return t.changed, begun.Commit()
}

// explain says of an error of SQLite or the system what it means and what can be
// done.
func (q *Queue) explain(err error) error {
	var e *sqlite.Error
	if errors.Is(err, harness.ErrDamaged) || errors.Is(err, harness.ErrLocked) {
		return err // it says so already
	}
	if !errors.As(err, &e) {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("%w; choose a place that you can write", err)
		}
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%s: %w by another process for longer than %s: %w", q.path, harness.ErrLocked, busyWait, err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w: move the file and those beside it that begin with its name aside to start a new one: %w", q.path, harness.ErrDamaged, err)
	case lib.SQLITE_ERROR:
		if strings.Contains(e.Error(), "no such table") || strings.Contains(e.Error(), "no such column") {
			return fmt.Errorf("%s: %w: it lacks tables that cairn made; put the right file in its place, or move this one aside to start a new one: %w", q.path, harness.ErrDamaged, err)
		}
	case lib.SQLITE_FULL:
		return fmt.Errorf("%s: %w; free some space, nothing of this step was saved", q.path, err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%s: %w; choose a place that you can write", q.path, err)
	}
	return fmt.Errorf("%s: %w", q.path, err)
}

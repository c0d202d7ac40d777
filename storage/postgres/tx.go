package postgres

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

const (
	// retries is how often a transaction is tried again.
	retries = 3
	// patience is how long one transaction may take with all its retries. A
	// connection that is cut without a word would keep it for minutes.
	patience = time.Minute
)

// database runs the transactions of a queue.
type database struct {
	place  place
	pool   *pgxpool.Pool
	closed atomic.Bool
}

// tx is one transaction.
type tx struct {
	tx pgx.Tx
	// ctx ends when the transaction has taken too long; it comes of that of the
	// caller.
	ctx context.Context
	// changed are the runs that others are told of.
	changed []string
}

// Exec implements [sqljournal.Tx].
func (t *tx) Exec(_ context.Context, statement string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(t.ctx, statement, args...) //nolint:contextcheck // it is that of the caller, with an end
	return tag.RowsAffected(), err
}

// Query implements [sqljournal.Tx].
func (t *tx) Query(_ context.Context, statement string, args ...any) (sqljournal.Rows, error) {
	return t.tx.Query(t.ctx, statement, args...) //nolint:contextcheck,sqlclosecheck // the same; who asked closes them
}

// Changed implements [sqljournal.Tx].
func (t *tx) Changed(_ context.Context, id harness.RunID) error {
	if !slices.Contains(t.changed, string(id)) {
		t.changed = append(t.changed, string(id))
	}
	return nil
}

// Write implements [sqljournal.DB].
func (d *database) Write(ctx context.Context, f func(sqljournal.Tx) error) error {
	return d.retried(ctx, pgx.TxOptions{}, func(t *tx) error {
		if err := f(t); err != nil || len(t.changed) == 0 {
			return err
		}
		_, err := t.tx.Exec(t.ctx, `SELECT pg_notify($1, run) FROM unnest($2::text[]) AS run`, d.place.channel(), t.changed)
		return err
	})
}

// Read implements [sqljournal.DB].
func (d *database) Read(ctx context.Context, f func(sqljournal.Tx) error) error {
	o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return d.retried(ctx, o, func(t *tx) error { return f(t) })
}

// retried runs a transaction, and again if the server undid it because of others
// or if the connection broke. What it does must come to the same if it was stored
// before, because nobody knows whether a commit arrived that was not answered.
func (d *database) retried(ctx context.Context, o pgx.TxOptions, f func(*tx) error) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for tries := 0; ; tries++ {
		if d.closed.Load() {
			return harness.ErrClosed
		}
		err := pgx.BeginTxFunc(limited, d.pool, o, func(t pgx.Tx) error { return f(&tx{tx: t, ctx: limited}) })
		lost := away(err)
		if lost {
			// The others of the pool are as dead as this one, if the server is.
			d.pool.Reset()
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && (lost || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
			return ctx.Err()
		case tries == retries || !lost && !conflict(err) || !wait(limited, time.Duration(1<<(2*tries))*10*time.Millisecond):
			return d.place.explain(err)
		}
	}
}

// wait reports whether it waited as long, not cut short by the end of ctx.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// close waits for the transactions under way.
func (d *database) close() {
	d.closed.Store(true)
	d.pool.Close()
}

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
	// closeTime is how long a queue waits for its connections when it is closed.
	closeTime = 2 * time.Second
)

// database runs the transactions of a queue.
type database struct {
	place  place
	pool   *pgxpool.Pool
	closed atomic.Bool
}

// tx is one transaction on a connection.
type tx struct {
	conn *pgxpool.Conn
	// ctx ends when the transaction has taken too long; it comes of that of the
	// caller.
	ctx context.Context
	// begin begins it. It goes with the first statement, so that it costs no way to
	// the server and back, and is empty from then on.
	begin string
	// changed are the runs that others are told of.
	changed []string
}

// Exec implements [sqljournal.Tx].
func (t *tx) Exec(_ context.Context, statement string, args ...any) (int64, error) {
	if t.begin == "" {
		tag, err := t.conn.Exec(t.ctx, statement, args...) //nolint:contextcheck // it is that of the caller, with an end
		return tag.RowsAffected(), err
	}
	results, err := t.first(statement, args)
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	return tag.RowsAffected(), errors.Join(err, results.Close())
}

// Query implements [sqljournal.Tx].
func (t *tx) Query(_ context.Context, statement string, args ...any) (sqljournal.Rows, error) {
	if t.begin == "" {
		return t.conn.Query(t.ctx, statement, args...) //nolint:contextcheck,sqlclosecheck // the same; who asked closes them
	}
	results, err := t.first(statement, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return &firstRows{Rows: rows, results: results}, nil
}

// first sends the first statement behind the one that begins the transaction.
func (t *tx) first(statement string, args []any) (pgx.BatchResults, error) {
	var both pgx.Batch
	both.Queue(t.begin)
	both.Queue(statement, args...)
	t.begin = ""
	results := t.conn.SendBatch(t.ctx, &both)
	if _, err := results.Exec(); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return results, nil
}

// firstRows are those of the first statement of a transaction.
type firstRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

// Err implements [sqljournal.Rows].
func (r *firstRows) Err() error { return errors.Join(r.Rows.Err(), r.err) }

// Close implements [sqljournal.Rows].
func (r *firstRows) Close() {
	r.Rows.Close()
	if err := r.results.Close(); r.err == nil {
		r.err = err
	}
}

// Changed implements [sqljournal.Tx].
func (t *tx) Changed(_ context.Context, id harness.RunID) error {
	if !slices.Contains(t.changed, string(id)) {
		t.changed = append(t.changed, string(id))
	}
	return nil
}

// commit ends the transaction. Others are told of what changed in the same
// request.
func (t *tx) commit(channel string) error {
	if t.begin != "" && len(t.changed) == 0 {
		return nil // nothing was asked of the server
	}
	tell, args := "", []any{pgx.QueryExecModeSimpleProtocol}
	if len(t.changed) > 0 {
		tell = `SELECT pg_notify($1, run) FROM unnest($2::text[]) AS run; `
		args = append(args, channel, t.changed)
	}
	tag, err := t.conn.Exec(t.ctx, tell+"commit", args...)
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// Write implements [sqljournal.DB].
func (d *database) Write(ctx context.Context, f func(sqljournal.Tx) error) error {
	return d.retried(ctx, "begin isolation level read committed, read write", f)
}

// Read implements [sqljournal.DB].
func (d *database) Read(ctx context.Context, f func(sqljournal.Tx) error) error {
	return d.retried(ctx, "begin isolation level repeatable read, read only", f)
}

// retried runs a transaction, and again if the server undid it because of others
// or if the connection broke. What it does must come to the same if it was stored
// before, because nobody knows whether a commit arrived that was not answered.
func (d *database) retried(ctx context.Context, begin string, f func(sqljournal.Tx) error) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for tries := 0; ; tries++ {
		if d.closed.Load() {
			return harness.ErrClosed
		}
		err := d.once(limited, begin, f)
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

// once runs a transaction.
func (d *database) once(ctx context.Context, begin string, f func(sqljournal.Tx) error) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A connection that is within a transaction still is closed by that.
	defer conn.Release()
	t := &tx{conn: conn, ctx: ctx, begin: begin}
	if err = f(t); err == nil {
		return t.commit(d.place.channel())
	}
	if t.begin == "" {
		// Nothing is stored either way, and err says why.
		_, _ = conn.Exec(ctx, "rollback", pgx.QueryExecModeSimpleProtocol)
	}
	return err
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

// close waits for the transactions under way, but not long for connections that
// the network has forgotten: those end by themselves.
func (d *database) close() {
	d.closed.Store(true)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		d.pool.Close()
	}()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}

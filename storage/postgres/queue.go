// Package postgres keeps runs in a PostgreSQL database that drivers on several
// machines share. The one thing to know: a driver has a run until its lease ends
// by the clock of the server, and whatever it writes names the generation of its
// claim, so one that woke too late writes nothing, whatever its own clock says.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/sqljournal"
)

var _ run.Queue = (*Queue)(nil)

const (
	// DefaultLease is how long a claim lasts that is not renewed.
	DefaultLease = 30 * time.Second
	// MinLease is the shortest lease: a driver has to renew it in time over a
	// network.
	MinLease = time.Second
	// maxConnections bounds the connections of a queue, beside the one that listens.
	maxConnections = 10
	// connectTime is how long a server has to answer a new connection.
	connectTime = 10 * time.Second
	// pingTime is how long it has to answer on one that was not used for a while. A
	// network may have forgotten that without a word.
	pingTime = 2 * time.Second
	// idleSetting is for how long a transaction may stand still, in milliseconds. Its
	// locks keep others from a run, so a driver that is stopped in the middle of one
	// has its lease as long as anywhere else, and not until it is woken.
	idleSetting = "idle_in_transaction_session_timeout"
)

// Options are how a queue is opened. The zero value is usable.
type Options struct {
	// Lease is how long a claim lasts that is not renewed; 0 is [DefaultLease].
	Lease time.Duration
	// Now is the clock of what is only shown and of what is pruned by age; nil is
	// the system's. Claims go by the clock of the server.
	Now func() time.Time
	// Log takes what goes wrong in the background; nil drops it.
	Log *slog.Logger
}

// Queue is a [run.Queue] in one schema of a PostgreSQL database.
type Queue struct {
	*sqljournal.Queue
	place  place
	pool   *pgxpool.Pool
	db     *database
	hub    *hub
	closed sync.Once
}

// Open connects to the database of an address such as
// postgres://ada:secret@host/database and makes or brings up to date the tables
// in its schema, "cairn" or that of ?schema=NAME. Several processes may do that
// at once. [harness.ErrForeign] if the schema has things that cairn did not make,
// [harness.ErrNewer] if a newer cairn made it. No error of this package has the
// password in it.
func Open(ctx context.Context, address string, o Options) (*Queue, error) {
	q, err := open(ctx, address, o)
	if err != nil {
		return nil, fmt.Errorf("open the runs in PostgreSQL: %w", err)
	}
	return q, nil
}

func open(ctx context.Context, address string, o Options) (*Queue, error) {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Lease < MinLease {
		return nil, fmt.Errorf("a lease of %s is too short to be renewed in time: use %s or more", o.Lease, MinLease)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p, config, err := parse(address)
	if err != nil {
		return nil, err
	}
	if config.ConnConfig.RuntimeParams[idleSetting] == "" {
		config.ConnConfig.RuntimeParams[idleSetting] = strconv.FormatInt(o.Lease.Milliseconds(), 10)
	}
	// Nothing is connected to yet.
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, p.explain(err)
	}
	q := &Queue{place: p, pool: pool, db: &database{place: p, pool: pool}, hub: newHub(p, config.ConnConfig, o.Log)}
	q.Queue = sqljournal.New(q.db, dialect(), sqljournal.Options{Now: o.Now, Lease: o.Lease})
	if err := q.prepare(ctx); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

// dialect is what PostgreSQL has of its own.
func dialect() sqljournal.Dialect {
	return sqljournal.Dialect{
		Numbered: true, Serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", Blob: "BYTEA",
		Lock: " FOR UPDATE", SkipLocked: " FOR UPDATE SKIP LOCKED",
		// Not that of the transaction's begin, which may have waited for a row since.
		Clock: "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
	}
}

// Watch implements [run.Jobs]. Changes by others are told at once; should that be
// lost, within two seconds.
func (q *Queue) Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	changes, err := q.hub.watch(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("watch run %s: %w", id, err)
	}
	return changes, nil
}

// Close implements [run.Queue].
func (q *Queue) Close() error {
	q.closed.Do(func() {
		q.hub.close()
		q.db.close()
	})
	return nil
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

// prepare makes sure of the schema and its tables. One that is up to date is only
// read, so a user who may make nothing can use it.
func (q *Queue) prepare(ctx context.Context) error {
	made := 0
	err := q.db.Read(ctx, func(t sqljournal.Tx) error {
		made = 0
		state, err := q.look(ctx, t)
		if err != nil || !state.versions {
			return err
		}
		made, err = q.Check(ctx, t)
		return foreign(q.place, err)
	})
	if err != nil || made == dialect().Versions() {
		return err
	}
	return q.db.Write(ctx, func(t sqljournal.Tx) error { return q.migrate(ctx, t) })
}

// migrate brings the schema up to date, all or nothing, while others wait.
func (q *Queue) migrate(ctx context.Context, t sqljournal.Tx) error {
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey(q.place.schema)); err != nil {
		return fmt.Errorf("wait for others that make the tables: %w", err)
	}
	state, err := q.look(ctx, t)
	if err != nil {
		return err
	}
	if state.others > 0 {
		return foreign(q.place, harness.ErrForeign)
	}
	if !state.exists {
		if _, err := t.Exec(ctx, `CREATE SCHEMA `+q.place.quoted()); err != nil {
			return fmt.Errorf("make schema %s: %w", q.place.quoted(), q.place.explain(err))
		}
	}
	return foreign(q.place, q.Migrate(ctx, t))
}

// lockKey is what processes wait for one another with that make the same schema.
// Advisory locks are those of one database.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("cairn runs in " + schema)) // it never fails
	return int64(h.Sum64())
}

// schemaState is what there is of a schema.
type schemaState struct {
	exists bool
	// versions says that there is a table of versions.
	versions bool
	// others counts what there is besides, if nothing says that cairn made it.
	others int
}

func (q *Queue) look(ctx context.Context, t sqljournal.Tx) (schemaState, error) {
	var s schemaState
	rows, err := t.Query(ctx, `SELECT
		EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'cairn_versions' AND c.relkind = 'r'),
		(SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)
		+ (SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1)
		+ (SELECT count(*) FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace WHERE n.nspname = $1 AND y.typtype IN ('d', 'e'))`, q.place.schema)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&s.exists, &s.versions, &s.others); err != nil {
			return s, err
		}
	}
	if s.versions {
		s.others = 0 // the checksums tell whether they are ours
	}
	return s, rows.Err()
}

// foreign says of a schema that others made what to do.
func foreign(p place, err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == codeDuplicateTable || refused.Code == codeUnknownColumn) || errors.Is(err, harness.ErrForeign) {
		return fmt.Errorf("schema %s of %s has things in it that cairn did not make, and they are left alone; give the runs a schema of their own with ?schema=NAME: %w",
			pgx.Identifier{p.schema}.Sanitize(), p.name, harness.ErrForeign)
	}
	return err
}

package sqljournal

import (
	"context"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// Options are what a queue is made with.
type Options struct {
	// Now is the clock of what is only shown, and of pruning; nil is the
	// system's.
	Now func() time.Time
	// Lease is how long a claim lasts without being renewed, where the dialect has
	// a clock.
	Lease time.Duration
	// Seats tell who lives, where the dialect has no clock.
	Seats Seats
}

// Queue is all of a [run.Queue] but Watch and Close, over any database.
type Queue struct {
	db      DB
	dialect Dialect
	o       Options
	now     func() time.Time
	doubts  doubts
}

// New returns the queue of a database whose tables [Queue.Migrate] made.
func New(db DB, d Dialect, o Options) *Queue {
	q := &Queue{db: db, dialect: d, o: o, now: o.Now}
	if q.now == nil {
		q.now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	return q
}

// exec runs a statement with question marks.
func (q *Queue) exec(ctx context.Context, tx Tx, statement string, args ...any) (int64, error) {
	return tx.Exec(ctx, q.dialect.bind(statement), args...)
}

// each calls f for every row of a query.
func (q *Queue) each(ctx context.Context, tx Tx, statement string, args []any, f func(Rows) error) error {
	rows, err := tx.Query(ctx, q.dialect.bind(statement), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads the only row of a query; ok is false if there is none.
func (q *Queue) one(ctx context.Context, tx Tx, statement string, args []any, dest ...any) (ok bool, err error) {
	err = q.each(ctx, tx, statement, args, func(rows Rows) error {
		ok = true
		return rows.Scan(dest...)
	})
	return ok && err == nil, err
}

func (q *Queue) read(ctx context.Context, op string, f func(Tx) error) error {
	if err := q.db.Read(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

func (q *Queue) write(ctx context.Context, op string, f func(Tx) error) error {
	if err := q.db.Write(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// seating are the seats that a transaction takes. What it took is given back if
// it is not stored, and what it left once it is.
type seating struct {
	seats       Seats
	taken, left []Seat
}

// Seat is the right to drive a run in one generation.
type Seat struct {
	Run        harness.RunID
	Generation int
}

func (s *seating) take(id harness.RunID, generation int) error {
	if s.seats == nil {
		return nil
	}
	if err := s.seats.Take(id, generation); err != nil {
		return fmt.Errorf("take run %s: %w", id, err)
	}
	s.taken = append(s.taken, Seat{id, generation})
	return nil
}

func (s *seating) leave(id harness.RunID, generation int) {
	s.left = append(s.left, Seat{id, generation})
}

// undo gives back what was taken by a transaction that is tried again.
func (s *seating) undo() {
	for _, t := range s.taken {
		s.seats.Drop(t.Run, t.Generation)
	}
	s.taken, s.left = nil, nil
}

// seated is write for a transaction that takes or leaves seats.
func (q *Queue) seated(ctx context.Context, op string, f func(Tx, *seating) error) error {
	s := &seating{seats: q.o.Seats}
	err := q.write(ctx, op, func(tx Tx) error {
		s.undo()
		return f(tx, s)
	})
	if err != nil {
		s.undo()
		return err
	}
	if s.seats != nil {
		for _, l := range s.left {
			s.seats.Drop(l.Run, l.Generation)
		}
	}
	return nil
}

// alive reports whether a claim that was not given back is that of a living
// driver. due is whether its lease lasts, by the database's clock.
func (q *Queue) alive(id harness.RunID, generation int, due bool) (bool, error) {
	if q.o.Seats == nil {
		return due, nil
	}
	return q.o.Seats.Alive(id, generation)
}

// leased is an expression of how many microseconds the lease of a row still
// lasts, 0 if it is over.
func (q *Queue) leased() string {
	if q.dialect.Clock == "" {
		return "0"
	}
	return "CASE WHEN held_until > " + q.dialect.Clock + " THEN held_until - " + q.dialect.Clock + " ELSE 0 END"
}

// nextLease is an expression of when a claim ends that begins now.
func (q *Queue) nextLease() string {
	if q.dialect.Clock == "" {
		return "0"
	}
	return fmt.Sprintf("%s + %d", q.dialect.Clock, q.o.Lease.Microseconds())
}

// until is a time of the database, zero where there are none.
func until(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// lost says why a write with a claim changed nothing, or nil if the claim is
// good.
func (q *Queue) lost(ctx context.Context, tx Tx, c run.Claim) error {
	var generation, held int64
	ok, err := q.one(ctx, tx, `SELECT generation, held FROM runs WHERE id = ?`, []any{string(c.Run)}, &generation, &held)
	switch {
	case err != nil:
		return err
	case !ok:
		return harness.ErrNotFound
	case generation != int64(c.Generation):
		return fmt.Errorf("it was claimed again (generation %d, not %d): %w", generation, c.Generation, errTaken)
	case held == 0:
		return fmt.Errorf("the claim was given back: %w", errTaken)
	}
	return nil
}

// errTaken is [harness.ErrLost] in words that fit a run.
var errTaken = takenError{}

type takenError struct{}

// Error implements error.
func (takenError) Error() string { return "the run was taken over by another driver" }

// Is reports whether target is [harness.ErrLost].
func (takenError) Is(target error) bool { return target == harness.ErrLost }

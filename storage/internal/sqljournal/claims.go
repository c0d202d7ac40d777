package sqljournal

import (
	"context"
	"errors"
	"strings"

	"cairn/harness"
	"cairn/harness/run"
)

// row is what of a run decides who may have it.
type row struct {
	id           harness.RunID
	session      harness.SessionID
	generation   int
	held, broken bool
	// due says that the lease lasts.
	due    bool
	rests  bool
	holder []byte
}

// claimable are the columns of a row.
const claimable = `id, session, status, generation, held, broken, holder`

func scanRow(rows Rows) (row, error) {
	var id, session, status string
	var generation, held, broken, due int64
	var holder []byte
	err := rows.Scan(&id, &session, &status, &generation, &held, &broken, &holder, &due)
	return row{
		id: harness.RunID(id), session: harness.SessionID(session), generation: int(generation), held: held != 0, broken: broken != 0,
		due: due != 0, rests: harness.RunStatus(status) != harness.RunRunning, holder: holder,
	}, err
}

// take claims a run, whoever has it. name is what only this claim is called.
func (q *Queue) take(ctx context.Context, tx Tx, seats *seating, r row, h harness.Holder, name string) (run.Claim, error) {
	c := run.Claim{Run: r.id, Generation: r.generation + 1, Holder: h, Broken: r.held || r.broken}
	holder, err := encode(holderPlace(r.id), signed{h, name, true})
	if err != nil {
		return c, err
	}
	// Nothing is stored as driven by somebody who does not have the seat.
	if err := seats.take(r.id, c.Generation); err != nil {
		return c, err
	}
	if r.held {
		seats.leave(r.id, r.generation)
	}
	asked := ""
	if r.rests {
		asked = ", asked = ''" // it was asked of a driver that is gone
	}
	var ends int64
	ok, err := q.one(ctx, tx, `UPDATE runs SET generation = ?, held = 1, broken = ?, holder = ?, held_until = `+q.nextLease()+asked+`
		WHERE id = ? AND generation = ? RETURNING held_until`,
		[]any{int64(c.Generation), bit(c.Broken), holder, string(r.id), int64(r.generation)}, &ends)
	if err == nil && !ok {
		err = harness.ErrNotFound
	}
	c.Until = until(ends)
	return c, err
}

// errFound ends reading rows.
var errFound = errors.New("found")

// waiting returns the oldest run that is to go on and that nobody living drives. No
// more rows are read than that needs: thousands may wait behind it.
func (q *Queue) waiting(ctx context.Context, tx Tx, host string, skip []harness.RunID, lock string) (found row, err error) {
	where, limit, args := "", "", []any{host}
	if q.dialect.Clock != "" {
		where, limit = ` AND (held = 0 OR held_until <= `+q.dialect.Clock+`)`, ` LIMIT 1`
	}
	if len(skip) > 0 {
		where += ` AND id NOT IN (?` + strings.Repeat(", ?", len(skip)-1) + `)`
		for _, id := range skip {
			args = append(args, string(id))
		}
	}
	err = q.each(ctx, tx, `SELECT `+claimable+`, 0 FROM runs WHERE status = 'running' AND (host = '' OR host = ?)`+where+
		` ORDER BY number`+limit+lock, args, func(rows Rows) error {
		r, err := scanRow(rows)
		if err != nil {
			return err
		}
		if r.held {
			if alive, err := q.alive(r.id, r.generation, false); err != nil || alive {
				return err
			}
		}
		found = r
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return found, nil
	case err != nil:
		return row{}, err
	}
	return row{}, harness.ErrNotFound
}

// Next implements [run.Claims].
func (q *Queue) Next(ctx context.Context, h harness.Holder, host string, skip []harness.RunID) (run.Claim, error) {
	const op = "look for a run to drive"
	var claim run.Claim
	if q.dialect.SkipLocked == "" {
		// Whoever looks in vain does not keep others from writing.
		if err := q.read(ctx, op, func(tx Tx) error { _, err := q.waiting(ctx, tx, host, skip, ""); return err }); err != nil {
			return claim, err
		}
	}
	name := harness.NewID()
	err := q.seated(ctx, op, func(tx Tx, seats *seating) error {
		if kept, err := q.kept(ctx, tx, claim, name); err != nil || kept {
			return err
		}
		r, err := q.waiting(ctx, tx, host, skip, q.dialect.SkipLocked)
		if err != nil {
			return err
		}
		if claim, err = q.take(ctx, tx, seats, r, h, name); err != nil {
			return err
		}
		return tx.Changed(ctx, r.id)
	})
	return claim, err
}

// Claim implements [run.Claims].
func (q *Queue) Claim(ctx context.Context, id harness.RunID, h harness.Holder) (run.Claim, error) {
	return q.claim(ctx, id, h, false)
}

// Force claims a run also if a living process has it: that one's next write is
// [harness.ErrLost].
func (q *Queue) Force(ctx context.Context, id harness.RunID, h harness.Holder) (run.Claim, error) {
	return q.claim(ctx, id, h, true)
}

func (q *Queue) claim(ctx context.Context, id harness.RunID, h harness.Holder, force bool) (run.Claim, error) {
	var claim run.Claim
	name := harness.NewID()
	err := q.seated(ctx, "claim run "+string(id), func(tx Tx, seats *seating) error {
		if kept, err := q.kept(ctx, tx, claim, name); err != nil || kept {
			return err
		}
		r, err := q.find(ctx, tx, id)
		if err != nil {
			return err
		}
		if r.held && !force {
			alive, err := q.alive(id, r.generation, r.due)
			if err != nil {
				return err
			}
			if alive {
				return q.heldBy(r)
			}
		}
		if claim, err = q.take(ctx, tx, seats, r, h, name); err != nil {
			return err
		}
		return tx.Changed(ctx, id)
	})
	return claim, err
}

// heldBy says who drives a run.
func (q *Queue) heldBy(r row) error {
	held := &harness.HeldError{Session: r.session, Run: r.id}
	if err := decode(holderPlace(r.id), r.holder, &held.Holder); err != nil {
		return err
	}
	return held
}

// find reads the row of a run to change it.
func (q *Queue) find(ctx context.Context, tx Tx, id harness.RunID) (row, error) {
	var r row
	found := false
	err := q.each(ctx, tx, `SELECT `+claimable+`, `+q.leased()+` FROM runs WHERE id = ?`+q.dialect.Lock, []any{string(id)}, func(rows Rows) error {
		found = true
		var err error
		r, err = scanRow(rows)
		return err
	})
	if err == nil && !found {
		err = harness.ErrNotFound
	}
	return r, err
}

// Renew implements [run.Claims].
func (q *Queue) Renew(ctx context.Context, c run.Claim) (run.Ask, error) {
	op := "renew the claim of run " + string(c.Run)
	var asked string
	args := []any{string(c.Run), int64(c.Generation)}
	const where = ` WHERE id = ? AND generation = ? AND held = 1`
	ask := func(tx Tx, statement string) error {
		ok, err := q.one(ctx, tx, statement, args, &asked)
		if err == nil && !ok {
			err = q.lost(ctx, tx, c)
		}
		return err
	}
	if q.dialect.Clock == "" {
		err := q.read(ctx, op, func(tx Tx) error { return ask(tx, `SELECT asked FROM runs`+where) })
		return run.Ask(asked), err
	}
	err := q.write(ctx, op, func(tx Tx) error {
		return ask(tx, `UPDATE runs SET held_until = `+q.nextLease()+where+` RETURNING asked`)
	})
	return run.Ask(asked), err
}

// Release implements [run.Claims]. If it cannot be stored, the seat is given up
// all the same: nobody is to seem to drive the run, whose claim is broken then.
func (q *Queue) Release(ctx context.Context, c run.Claim, refused string) error {
	err := q.seated(ctx, "give back run "+string(c.Run), func(tx Tx, seats *seating) error {
		seats.leave(c.Run, c.Generation)
		n, err := q.exec(ctx, tx, `UPDATE runs SET held = 0, held_until = 0, holder = ?,
			asked = CASE WHEN status = 'running' THEN asked ELSE '' END WHERE id = ? AND generation = ? AND held = 1`,
			[]byte{}, string(c.Run), int64(c.Generation))
		if err != nil || n == 0 {
			return err
		}
		if err := q.refuse(ctx, tx, c.Run, refused); err != nil {
			return err
		}
		return tx.Changed(ctx, c.Run)
	})
	if err != nil && q.o.Seats != nil {
		q.o.Seats.Drop(c.Run, c.Generation)
	}
	return err
}

// maxRefusal bounds the reason of a refusal, in bytes, and keptRefusals how many are
// kept of a run: reasons may name what differs each time.
const (
	maxRefusal   = 1000
	keptRefusals = 8
)

// refuse notes why a run was given back, or forgets why it was before.
func (q *Queue) refuse(ctx context.Context, tx Tx, id harness.RunID, reason string) error {
	if reason == "" {
		_, err := q.exec(ctx, tx, `DELETE FROM refusals WHERE run = ?`, string(id))
		return err
	}
	reason = strings.ToValidUTF8(strings.ReplaceAll(reason[:min(len(reason), maxRefusal)], "\x00", ""), "")
	if _, err := q.exec(ctx, tx, `INSERT INTO refusals (run, reason, at) VALUES (?, ?, ?)
		ON CONFLICT (run, reason) DO UPDATE SET at = excluded.at`, string(id), reason, q.now().UnixMicro()); err != nil {
		return err
	}
	_, err := q.exec(ctx, tx, `DELETE FROM refusals WHERE run = ? AND reason NOT IN
		(SELECT reason FROM refusals WHERE run = ? ORDER BY at DESC, reason LIMIT ?)`, string(id), string(id), int64(keptRefusals))
	return err
}

// Claimed returns the claims that were not given back, by the seat that each has.
func (q *Queue) Claimed(ctx context.Context, tx Tx) (map[Seat]bool, error) {
	claimed := map[Seat]bool{}
	err := q.each(ctx, tx, `SELECT id, generation FROM runs WHERE held = 1`, nil, func(rows Rows) error {
		var id string
		var generation int64
		err := rows.Scan(&id, &generation)
		claimed[Seat{harness.RunID(id), int(generation)}] = true
		return err
	})
	return claimed, err
}

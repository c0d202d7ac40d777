package sqljournal

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

var _ run.Steerable = (*Queue)(nil)

// Steer implements [run.Steerable]. What was stored and not answered for is stored
// again: the same words with the same id are heard once.
func (q *Queue) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	return q.write(ctx, "steer run "+string(id), func(tx Tx) error {
		r := harness.Run{ID: id}
		var status string
		var last, held int64
		var holder, st []byte
		ok, err := q.one(ctx, tx, `SELECT status, last_entry, held, holder, state FROM runs WHERE id = ?`+q.dialect.Lock,
			[]any{string(id)}, &status, &last, &held, &holder, &st)
		switch {
		case err != nil:
			return err
		case !ok:
			return harness.ErrNotFound
		}
		if err := follow(&r, status, last, st); err != nil {
			return err
		}
		if err := rules.Steers(r, e); err != nil {
			return err
		}
		if held != 0 {
			var s signed
			if err := decode(holderPlace(id), holder, &s); err != nil {
				return err
			}
			if !s.Steers {
				return fmt.Errorf("%s drives it with an older version: %w", s.Holder, errors.ErrUnsupported)
			}
		}
		return q.addSteer(ctx, tx, r, e)
	})
}

// addSteer stores what was said and lets the run, but not its driver, follow it.
func (q *Queue) addSteer(ctx context.Context, tx Tx, r harness.Run, e run.Entry) error {
	after, now, driver := r.Cursor, q.now().UTC(), r.Driver
	e.Record = 0
	e, _, err := rules.AddEntry(&r, new(harness.Session), e, now)
	if err != nil {
		return err
	}
	r.Driver = driver
	if err := q.putEntry(ctx, tx, r.ID, e); err != nil {
		return err
	}
	st, err := stateOf(r)
	if err != nil {
		return err
	}
	n, err := q.exec(ctx, tx, `UPDATE runs SET last_entry = ?, updated = ?, state = ? WHERE id = ? AND last_entry = ?`,
		int64(r.Cursor), now.UnixMicro(), st, string(r.ID), int64(after))
	if err == nil && n != 1 {
		err = harness.ErrStale
	}
	if err != nil {
		return err
	}
	return tx.Changed(ctx, r.ID)
}

// own returns the first n entries if only what people said is behind them.
func own(stored []run.Entry, n int) []run.Entry {
	if len(stored) < n {
		return nil
	}
	for _, e := range stored[n:] {
		if e.Kind != loop.KindSteered {
			return nil
		}
	}
	return stored[:n]
}

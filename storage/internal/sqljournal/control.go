package sqljournal

import (
	"context"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/run"
)

// Ask implements [run.Jobs]. A run that rests and is driven by nobody has nobody
// to ask either: nothing is kept for whoever goes on with it later.
func (q *Queue) Ask(ctx context.Context, id harness.RunID, a run.Ask) error {
	op := "ask the driver of run " + string(id)
	if a != run.AskCancel && a != run.AskPause {
		return fmt.Errorf("%s: only a pause or a cancel can be asked, and %q is neither", op, a)
	}
	return q.write(ctx, op, func(tx Tx) error {
		keep := ""
		if a == run.AskPause {
			keep = ` AND asked <> 'cancel'`
		}
		n, err := q.exec(ctx, tx, `UPDATE runs SET asked = ? WHERE id = ? AND closed = 0 AND (held = 1 OR status = 'running')`+keep,
			string(a), string(id))
		if err != nil || n > 0 {
			if err == nil {
				err = tx.Changed(ctx, id)
			}
			return err
		}
		return q.exists(ctx, tx, id)
	})
}

func (q *Queue) exists(ctx context.Context, tx Tx, id harness.RunID) error {
	var number int64
	ok, err := q.one(ctx, tx, `SELECT number FROM runs WHERE id = ?`, []any{string(id)}, &number)
	if err == nil && !ok {
		err = harness.ErrNotFound
	}
	return err
}

// Acknowledge implements [run.Jobs]. What was acknowledged stays so.
func (q *Queue) Acknowledge(ctx context.Context, id harness.RunID, cursor int) error {
	return q.write(ctx, fmt.Sprintf("acknowledge run %s up to entry %d", id, cursor), func(tx Tx) error {
		n, err := q.exec(ctx, tx, `UPDATE runs SET acknowledged = ? WHERE id = ? AND acknowledged < ? AND last_entry >= ?`,
			int64(cursor), string(id), int64(cursor), int64(cursor))
		if err != nil {
			return err
		}
		if n > 0 {
			return tx.Changed(ctx, id)
		}
		var last int64
		switch ok, err := q.one(ctx, tx, `SELECT last_entry FROM runs WHERE id = ?`, []any{string(id)}, &last); {
		case err != nil:
			return err
		case !ok:
			return harness.ErrNotFound
		case int64(cursor) > last:
			return fmt.Errorf("its last entry is %d: %w", last, harness.ErrStale)
		}
		return nil
	})
}

// Prune implements [run.Jobs]. With a run goes all that is kept of it.
func (q *Queue) Prune(ctx context.Context, p run.Prune) (int, error) {
	var which []string
	var args []any
	if !p.Before.IsZero() {
		which, args = append(which, `updated < ?`), append(args, p.Before.UnixMicro())
	}
	ours := ""
	if p.Store != "" {
		ours = ` AND store = ?`
	}
	if p.Keep > 0 {
		which = append(which, `number <= (SELECT number FROM runs WHERE closed = 1`+ours+` ORDER BY number DESC LIMIT 1 OFFSET ?)`)
		if p.Store != "" {
			args = append(args, p.Store)
		}
		args = append(args, int64(p.Keep))
	}
	if len(which) == 0 {
		return 0, nil
	}
	if p.Store != "" {
		args = append(args, p.Store)
	}
	fetched := ` AND acknowledged >= last_entry`
	if p.Force {
		fetched = ""
	}
	var pruned []harness.RunID
	err := q.write(ctx, "prune runs", func(tx Tx) error {
		pruned = nil
		err := q.each(ctx, tx, `DELETE FROM runs WHERE closed = 1`+fetched+` AND (`+strings.Join(which, " OR ")+`)`+ours+` RETURNING id`, args, func(rows Rows) error {
			var id string
			err := rows.Scan(&id)
			pruned = append(pruned, harness.RunID(id))
			return err
		})
		for _, id := range pruned {
			if err == nil {
				err = tx.Changed(ctx, id)
			}
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(pruned), nil
}

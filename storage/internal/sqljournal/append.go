package sqljournal

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// Append implements [run.Claims]. Without entries it only keeps the artifacts.
func (q *Queue) Append(ctx context.Context, c run.Claim, after int, artifacts [][]byte, entries ...run.Entry) ([]run.Entry, error) {
	op := "append to run " + string(c.Run)
	entries, files, err := rules.EntriesApart(entries)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	own, err := named(artifacts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var added []run.Entry
	maybe := q.doubts.has(c, after)
	err = q.write(ctx, op, func(tx Tx) error {
		r, err := q.writable(ctx, tx, c)
		if err != nil {
			return err
		}
		if maybe && r.Cursor != after {
			if added, err = q.again(ctx, tx, c, r, after, entries); err != nil || len(added) > 0 {
				return err
			}
		}
		switch {
		case r.Cursor != after:
			return fmt.Errorf("it is at entry %d, not %d: %w", r.Cursor, after, harness.ErrStale)
		case r.Status.Closed():
			return fmt.Errorf("it has ended: %w", harness.ErrStale)
		}
		if err := q.putArtifacts(ctx, tx, c.Run, append(own, files...)); err != nil {
			return err
		}
		if added = nil; len(entries) == 0 {
			return nil
		}
		if added, err = q.add(ctx, tx, c, r, entries); err != nil {
			return err
		}
		maybe = true // if the answer to the commit is lost
		return tx.Changed(ctx, c.Run)
	})
	q.doubts.settle(c, after, maybe, err)
	return added, err
}

// writable reads a run to change it, and checks the claim.
func (q *Queue) writable(ctx context.Context, tx Tx, c run.Claim) (harness.Run, error) {
	r := harness.Run{ID: c.Run}
	var status string
	var last, generation, held int64
	var st []byte
	ok, err := q.one(ctx, tx, `SELECT status, last_entry, generation, held, state FROM runs WHERE id = ?`+q.dialect.Lock,
		[]any{string(c.Run)}, &status, &last, &generation, &held, &st)
	if err == nil && (!ok || held == 0 || generation != int64(c.Generation)) {
		err = q.lost(ctx, tx, c)
	}
	if err != nil {
		return r, err
	}
	var s state
	if err := decode(statePlace(c.Run), st, &s); err != nil {
		return r, err
	}
	r.Status, r.Cursor, r.Stop, r.Error, r.Usage, r.Driver = harness.RunStatus(status), int(last), s.Stop, s.Error, s.Usage, s.Driver
	return r, nil
}

// add stores entries and lets the run follow them.
func (q *Queue) add(ctx context.Context, tx Tx, c run.Claim, r harness.Run, entries []run.Entry) ([]run.Entry, error) {
	after, now, drop := r.Cursor, q.now().UTC(), false
	added := make([]run.Entry, 0, len(entries))
	for _, e := range entries {
		// The conversation is elsewhere: numbers stand in for those of its records.
		s := harness.Session{Generation: c.Generation, Records: run.AwayRecord + r.Cursor}
		e.Record = 0
		e, _, err := rules.AddEntry(&r, &s, e, now)
		if err != nil {
			return nil, err
		}
		drop = drop || rules.DropsPartial(e)
		if err := q.putEntry(ctx, tx, c.Run, e); err != nil {
			return nil, err
		}
		added = append(added, e)
	}
	st, err := stateOf(r)
	if err != nil {
		return nil, err
	}
	asked := ""
	if r.Status.Closed() {
		asked = `, asked = ''`
	}
	n, err := q.exec(ctx, tx, `UPDATE runs SET status = ?, closed = ?, last_entry = ?, updated = ?, state = ?, broken = 0`+asked+`
		WHERE id = ? AND generation = ? AND held = 1 AND last_entry = ?`,
		string(r.Status), bit(r.Status.Closed()), int64(r.Cursor), now.UnixMicro(), st, string(c.Run), int64(c.Generation), int64(after))
	if err == nil && n != 1 {
		err = errTaken
	}
	if err == nil && drop {
		_, err = q.exec(ctx, tx, `DELETE FROM partials WHERE run = ?`, string(c.Run))
	}
	return added, err
}

func (q *Queue) putEntry(ctx context.Context, tx Tx, id harness.RunID, e run.Entry) error {
	data, err := encode(entryPlace(id, e.Seq), e)
	if err != nil {
		return err
	}
	_, err = q.exec(ctx, tx, `INSERT INTO entries (run, seq, data) VALUES (?, ?, ?)`, string(id), int64(e.Seq), data)
	return err
}

func (q *Queue) putArtifacts(ctx context.Context, tx Tx, id harness.RunID, files []rules.Bytes) error {
	for _, f := range files {
		data := f.Data
		if data == nil {
			data = []byte{} // none is not nothing
		}
		if _, err := q.exec(ctx, tx, `INSERT INTO artifacts (run, name, data) VALUES (?, ?, ?) ON CONFLICT (run, name) DO NOTHING`,
			string(id), f.SHA256, data); err != nil {
			return fmt.Errorf("artifact %s: %w", f.SHA256, err)
		}
	}
	return nil
}

// SavePartial implements [run.Claims]. A run that has ended takes none.
func (q *Queue) SavePartial(ctx context.Context, c run.Claim, p harness.Partial) error {
	if p.At.IsZero() {
		p.At = q.now().UTC()
	}
	op := "save the text of run " + string(c.Run)
	data, err := encode(partialPlace(c.Run), p)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return q.write(ctx, op, func(tx Tx) error {
		r, err := q.writable(ctx, tx, c)
		if err != nil {
			return err
		}
		if r.Status.Closed() {
			return fmt.Errorf("it has ended: %w", harness.ErrStale)
		}
		if _, err := q.exec(ctx, tx, `INSERT INTO partials (run, data) VALUES (?, ?)
			ON CONFLICT (run) DO UPDATE SET data = excluded.data`, string(c.Run), data); err != nil {
			return err
		}
		return tx.Changed(ctx, c.Run)
	})
}

// Carried implements [run.Claims].
func (q *Queue) Carried(ctx context.Context, id harness.RunID) (run.Carried, error) {
	var c run.Carried
	err := q.read(ctx, "read what run "+string(id)+" took along", func(tx Tx) error {
		var data []byte
		ok, err := q.one(ctx, tx, `SELECT data FROM carried WHERE run = ?`, []any{string(id)}, &data)
		if err != nil {
			return err
		}
		if !ok {
			return harness.ErrNotFound
		}
		c = run.Carried{}
		return decode(carriedPlace(id), data, &c)
	})
	return c, err
}

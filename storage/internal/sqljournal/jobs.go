package sqljournal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// unclaimed says that nobody looked at a run, orphaned that its driver died.
const (
	unclaimed = "no worker has taken it"
	orphaned  = "its driver died, and " + unclaimed
)

// Get implements [run.Jobs].
func (q *Queue) Get(ctx context.Context, id harness.RunID) (run.Job, error) {
	var jobs []run.Job
	err := q.read(ctx, "read run "+string(id), func(tx Tx) error {
		var err error
		if jobs, err = q.jobs(ctx, tx, ` WHERE runs.id = ?`, []any{string(id)}); err == nil && len(jobs) == 0 {
			err = harness.ErrNotFound
		}
		return err
	})
	if err != nil {
		return run.Job{}, err
	}
	return jobs[0], nil
}

// List implements [run.Jobs].
func (q *Queue) List(ctx context.Context, f run.JobFilter) ([]run.Job, error) {
	var where []string
	var args []any
	if f.Store != "" {
		where, args = append(where, "store = ?"), append(args, f.Store)
	}
	if f.Session != "" {
		where, args = append(where, "session = ?"), append(args, string(f.Session))
	}
	if f.Unfinished {
		where = append(where, "closed = 0")
	}
	if f.Unacknowledged {
		where = append(where, "acknowledged < last_entry")
	}
	rest := ` ORDER BY number DESC`
	if len(where) > 0 {
		rest = ` WHERE ` + strings.Join(where, " AND ") + rest
	}
	if f.Limit > 0 {
		rest += ` LIMIT ?`
		args = append(args, int64(f.Limit))
	}
	var jobs []run.Job
	err := q.read(ctx, "list runs", func(tx Tx) (err error) {
		jobs, err = q.jobs(ctx, tx, rest, args)
		return err
	})
	return jobs, err
}

// jobs reads runs as they are shown.
func (q *Queue) jobs(ctx context.Context, tx Tx, rest string, args []any) ([]run.Job, error) {
	var jobs []run.Job
	err := q.each(ctx, tx, `SELECT runs.id, status, last_entry, acknowledged, updated, asked, generation, held, broken, `+q.leased()+`,
		holder, begun.data, state, partials.data FROM runs LEFT JOIN begun ON begun.run = runs.id LEFT JOIN partials ON partials.run = runs.id`+rest, args, func(rows Rows) error {
		j, err := q.job(rows)
		jobs = append(jobs, j)
		return err
	})
	if err != nil {
		return nil, err
	}
	return jobs, q.waits(ctx, tx, jobs)
}

// job reads a run from a row.
func (q *Queue) job(rows Rows) (run.Job, error) {
	var id, status, asked string
	var last, acknowledged, updated, generation, held, broken, due int64
	var holder, about, st, partial []byte
	var j run.Job
	if err := rows.Scan(&id, &status, &last, &acknowledged, &updated, &asked, &generation, &held, &broken, &due,
		&holder, &about, &st, &partial); err != nil {
		return j, err
	}
	rid := harness.RunID(id)
	var began info
	if err := decode(infoPlace(rid), about, &began); err != nil {
		return j, err
	}
	j = run.Job{Run: began.Run, Store: began.Store, Needs: began.Needs, Acknowledged: int(acknowledged), Asked: run.Ask(asked)}
	r := &j.Run
	if err := follow(r, status, last, st); err != nil {
		return j, err
	}
	r.Updated, r.Unfetched = until(updated), int(last-acknowledged)
	if partial != nil {
		r.Partial = new(harness.Partial)
		if err := decode(partialPlace(rid), partial, r.Partial); err != nil {
			return j, err
		}
	}
	alive := false
	if held != 0 {
		var err error
		if alive, err = q.alive(rid, int(generation), due != 0); err != nil {
			return j, err
		}
	}
	if alive {
		r.Worker, r.Held = new(harness.Holder), time.Duration(due)*time.Microsecond
		return j, decode(holderPlace(rid), holder, r.Worker)
	}
	r.Interrupted = r.Status == harness.RunRunning && (held != 0 || broken != 0)
	return j, nil
}

// Of how many runs it is asked at once why they wait, and how many reasons are told
// of each.
const (
	waitsAtOnce = 500
	waitsTold   = 3
)

// waits fills in why runs that are to go on are driven by nobody.
func (q *Queue) waits(ctx context.Context, tx Tx, jobs []run.Job) error {
	var free []*harness.Run
	for i := range jobs {
		if r := &jobs[i].Run; r.Status == harness.RunRunning && r.Worker == nil {
			free = append(free, r)
		}
	}
	for some := range slices.Chunk(free, waitsAtOnce) {
		reasons, err := q.refusals(ctx, tx, some)
		if err != nil {
			return err
		}
		for _, r := range some {
			switch r.Waits = strings.Join(reasons[string(r.ID)], "; "); {
			case r.Waits != "":
			case r.Interrupted:
				r.Waits = orphaned
			default:
				r.Waits = unclaimed
			}
		}
	}
	return nil
}

// refusals are the last reasons for which runs were given back, the newest first.
func (q *Queue) refusals(ctx context.Context, tx Tx, runs []*harness.Run) (map[string][]string, error) {
	args := make([]any, 0, len(runs))
	for _, r := range runs {
		args = append(args, string(r.ID))
	}
	reasons := map[string][]string{}
	err := q.each(ctx, tx, `SELECT run, reason FROM refusals WHERE run IN (?`+strings.Repeat(", ?", len(runs)-1)+`) ORDER BY at DESC, reason`, args, func(rows Rows) error {
		var id, reason string
		err := rows.Scan(&id, &reason)
		if len(reasons[id]) < waitsTold {
			reasons[id] = append(reasons[id], reason)
		}
		return err
	})
	return reasons, err
}

// Read implements [run.Jobs].
func (q *Queue) Read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	var entries []run.Entry
	err := q.read(ctx, "read run "+string(id), func(tx Tx) error {
		var err error
		if entries, err = q.entries(ctx, tx, id, after); err != nil {
			return err
		}
		var last int64
		switch ok, err := q.one(ctx, tx, `SELECT last_entry FROM runs WHERE id = ?`, []any{string(id)}, &last); {
		case err != nil:
			return err
		case !ok:
			return harness.ErrNotFound
		case len(entries) != max(0, int(last)-max(0, after)):
			return fmt.Errorf("it has %d entries after number %d of %d: %w", len(entries), after, last, harness.ErrDamaged)
		}
		return nil
	})
	return entries, err
}

// entries are those of a run past a number, in order.
func (q *Queue) entries(ctx context.Context, tx Tx, id harness.RunID, after int) ([]run.Entry, error) {
	var entries []run.Entry
	err := q.each(ctx, tx, `SELECT seq, data FROM entries WHERE run = ? AND seq > ? ORDER BY seq`, []any{string(id), int64(after)}, func(rows Rows) error {
		var seq int64
		var data []byte
		if err := rows.Scan(&seq, &data); err != nil {
			return err
		}
		var e run.Entry
		err := decode(entryPlace(id, int(seq)), data, &e)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

// Artifact implements [run.Jobs]. The first digits of a name do, as they do in
// [harness.Artifacts].
func (q *Queue) Artifact(ctx context.Context, id harness.RunID, name string) ([]byte, error) {
	op := "read artifact " + name + " of run " + string(id)
	digits, err := rules.Digits(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var data []byte
	err = q.read(ctx, op, func(tx Tx) error {
		var names []string
		err := q.each(ctx, tx, `SELECT name FROM artifacts WHERE run = ? AND name >= ? AND name < ? ORDER BY name LIMIT 2`,
			[]any{string(id), digits, digits + "g"}, func(rows Rows) error {
				var found string
				err := rows.Scan(&found)
				names = append(names, found)
				return err
			})
		switch {
		case err != nil:
			return err
		case len(names) == 0:
			return harness.ErrNotFound
		case len(names) > 1:
			return rules.Ambiguous(digits)
		}
		if _, err := q.one(ctx, tx, `SELECT data FROM artifacts WHERE run = ? AND name = ?`, []any{string(id), names[0]}, &data); err != nil {
			return err
		}
		if harness.ArtifactName(data) != names[0] {
			return fmt.Errorf("it has bytes that are not its own: %w", harness.ErrDamaged)
		}
		return nil
	})
	return data, err
}

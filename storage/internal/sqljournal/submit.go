package sqljournal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// prepared is a submission as it is stored: the bytes of its files apart.
type prepared struct {
	run.Submission
	files []rules.Bytes
}

func prepare(s run.Submission) (prepared, error) {
	p := prepared{Submission: s}
	if s.Run.ID == "" {
		return p, fmt.Errorf("a run needs an id")
	}
	first, files, err := rules.EntriesApart([]run.Entry{s.First})
	if err != nil {
		return p, err
	}
	history, more, err := rules.RecordsApart(s.Carried.History)
	if err != nil {
		return p, err
	}
	pinned, most, err := rules.RecordsApart(s.Carried.Pinned)
	if err != nil {
		return p, err
	}
	p.First, p.Carried.History, p.Carried.Pinned = first[0], history, pinned
	p.files = slices.Concat(files, more, most)
	own, err := named(s.Artifacts)
	p.files = append(p.files, own...)
	return p, err
}

func named(artifacts [][]byte) ([]rules.Bytes, error) {
	var files []rules.Bytes
	for _, data := range artifacts {
		b, err := rules.NewBytes(data)
		if err != nil {
			return nil, err
		}
		files = append(files, b)
	}
	return files, nil
}

// Submit implements [run.Claims].
func (q *Queue) Submit(ctx context.Context, s run.Submission, h harness.Holder) (run.Claim, error) {
	op := "submit run " + string(s.Run.ID)
	p, err := prepare(s)
	if err != nil {
		return run.Claim{}, fmt.Errorf("%s: %w", op, err)
	}
	var claim run.Claim
	name, maybe := harness.NewID(), false
	err = q.seated(ctx, op, func(tx Tx, seats *seating) error {
		if err := q.insert(ctx, tx, p); maybe && errors.Is(err, harness.ErrExists) {
			// Nobody else has the run, so it was stored before.
			ok, kept := !s.Here, error(nil)
			if s.Here {
				ok, kept = q.kept(ctx, tx, claim, name)
			}
			if ok || kept != nil {
				return kept
			}
			return err
		} else if err != nil {
			return err
		}
		if claim = (run.Claim{}); s.Here {
			if claim, err = q.take(ctx, tx, seats, row{id: s.Run.ID}, h, name); err != nil {
				return err
			}
		}
		maybe = true // if the answer to the commit is lost
		return tx.Changed(ctx, s.Run.ID)
	})
	return claim, err
}

// insert adds a run whose session has its first entry.
func (q *Queue) insert(ctx context.Context, tx Tx, p prepared) error {
	id, now := p.Run.ID, q.now().UTC()
	r := rules.NewRun(p.Run, p.Run.Session, now)
	first := p.First
	first.Seq, first.Record = 1, p.Run.First
	if first.At.IsZero() {
		first.At = now
	}
	if first.Status != "" {
		r.Status = first.Status
	}
	r.Cursor, r.Stop, r.Error, r.Usage = 1, first.Stop, first.Error, first.Usage
	stored := r
	stored.Cursor, stored.Stop, stored.Error = 0, "", nil
	stored.First, stored.Status, stored.Usage = p.Run.First, "", harness.Usage{}
	stored.Worker, stored.Waits, stored.Pending, stored.Unreachable, stored.Unfetched = nil, "", nil, "", 0
	about, err := encode(infoPlace(id), info{Run: stored, Store: p.Carried.Store, Needs: p.Carried.Needs})
	if err != nil {
		return err
	}
	st, err := stateOf(r)
	if err != nil {
		return err
	}
	n, err := q.exec(ctx, tx, `INSERT INTO runs (id, store, session, host, status, closed, last_entry, acknowledged, updated, asked,
		generation, held, broken, held_until, holder, state)
		VALUES (?, ?, ?, ?, ?, ?, 1, 1, ?, '', 0, 0, 0, 0, ?, ?) ON CONFLICT (id) DO NOTHING`,
		string(id), p.Carried.Store, string(r.Session), p.Carried.Needs.Host, string(r.Status), bit(r.Status.Closed()),
		now.UnixMicro(), []byte{}, st)
	if err != nil {
		return err
	}
	if n == 0 {
		return harness.ErrExists
	}
	if _, err := q.exec(ctx, tx, `INSERT INTO begun (run, data) VALUES (?, ?)`, string(id), about); err != nil {
		return err
	}
	carried, err := encode(carriedPlace(id), p.Carried)
	if err != nil {
		return err
	}
	if _, err := q.exec(ctx, tx, `INSERT INTO carried (run, data) VALUES (?, ?)`, string(id), carried); err != nil {
		return err
	}
	if err := q.putArtifacts(ctx, tx, id, p.files); err != nil {
		return err
	}
	return q.putEntry(ctx, tx, id, first)
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

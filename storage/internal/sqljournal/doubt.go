package sqljournal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// doubts are the appends of which nobody knows whether they were stored, because
// the database was gone before it answered the commit. The same append once more
// is then no append of somebody who did not read the run.
type doubts struct {
	mu sync.Mutex
	of map[harness.RunID]doubt
}

type doubt struct{ generation, after int }

// has reports whether an append with a claim after an entry may be stored.
func (d *doubts) has(c run.Claim, after int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of[c.Run] == doubt{c.Generation, after} && c.Generation > 0
}

// settle notes what is known after an append that may have been stored and ended
// with err.
func (d *doubts) settle(c run.Claim, after int, maybe bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := err == nil || errors.Is(err, harness.ErrStale) || errors.Is(err, harness.ErrLost) || errors.Is(err, harness.ErrNotFound)
	switch {
	case maybe && !known:
		if d.of == nil {
			d.of = map[harness.RunID]doubt{}
		}
		d.of[c.Run] = doubt{c.Generation, after}
	case known:
		delete(d.of, c.Run)
	}
}

// again returns the entries of a run after a number if they are those that are to
// be added there, and its driver's last ones; otherwise none. What people said since
// is behind them.
func (q *Queue) again(ctx context.Context, tx Tx, c run.Claim, r harness.Run, after int, entries []run.Entry) ([]run.Entry, error) {
	if len(entries) == 0 || r.Cursor < after+len(entries) || r.Driver != c.Generation {
		return nil, nil
	}
	stored, err := q.entries(ctx, tx, c.Run, after)
	if stored = own(stored, len(entries)); err != nil || len(stored) != len(entries) {
		return nil, err
	}
	for i, e := range stored {
		same, err := sameEntry(e, entries[i])
		if err != nil || !same {
			return nil, err
		}
	}
	return stored, nil
}

// sameEntry reports whether a stored entry is what became of another one.
func sameEntry(stored, e run.Entry) (bool, error) {
	stored.Seq, stored.Record, e.Seq, e.Record = 0, 0, 0, 0
	stored.At, e.At = time.Time{}, time.Time{} // the journal may have given it
	a, err := json.Marshal(stored)
	if err != nil {
		return false, fmt.Errorf("encode an entry: %w", err)
	}
	b, err := json.Marshal(e)
	if err != nil {
		return false, fmt.Errorf("encode an entry: %w", err)
	}
	return bytes.Equal(a, b), nil
}

// signed is a holder as it is stored, with the name of the one claim that stored
// it.
type signed struct {
	harness.Holder
	Claim string `json:"claim"`
	// Steers says that the holder reads what others add to the run.
	Steers bool `json:"steers,omitempty"`
}

// kept reports whether a claim was stored that a transaction made before whose
// commit was not answered.
func (q *Queue) kept(ctx context.Context, tx Tx, c run.Claim, name string) (bool, error) {
	if c.Run == "" || q.o.Seats != nil {
		return false, nil // none was made, or its seat was given back
	}
	r, err := q.find(ctx, tx, c.Run)
	if err != nil || !r.held || r.generation != c.Generation {
		return false, ignoreMissing(err)
	}
	var s signed
	err = decode(holderPlace(c.Run), r.holder, &s)
	return s.Claim == name, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, harness.ErrNotFound) {
		return nil
	}
	return err
}

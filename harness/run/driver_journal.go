package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/harness"
)

// errNotHere means that a journal keeps one claimed run and nothing else.
var errNotHere = errors.New("only the claimed run is kept here")

// claimed is the journal of one claimed run: what is written goes to the queue
// under the claim, and takes along what lies on the run's desk. The leases of
// sessions mean nothing to it.
type claimed struct{ x *drive }

var _ Journal = (*claimed)(nil)

// Create implements [Journal].
func (j *claimed) Create(context.Context, harness.Lease, harness.Run, Entry, ...Closing) (harness.Run, []Entry, error) {
	return harness.Run{}, nil, fmt.Errorf("start a run beside %s: %w", j.x.claim.Run, errNotHere)
}

// Append implements [Journal].
func (j *claimed) Append(ctx context.Context, _ harness.Lease, id harness.RunID, after int, entries ...Entry) ([]Entry, error) {
	if err := j.check(id); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, appendTimeout)
	defer stop()
	packed, artifacts := j.x.desk.Pack(after, j.x.away, entries)
	stored, err := j.x.d.o.Queue.Append(ctx, j.x.claim, after, artifacts, packed...)
	if err != nil {
		return nil, err
	}
	j.x.desk.Stored(packed)
	if n := len(stored); n > 0 {
		j.x.d.live.Reached(id, stored[n-1].Seq)
	}
	return stored, nil
}

// SavePartial implements [Journal].
func (j *claimed) SavePartial(ctx context.Context, _ harness.Lease, id harness.RunID, p harness.Partial) error {
	if err := j.check(id); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, storeTimeout)
	defer stop()
	return j.x.d.o.Queue.SavePartial(ctx, j.x.claim, p)
}

// check refuses other runs, and writes under a claim that is over.
func (j *claimed) check(id harness.RunID) error {
	if id != j.x.claim.Run {
		return fmt.Errorf("run %s: %w", id, errNotHere)
	}
	return j.x.alive()
}

// Read implements [Journal].
func (j *claimed) Read(ctx context.Context, id harness.RunID, after int) ([]Entry, error) {
	return j.x.d.o.Queue.Read(ctx, id, after)
}

// Get implements [Journal].
func (j *claimed) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	job, err := j.x.d.o.Queue.Get(ctx, id)
	return job.Run, err
}

// List implements [Journal].
func (j *claimed) List(ctx context.Context, _ harness.RunFilter) ([]harness.Run, error) {
	r, err := j.Get(ctx, j.x.claim.Run)
	return []harness.Run{r}, err
}

// Prune implements [Journal].
func (j *claimed) Prune(context.Context, time.Time) (int, error) {
	return 0, fmt.Errorf("prune runs: %w", errNotHere)
}

package temporal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.temporal.io/sdk/worker"

	"cairn/harness"
	"cairn/harness/run"
)

// Worker drives runs that any process may drive, and those that need its machine.
type Worker struct {
	b       *Backend
	workers []worker.Worker
	tally   *tally
}

// tally counts what became of the tasks that a worker took.
type tally struct {
	mu     sync.Mutex
	status run.WorkerStatus
}

// count changes what was counted.
func (t *tally) count(change func(*run.WorkerStatus)) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.status)
}

// prepared counts how getting ready for a task went.
func (t *tally) prepared(err error) {
	t.count(func(s *run.WorkerStatus) {
		switch s.Trouble = ""; {
		case errors.Is(err, run.ErrUnfit):
			s.Refused++
		case err != nil:
			s.Trouble = err.Error()
		}
	})
}

// over counts how a task ended after which the run stands as told; left says that the
// worker wanted to end.
func (t *tally) over(d done, status harness.RunStatus, left bool) {
	t.count(func(s *run.WorkerStatus) {
		switch {
		case d.Stopped && left:
			s.Returned++
		case status != harness.RunRunning:
			if s.Done++; status == harness.RunFailed {
				s.Failed++
			}
		}
	})
}

// NewWorker connects to the server at an address. Options.Steps is required.
func NewWorker(ctx context.Context, address string, o Options) (*Worker, error) {
	if o.Steps == nil {
		return nil, errors.New("temporal: a worker needs Options.Steps")
	}
	b, err := open(ctx, address, o)
	if err != nil {
		return nil, err
	}
	w := &Worker{b: b, tally: new(tally)}
	w.workers = append(w.workers, b.flows, b.activities(b.at.queue, b.o.Concurrency, w.tally))
	if o.Host != "" {
		w.workers = append(w.workers, b.activities(b.at.host(o.Host), b.o.Concurrency, w.tally))
	}
	return w, nil
}

// Run drives runs until ctx ends. Then it takes no more, gives tools that run the
// options' grace to finish, and hands everything else back: others go on with it.
func (w *Worker) Run(ctx context.Context) error {
	w.tally.count(func(s *run.WorkerStatus) { s.Since = w.b.o.Now() })
	for i, each := range w.workers {
		if err := each.Start(); err != nil {
			for _, started := range w.workers[:i] {
				started.Stop()
			}
			return errors.Join(fmt.Errorf("temporal %s: %w", w.b.at.hostPort, err), w.b.letGo())
		}
	}
	<-ctx.Done()
	// Backwards: the workflows last, because activities ask them.
	for i := len(w.workers) - 1; i >= 0; i-- {
		w.workers[i].Stop()
	}
	return w.b.letGo()
}

// Status returns what the worker does and did. The steps of one run may be driven by
// several workers: the one that brought it to where it rests counts it as done.
// Returned counts the steps and calls that it gave back when it stopped; those that
// others took over are not told to it.
func (w *Worker) Status() run.WorkerStatus {
	w.tally.mu.Lock()
	s := w.tally.status
	w.tally.mu.Unlock()
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	s.Driving = slices.Sorted(maps.Keys(w.b.driven))
	return s
}

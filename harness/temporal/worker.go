package temporal

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/worker"
)

// Worker drives runs that any process may drive, and those that need its machine.
type Worker struct {
	b       *Backend
	workers []worker.Worker
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
	w := &Worker{b: b}
	w.workers = append(w.workers, b.flows, b.activities(b.at.queue, b.o.Concurrency))
	if o.Host != "" {
		w.workers = append(w.workers, b.activities(b.at.host(o.Host), b.o.Concurrency))
	}
	return w, nil
}

// Run drives runs until ctx ends. Then it takes no more, gives tools that run the
// options' grace to finish, and hands everything else back: others go on with it.
func (w *Worker) Run(ctx context.Context) error {
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

// Driving returns how many runs the worker drives now.
func (w *Worker) Driving() int {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	return len(w.b.driven)
}

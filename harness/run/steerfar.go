package run

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
)

// Steer implements [harness.Steerer].
func (r *Router) Steer(ctx context.Context, id harness.RunID, s harness.Steer) error {
	engine, _, _, err := r.of(ctx, id)
	if err != nil {
		return fmt.Errorf("steer: %w", err)
	}
	e, ok := engine.(harness.Steerer)
	if !ok {
		return fmt.Errorf("steer run %s: %w", id, errors.ErrUnsupported)
	}
	return e.Steer(ctx, id, s)
}

// Steer implements [harness.Steerer]. It reaches whoever drives the run, wherever
// that is.
func (r *Remote) Steer(ctx context.Context, id harness.RunID, s harness.Steer) error {
	e, err := steerEntry(r.o.Now, id, s)
	if err != nil {
		return err
	}
	err = steerAt(ctx, r.o.Backend, id, e, nil)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return r.unsteered(ctx, id)
	case errors.Is(err, harness.ErrEnded), errors.Is(err, errors.ErrUnsupported):
		return err
	case err != nil:
		return r.silent(id, err)
	}
	if f := r.find(id); f != nil { // who follows it here is told at once
		select {
		case f.kick <- struct{}{}:
		default:
		}
	}
	return nil
}

// unsteered says why a run that the backend does not have was not steered.
func (r *Remote) unsteered(ctx context.Context, id harness.RunID) error {
	home, err := r.o.Home.Get(ctx, id)
	switch {
	case err != nil:
		return fmt.Errorf("steer run %s: %w", id, err)
	case home.Status.Closed():
		return fmt.Errorf("steer run %s: it is %s: %w", id, home.Status, harness.ErrEnded)
	default:
		return fmt.Errorf("steer run %s: %s does not have it: %w", id, r.o.Engine, harness.ErrNotFound)
	}
}

// Steer implements [Steerable].
func (j *claimed) Steer(ctx context.Context, id harness.RunID, e Entry) error {
	q, ok := j.x.d.o.Queue.(Steerable)
	if !ok {
		return errors.ErrUnsupported
	}
	return q.Steer(ctx, id, e)
}

// Steer implements [Steerable]. A run that is driven here hears it at once, one that
// is driven elsewhere before its next request.
func (b *queueBackend) Steer(ctx context.Context, id harness.RunID, e Entry) error {
	var a *active
	if x := b.d.find(id); x != nil {
		a = x.local.find(id)
	}
	return steerAt(ctx, b.Queue, id, e, a)
}

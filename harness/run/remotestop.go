package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"cairn/harness"
)

// Cancel implements [harness.Engine]. It reaches whoever drives the run, wherever
// that is, and waits until it has ended.
func (r *Remote) Cancel(ctx context.Context, id harness.RunID) error {
	job, err := r.o.Backend.Get(ctx, id)
	if err != nil {
		return r.absent(ctx, "cancel", id, err, func(s harness.RunStatus) bool { return s.Closed() || s == harness.RunFailed })
	}
	switch s := job.Run.Status; {
	case s.Closed() || s == harness.RunFailed:
		return r.settled(ctx, id)
	case s != harness.RunRunning:
		return fmt.Errorf("cancel: run %s is %s, so there is nothing to stop (to end it, drop it): %w", id, s, harness.ErrNotFound)
	}
	status, err := r.ask(ctx, id, AskCancel, func(j Job) bool { return j.Run.Status != harness.RunRunning })
	switch {
	case err != nil:
		return fmt.Errorf("cancel: %w", err)
	case status == harness.RunPaused || status == harness.RunAwaiting:
		return fmt.Errorf("cancel run %s: it came to rest first (%s): %w", id, status, harness.ErrStale)
	}
	return r.settled(ctx, id)
}

// Pause implements [harness.Engine]. It reaches whoever drives the run; one that
// nobody drives is paused by whoever takes it.
func (r *Remote) Pause(ctx context.Context, id harness.RunID) error {
	job, err := r.o.Backend.Get(ctx, id)
	if err != nil {
		return r.absent(ctx, "pause", id, err, func(s harness.RunStatus) bool { return s != harness.RunRunning })
	}
	if job.Run.Status == harness.RunRunning {
		if _, err := r.ask(ctx, id, AskPause, func(j Job) bool {
			return j.Run.Status != harness.RunRunning || j.Run.Worker == nil
		}); err != nil {
			return fmt.Errorf("pause: %w", err)
		}
	}
	return r.settled(ctx, id)
}

// absent says of a run that could not be read why. One that only the conversation
// has cannot be stopped, and need not be if it stands as wanted.
func (r *Remote) absent(ctx context.Context, op string, id harness.RunID, err error, wanted func(harness.RunStatus) bool) error {
	if !errors.Is(err, harness.ErrNotFound) {
		return fmt.Errorf("%s: %w", op, r.silent(id, err))
	}
	home, err := r.o.Home.Get(ctx, id)
	switch {
	case err != nil:
		return fmt.Errorf("%s run %s: %w", op, id, err)
	case wanted(home.Status):
		return nil
	}
	return fmt.Errorf("%s: run %s is not at %s any more, so there is nothing to stop; drop it to end it: %w", op, id, r.o.Engine, harness.ErrNotFound)
}

// ask asks the driver of a run and waits until that is done.
func (r *Remote) ask(ctx context.Context, id harness.RunID, a Ask, done func(Job) bool) (harness.RunStatus, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	changes, err := r.o.Backend.Watch(ctx, id)
	if err != nil {
		return "", r.silent(id, err)
	}
	if err := r.o.Backend.Ask(ctx, id, a); err != nil {
		return "", r.silent(id, err)
	}
	for {
		job, err := r.o.Backend.Get(ctx, id)
		switch {
		case err != nil:
			return "", r.silent(id, err)
		case done(job):
			return job.Run.Status, nil
		}
		select {
		case _, ok := <-changes:
			if !ok && ctx.Err() == nil {
				return "", r.silent(id, errUnwatched)
			}
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
}

// settled waits for whoever follows a run here to hand over how it rests.
func (r *Remote) settled(ctx context.Context, id harness.RunID) error {
	f := r.find(id)
	if f == nil {
		return nil
	}
	select {
	case f.kick <- struct{}{}:
	default:
	}
	select {
	case <-f.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave implements [harness.Remote]. What the run did until then is handed over.
func (r *Remote) Leave(ctx context.Context, id harness.RunID) error {
	if r.drives(ctx, id) {
		return r.Pause(ctx, id)
	}
	if f := r.find(id); f != nil {
		f.leave(ctx)
	}
	return nil
}

// drives reports whether this process drives a run.
func (r *Remote) drives(ctx context.Context, id harness.RunID) bool {
	ctx, end := context.WithCancel(ctx)
	defer end()
	_, here := r.o.Backend.Live(ctx, id)
	return here
}

// leave ends following and waits for that.
func (f *following) leave(ctx context.Context) {
	f.cancel()
	select {
	case <-f.gone:
	case <-ctx.Done():
	}
}

// Close implements [harness.Engine]: it pauses what this process drives, hands that
// over, and closes the backend. Runs that are driven elsewhere go on. It may be
// called more than once.
func (r *Remote) Close(ctx context.Context) error {
	r.mu.Lock()
	was := r.closed
	r.closed = true
	follows := slices.Collect(maps.Keys(r.follows))
	r.mu.Unlock()
	if was {
		return nil
	}
	// All at once: the time that tools get to finish must not add up.
	errs := make([]error, len(follows)+1)
	var leaving sync.WaitGroup
	for i, f := range follows {
		leaving.Go(func() {
			if f.hands && r.drives(ctx, f.id) {
				errs[i] = r.Pause(ctx, f.id)
			}
			f.leave(ctx)
		})
	}
	leaving.Wait()
	errs[len(follows)] = r.o.Backend.Close(ctx)
	return errors.Join(errs...)
}

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"cairn/harness"
)

// Cancel implements [harness.Engine]. It wins over a pause that is under way.
// A run that has ended meanwhile, or failed, needs none. It ends what is active
// in this process; a run at rest is ended by [Local.Resume] with
// [harness.ResumeDrop], or by an abort in [Local.Decide], because what that
// writes needs the session's lease.
func (l *Local) Cancel(ctx context.Context, id harness.RunID) error {
	a := l.find(id)
	if a == nil {
		return l.idle(ctx, id, func(s harness.RunStatus) bool { return s.Closed() || s == harness.RunFailed })
	}
	a.cancelled.Store(true)
	a.soft(errCancelled)
	a.cancel(errCancelled)
	res, err := a.Wait(ctx)
	switch {
	case err != nil:
		return err
	case a.broke != nil:
		return fmt.Errorf("cancel: %w", a.broke)
	case res.Status == harness.RunPaused || res.Status == harness.RunAwaiting:
		return fmt.Errorf("cancel run %s: it came to rest first (%s): %w", id, res.Status, harness.ErrStale)
	}
	return nil
}

// pauseGrace is how long a tool that runs may take to finish before a pause
// leaves its outcome unknown. The session's owner promises to let go in 2 s.
const pauseGrace = 1500 * time.Millisecond

// Pause implements [harness.Engine]. A run that rests already needs none.
func (l *Local) Pause(ctx context.Context, id harness.RunID) error {
	a := l.find(id)
	if a == nil {
		return l.idle(ctx, id, func(s harness.RunStatus) bool { return s != harness.RunRunning })
	}
	return a.pause(ctx)
}

// pause ends the stretch so that its run can be resumed, and waits for that. One
// that was lost to another owner meanwhile needs none.
func (a *active) pause(ctx context.Context) error { return a.rest(ctx, errPaused, pauseGrace) }

// rest ends the stretch for a reason, gives tools that run some time to finish,
// and waits.
func (a *active) rest(ctx context.Context, why error, grace time.Duration) error {
	a.soft(why)
	patient, stop := context.WithTimeout(ctx, grace)
	defer stop()
	if _, err := a.Wait(patient); err != nil {
		a.cancel(why)
		if _, err := a.Wait(ctx); err != nil {
			return err
		}
	}
	if a.broke != nil && !errors.Is(a.broke, harness.ErrLost) {
		return fmt.Errorf("pause: %w", a.broke)
	}
	return nil
}

// find returns the stretch of a run that is active here, or nil.
func (l *Local) find(id harness.RunID) *active {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active[id]
}

// idle returns nil if the run, which is not active here, stands as wanted.
func (l *Local) idle(ctx context.Context, id harness.RunID, wanted func(harness.RunStatus) bool) error {
	info, err := l.o.Journal.Get(ctx, id)
	switch {
	case err != nil:
		return fmt.Errorf("run %s: %w", id, err)
	case !wanted(info.Status):
		return fmt.Errorf("run %s is %s and not active here, so there is nothing to stop (to end it, drop it): %w", id, info.Status, harness.ErrNotFound)
	}
	return nil
}

// Get implements [harness.Engine].
func (l *Local) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	r, err := l.o.Journal.Get(ctx, id)
	if err != nil {
		return r, err
	}
	r = l.seen(r)
	if r.Status.Closed() || r.Status == harness.RunRunning && !r.Interrupted {
		return r, nil
	}
	_, state, _, err := l.load(ctx, id)
	if err != nil {
		return r, err
	}
	r.Pending, r.Steers = waiting(r, state), saidInto(state)
	return r, nil
}

// List implements [harness.Engine].
func (l *Local) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	runs, err := l.o.Journal.List(ctx, f)
	for i, r := range runs {
		runs[i] = l.seen(r)
	}
	return runs, err
}

// seen marks a run as interrupted if its end could not be stored here: its
// session's owner lives, which is all that the store can tell. A half answer
// that became void is none.
func (l *Local) seen(r harness.Run) harness.Run {
	if r.Partial != nil && r.Partial.Text+r.Partial.Thinking == "" {
		r.Partial = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if driver, ok := l.broken[r.ID]; ok && r.Status == harness.RunRunning && r.Driver == driver {
		r.Interrupted = true
	}
	return r
}

// Close implements [harness.Engine]. It may be called more than once.
func (l *Local) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	runs := slices.Collect(maps.Values(l.active))
	l.mu.Unlock()
	// All at once: the time that tools get to finish must not add up.
	errs := make([]error, len(runs)+1)
	var pauses sync.WaitGroup
	for i, a := range runs {
		// The stretch and not its run, which somebody else may drive by then.
		pauses.Go(func() { errs[i] = a.pause(ctx) })
	}
	pauses.Wait()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		l.wg.Wait()
	}()
	select {
	case <-gone:
	case <-ctx.Done():
		errs[len(runs)] = ctx.Err()
	}
	return errors.Join(errs...)
}

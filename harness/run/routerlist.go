package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"cairn/harness"
)

// Get implements [harness.Engine]. What is known of a run whose engine cannot be
// opened is told, with the reason.
func (r *Router) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	within, end := context.WithTimeout(ctx, answerWithin)
	defer end()
	engine, _, home, err := r.of(within, id)
	switch {
	case err == nil:
		return engine.Get(ctx, id)
	case home.ID == "" || ctx.Err() != nil:
		return home, err
	case home.Status.Closed():
		return home, nil
	default:
		return silenced(home, err), nil
	}
}

// silenced returns a run of which nobody but the conversation could be asked.
func silenced(home harness.Run, err error) harness.Run {
	home.Interrupted = false
	home.Unreachable = err.Error()
	return home
}

// List implements [harness.Engine]: the runs of all engines. An engine that does not
// answer within some seconds, or cannot be opened, is told in its runs.
func (r *Router) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	runs, err := r.o.Native.List(ctx, f)
	if err != nil {
		return runs, err
	}
	away := map[string]bool{}
	for _, have := range runs {
		if !r.native(have.Engine) && !have.Status.Closed() {
			away[have.Engine] = true
		}
	}
	var asking sync.WaitGroup
	for name := range away {
		// Each writes those of its own engine alone.
		asking.Go(func() { r.overlay(ctx, name, runs) })
	}
	asking.Wait()
	return runs, ctx.Err()
}

// overlay brings the runs of an engine up to date.
func (r *Router) overlay(ctx context.Context, name string, runs []harness.Run) {
	within, end := context.WithTimeout(ctx, answerWithin)
	defer end()
	remote, err := r.remote(within, name)
	if err == nil {
		remote.overlay(within, runs)
		return
	}
	for i, have := range runs {
		if have.Engine == name && !have.Status.Closed() {
			runs[i] = silenced(have, err)
		}
	}
}

// Fetch implements [harness.Remote]: from all engines that runs of the session name.
// One that cannot be opened matters only if it has a run that has not ended.
func (r *Router) Fetch(ctx context.Context, l harness.Lease) (got harness.Fetched, err error) {
	runs, err := r.o.Home.List(ctx, harness.RunFilter{Session: l.Session})
	if err != nil {
		return got, fmt.Errorf("runs of session %s: %w", l.Session, err)
	}
	open := map[string]bool{}
	var names []string
	for _, have := range runs {
		if r.native(have.Engine) {
			continue
		}
		if _, known := open[have.Engine]; !known {
			names = append(names, have.Engine)
		}
		open[have.Engine] = open[have.Engine] || !have.Status.Closed()
	}
	var errs []error
	for _, name := range names {
		remote, err := r.remote(ctx, name)
		if err != nil {
			if open[name] {
				errs = append(errs, fmt.Errorf("fetch session %s: %w", l.Session, err))
			}
			continue
		}
		one, err := remote.Fetch(ctx, l)
		got.Entries, got.Runs, got.Lost = got.Entries+one.Entries, got.Runs+one.Runs, append(got.Lost, one.Lost...)
		errs = append(errs, err)
	}
	return got, errors.Join(errs...)
}

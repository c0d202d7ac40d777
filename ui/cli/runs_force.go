package cli

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/run"
)

// wrest goes on with a run also if a living process has it: it is taken from that
// one first.
func (a *app) wrest(ctx context.Context, text string) error {
	b, err := a.direct(ctx)
	if err != nil {
		return err
	}
	if b != nil {
		j, _, err := findJob(ctx, b, text)
		if err != nil {
			return err
		}
		if err := a.take(ctx, b, j.Run); err != nil {
			return err
		}
		err = a.goOnThere(ctx, b, text, harness.ResumeContinue)
		if isBusy(err) { // a worker was faster, which is what was asked for
			return a.done(ctx, b, j.Run.ID, "another process goes on with it")
		}
		return err
	}
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	r, err := findRun(ctx, st, text)
	if err != nil {
		return err
	}
	if !r.Away() {
		return usage("run %s is kept in the store of its conversation and goes with that: close the window that has session %s", r.ID, r.Session)
	}
	if b, err = a.keeper(ctx, r); err != nil {
		return err
	}
	j, err := b.Get(ctx, r.ID)
	switch {
	case err == nil:
		err = a.take(ctx, b, j.Run)
	case errors.Is(err, harness.ErrNotFound):
		err = nil // its engine never got it
	default:
		err = fmt.Errorf("read run %s: %w", r.ID, err)
	}
	if err != nil {
		return err
	}
	return a.goOn(ctx, text, harness.ResumeContinue)
}

// take takes a run from whoever drives it. Of one that nobody drives nothing is
// taken.
func (a *app) take(ctx context.Context, b run.Backend, r harness.Run) error {
	if r.Worker == nil || r.Status != harness.RunRunning {
		return nil
	}
	w, ok := b.(run.Wrester)
	if !ok {
		return usage("run %s is driven by %s, and its engine takes it from nobody who lives; stop it with: cairn runs cancel %s", r.ID, r.Worker, r.ID)
	}
	if err := w.Wrest(ctx, r.ID); err != nil {
		return err
	}
	a.notice("run %s was taken from %s", r.ID, r.Worker)
	return nil
}

// isBusy reports whether an error is that somebody else drives the run.
func isBusy(err error) bool {
	if _, held := harness.AsHeld(err); held {
		return true
	}
	var f *failure
	return errors.As(err, &f) && f.code == ExitBusy
}

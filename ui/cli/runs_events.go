package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
)

// followEvery is how often a run is looked at that nobody tells of.
const followEvery = time.Second

// runSource is where a run is read from.
type runSource struct {
	get  func(ctx context.Context) (harness.Run, error)
	read func(ctx context.Context) ([]run.Entry, error)
	// changes receives after the run may have changed; nil if nobody tells.
	changes <-chan struct{}
}

func (a *app) runsEvents() *cobra.Command {
	var after int
	var follow bool
	cmd := &cobra.Command{
		Use: "events RUN", Short: "Print what happened in a run, and follow it",
		Long: "Print what happened in a run, step by step as it is on disk; with --json the events of: cairn help events, one a line.\n\nEach has a number. Who was cut off goes on with --after and the last one that was printed, and misses nothing.\n\nWith --follow also the text of an answer is printed while it streams, as far as it is on disk; the step with the whole answer comes after it.",
		Args: exactly(1, "the id of a run"), ValidArgsFunction: a.completeRun,
	}
	cmd.Flags().IntVar(&after, "after", 0, "begin after entry `N`")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the run has ended")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		if after < 0 {
			return usage("--after %d is negative; give the number of the last entry that you have", after)
		}
		src, err := a.sourceOf(ctx, args[0])
		if err != nil {
			return err
		}
		t := trail{app: a, src: src, after: after}
		defer t.endLine()
		return t.print(ctx, args[0], follow)
	})
	return cmd
}

// print prints what happened in the run that a text names, until it has ended if
// it is followed.
func (t *trail) print(ctx context.Context, text string, follow bool) error {
	for {
		r, err := t.src.get(ctx)
		if err != nil {
			return fmt.Errorf("read run %s: %w", text, err)
		}
		if err := t.entries(ctx, r); err != nil {
			return err
		}
		if !follow || r.Status.Closed() {
			return nil
		}
		if err := t.streamed(r); err != nil {
			return err
		}
		select {
		case _, more := <-t.src.changes:
			if !more {
				t.src.changes = nil
			}
		case <-time.After(followEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sourceOf finds where a run is read from: its engine, if another one keeps it.
func (a *app) sourceOf(ctx context.Context, text string) (runSource, error) {
	b, err := a.direct(ctx)
	if err != nil {
		return runSource{}, err
	}
	var id harness.RunID
	if b != nil {
		j, _, err := findJob(ctx, b, text)
		if err != nil {
			return runSource{}, err
		}
		id = j.Run.ID
	} else {
		st, err := a.reading(ctx)
		if err != nil {
			return runSource{}, err
		}
		r, err := findRun(ctx, st, text)
		if err != nil {
			return runSource{}, err
		}
		if !r.Away() || r.Status.Closed() { // all of it was handed over
			return storeSource(ctx, st, r.ID), nil
		}
		if b, err = a.keeper(ctx, r); err != nil {
			return runSource{}, err
		}
		id = r.ID
	}
	changes, err := b.Watch(ctx, id)
	if err != nil {
		return runSource{}, fmt.Errorf("watch run %s: %w", id, err)
	}
	return runSource{
		get: func(ctx context.Context) (harness.Run, error) {
			j, err := b.Get(ctx, id)
			return j.Run, err
		},
		read:    func(ctx context.Context) ([]run.Entry, error) { return b.Read(ctx, id, 0) },
		changes: changes,
	}, nil
}

// storeSource reads a run from the store of the conversations.
func storeSource(ctx context.Context, st Store, id harness.RunID) runSource {
	src := runSource{
		get:  func(ctx context.Context) (harness.Run, error) { return st.Runs.Get(ctx, id) },
		read: func(ctx context.Context) ([]run.Entry, error) { return st.Runs.Read(ctx, id, 0) },
	}
	if st.Watch != nil {
		if changes, err := st.Watch.Watch(ctx); err == nil {
			src.changes = changes
		} // else it is looked at now and then
	}
	return src
}

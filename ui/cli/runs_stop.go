package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
)

const (
	// stopPatience is how long a command waits for whoever drives a run to stop,
	// and stopEvery how often it looks.
	stopPatience = 10 * time.Second
	stopEvery    = 100 * time.Millisecond
)

// runsStop are the commands that stop whoever drives a run.
func (a *app) runsStop() []*cobra.Command {
	var all []*cobra.Command
	for _, c := range []struct {
		use, short, long string
		ask              run.Ask
	}{
		{
			"pause RUN", "Pause a run, whoever drives it", "Pause a run, whoever drives it: another window, or a worker on another machine. It can be gone on with.", run.AskPause,
		},
		{
			"cancel RUN", "Stop a run for good, whoever drives it", "Stop a run for good, whoever drives it. What it has said is kept.", run.AskCancel,
		},
	} {
		all = append(all, &cobra.Command{
			Use: c.use, Short: c.short, Long: c.long, Args: exactly(1, "the id of a run"), ValidArgsFunction: a.completeRun,
			RunE: runner(func(ctx context.Context, args []string) error { return a.halt(ctx, args[0], c.ask) }),
		})
	}
	return all
}

// halt has a run stop and waits until it has.
func (a *app) halt(ctx context.Context, text string, ask run.Ask) error {
	b, err := a.direct(ctx)
	if err != nil {
		return err
	}
	if b != nil {
		j, _, err := findJob(ctx, b, text)
		if err != nil {
			return err
		}
		return a.haltThere(ctx, b, j.Run, ask)
	}
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	r, err := findRun(ctx, st, text)
	if err != nil {
		return err
	}
	if r.Status.Closed() {
		return fail(ExitFailed, "run %s has ended already (%s)", r.ID, runWord(r))
	}
	if r.Away() {
		if b, err = a.keeper(ctx, r); err != nil {
			return err
		}
		return a.haltThere(ctx, b, r, ask)
	}
	return a.haltHere(ctx, st, r, ask)
}

// haltThere asks the driver of a run at its engine.
func (a *app) haltThere(ctx context.Context, b run.Backend, r harness.Run, ask run.Ask) error {
	j, err := b.Get(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("read run %s: %w", r.ID, err)
	}
	if j.Run.Status.Closed() {
		return fail(ExitFailed, "run %s has ended already (%s)", r.ID, runWord(j.Run))
	}
	if ask == run.AskPause && j.Run.Status != harness.RunRunning {
		return a.done(ctx, b, r.ID, "it rests already")
	}
	if ask == run.AskCancel && j.Run.Worker == nil {
		// Nobody is there to be asked.
		if err := b.Resume(ctx, r.ID, harness.ResumeClose, false); err == nil {
			return a.done(ctx, b, r.ID, "stopped")
		}
	}
	if err := b.Ask(ctx, r.ID, ask); err != nil {
		return fmt.Errorf("%s run %s: %w", ask, r.ID, err)
	}
	bounded, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for {
		j, err := b.Get(bounded, r.ID)
		switch {
		case err == nil && j.Run.Status != harness.RunRunning:
			return a.done(ctx, b, r.ID, map[run.Ask]string{run.AskPause: "paused", run.AskCancel: "stopped"}[ask])
		case ctx.Err() != nil:
			return ctx.Err()
		case bounded.Err() != nil:
			return a.done(ctx, b, r.ID, "asked, and not done yet: whoever drives it does so as soon as it looks")
		case err != nil:
			return fmt.Errorf("read run %s: %w", r.ID, err)
		}
		if !sleep(bounded, stopEvery) && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// haltHere has the window that has the session of a run let go of it, which pauses
// the run.
func (a *app) haltHere(ctx context.Context, st Store, r harness.Run, ask run.Ask) error {
	lease, err := a.takeSession(ctx, st, r.Session)
	if err != nil {
		return err
	}
	free := context.WithoutCancel(ctx)
	what := "paused"
	if ask == run.AskCancel {
		what = "stopped"
		var engine harness.Engine
		if engine, err = a.engine(free, st); err == nil {
			err = ended(free, engine, lease, r.ID)
		}
	}
	if e := st.Owners.Release(free, lease); err == nil && e != nil {
		err = fmt.Errorf("give back session %s: %w", r.Session, e)
	}
	if err != nil {
		return err
	}
	now, err := st.Runs.Get(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("read run %s: %w", r.ID, err)
	}
	if a.flags.json {
		return a.out.document(now)
	}
	a.out.line("%s: %s (%s)", r.ID, what, runState(now))
	return nil
}

// ended ends a run that nobody drives, and keeps what it said.
func ended(ctx context.Context, engine harness.Engine, l harness.Lease, id harness.RunID) error {
	h, err := engine.Resume(ctx, l, id, harness.ResumeClose)
	if err == nil {
		_, err = h.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("stop run %s: %w", id, err)
	}
	return nil
}

// takeSession takes a session, from whoever has it if they let go.
func (a *app) takeSession(ctx context.Context, st Store, id harness.SessionID) (harness.Lease, error) {
	bounded, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	asked := false
	for {
		lease, err := st.Owners.Acquire(ctx, harness.Session{ID: id}, a.holder())
		if _, held := harness.AsHeld(err); !held {
			return lease, err
		}
		if !asked {
			if e := st.Owners.Ask(ctx, id, a.holder()); e != nil && !errors.Is(e, harness.ErrNotFound) {
				return lease, fmt.Errorf("ask for session %s: %w", id, e)
			}
			asked = true
		}
		if !sleep(bounded, stopEvery) {
			return lease, err
		}
	}
}

// sleep waits and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

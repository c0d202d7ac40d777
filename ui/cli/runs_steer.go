package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
)

// runsSteer is `cairn runs steer`.
func (a *app) runsSteer() *cobra.Command {
	cmd := &cobra.Command{
		Use: "steer RUN TEXT|-", Short: "Say something into a run, whoever drives it",
		Long: "Say something into a run that goes on, whoever drives it: its model is told before its next step, and no tool is stopped. " +
			"A run that rests is told once it goes on. - reads the text from standard input. A run that has ended is told nothing (exit 1): send a message to its session.",
		ValidArgsFunction: a.completeRun,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return usage("%s needs a run and what is to be said, or - to read that from standard input; see: %s --help", cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		text, err := a.textOf(ctx, args[1:])
		if err != nil {
			return err
		}
		if text = strings.TrimSpace(text); text == "" {
			return usage("nothing is said: the text is empty")
		}
		if err := validText("the text", text); err != nil {
			return err
		}
		return a.steer(ctx, args[0], text)
	})
	return cmd
}

// steer says something into a run.
func (a *app) steer(ctx context.Context, name, text string) error {
	b, err := a.direct(ctx)
	if err != nil {
		return err
	}
	if b != nil {
		j, _, err := findJob(ctx, b, name)
		if err != nil {
			return err
		}
		return a.steerThere(ctx, b, j.Run, text)
	}
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	r, err := findRun(ctx, st, name)
	if err != nil {
		return err
	}
	if r.Away() && !r.Status.Closed() {
		if b, err = a.keeper(ctx, r); err != nil {
			return err
		}
		return a.steerThere(ctx, b, r, text)
	}
	if err := a.said(ctx, st.Runs, r, text); err != nil {
		return err
	}
	now, err := st.Runs.Get(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("read run %s: %w", r.ID, err)
	}
	shown := []harness.Run{now}
	if err := a.withPending(ctx, st, shown); err != nil {
		return err
	}
	if a.flags.json {
		return a.out.document(shown[0])
	}
	a.out.line("%s: %s (%s)", r.ID, heardWhen(now), runState(shown[0]))
	return nil
}

// steerThere says something into a run at its engine.
func (a *app) steerThere(ctx context.Context, b run.Backend, r harness.Run, text string) error {
	if err := a.said(ctx, b, r, text); err != nil {
		return err
	}
	j, err := b.Get(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("read run %s: %w", r.ID, err)
	}
	return a.done(ctx, b, r.ID, heardWhen(j.Run))
}

// said stores what is said into a run where that is kept.
func (a *app) said(ctx context.Context, where any, r harness.Run, text string) error {
	err := run.SteerAt(ctx, where, a.s.Now().UTC(), r.ID, harness.Steer{ID: harness.NewID(), Message: harness.UserText(text)})
	switch {
	case errors.Is(err, harness.ErrEnded):
		return fail(ExitFailed, "run %s has ended already (%s): send a message with: cairn -p --session %s TEXT", r.ID, runWord(r), r.Session)
	case errors.Is(err, errors.ErrUnsupported):
		return fail(ExitFailed, "run %s is driven by an older version of cairn, which cannot be told anything meanwhile; stop it with: cairn runs cancel %s", r.ID, r.ID)
	case errors.Is(err, harness.ErrNotFound):
		return fail(ExitNotFound, "there is no run %q; see: cairn runs list", string(r.ID))
	}
	return err
}

// heardWhen says when a run is told what was said into it.
func heardWhen(r harness.Run) string {
	if r.Status == harness.RunRunning && !r.Interrupted {
		return "said; the model is told it before its next step"
	}
	return "said; the model is told it once the run goes on"
}

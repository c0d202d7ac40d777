package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
)

// runsOn are the commands that go on with an unfinished run, or end it.
func (a *app) runsOn() []*cobra.Command {
	var all []*cobra.Command
	for _, c := range []struct {
		use, short string
		how        harness.ResumeHow
	}{
		{"resume RUN", "Go on with an unfinished run and print the answer; its half answer is kept", harness.ResumeContinue},
		{"retry RUN", "Ask again for the answer of an unfinished run, without its half answer", harness.ResumeRetry},
		{"drop RUN", "End an unfinished run; its half answer stays in the history", harness.ResumeDrop},
	} {
		cmd := &cobra.Command{
			Use: c.use, Short: c.short, Args: exactly(1, "the id of a run"),
			ValidArgsFunction: a.completeRun,
		}
		force := false
		switch c.how {
		case harness.ResumeDrop:
			cmd.Flags().BoolVar(&force, "force", false, "also if what keeps the run cannot be reached: what it did there is lost then")
		case harness.ResumeContinue:
			cmd.Flags().BoolVar(&force, "force", false, "also if a process that is stopped or hangs has the run: it can write nothing more of it then")
		default: // asking again is of one's own run
		}
		cmd.RunE = runner(func(ctx context.Context, args []string) error {
			switch {
			case force && c.how == harness.ResumeDrop:
				return a.abandon(ctx, args[0])
			case force:
				return a.wrest(ctx, args[0])
			}
			return a.goOn(ctx, args[0], c.how)
		})
		a.permissionFlags(cmd.Flags())
		all = append(all, cmd)
	}
	return all
}

// goOn takes a run up again, in its session and with the configuration that it
// began with.
func (a *app) goOn(ctx context.Context, text string, how harness.ResumeHow) error {
	if b, err := a.direct(ctx); err != nil || b != nil {
		if err != nil {
			return err
		}
		return a.goOnThere(ctx, b, text, how)
	}
	p, r, err := a.unfinished(ctx, text)
	if err != nil {
		return err
	}
	p.dropping = how == harness.ResumeDrop
	return p.drive(ctx, func(work context.Context) (harness.RunHandle, int, error) {
		// What the run's last driver left is known now that the session is ours.
		r, err := p.engine.Get(work, r.ID)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("read run %s: %w", r.ID, err)
		case r.Status.Closed():
			return nil, 0, fail(ExitFailed, "run %s has ended (%s); there is nothing to go on with", r.ID, runWord(r))
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		}
		h, err := p.engine.Resume(work, p.lease, r.ID, how)
		if err != nil {
			return nil, 0, err
		}
		if how == harness.ResumeContinue && r.Partial != nil {
			p.printer.kept(r.Partial.Text)
		}
		return h, r.Cursor, nil
	})
}

// abandoner is an engine that gives up a run that it cannot ask about.
type abandoner interface {
	Abandon(ctx context.Context, l harness.Lease, id harness.RunID) error
}

// abandon drops a run, also one that is kept where nobody answers.
func (a *app) abandon(ctx context.Context, text string) error {
	p, r, err := a.unfinished(ctx, text)
	if err != nil {
		return err
	}
	lease, err := a.takeSession(ctx, p.store, r.Session)
	if err != nil {
		return err
	}
	free := context.WithoutCancel(ctx)
	engine, err := a.engine(free, p.store)
	if err == nil {
		if g, ok := engine.(abandoner); ok {
			err = g.Abandon(free, lease, r.ID)
		} else {
			err = fmt.Errorf("drop run %s: %w", r.ID, errors.ErrUnsupported)
		}
	}
	if e := p.store.Owners.Release(free, lease); err == nil && e != nil {
		err = fmt.Errorf("give back session %s: %w", r.Session, e)
	}
	if err != nil {
		return err
	}
	a.notice("run %s was given up", r.ID)
	return nil
}

// unfinished prepares to go on with the run that a text names, in its session.
func (a *app) unfinished(ctx context.Context, text string) (*printing, harness.Run, error) {
	a.conversing, a.interactive = true, true
	st, err := a.reading(ctx)
	if err != nil {
		return nil, harness.Run{}, err
	}
	r, err := findRun(ctx, st, text)
	if err != nil {
		return nil, r, err
	}
	if err := a.heedProject(r.Dir); err != nil {
		return nil, r, err
	}
	session, err := st.Sessions.Get(ctx, r.Session)
	if err != nil {
		if deleted := refuseDeleted(ctx, st, r.Session); deleted != nil {
			return nil, r, deleted
		}
		return nil, r, fmt.Errorf("read session %s: %w", r.Session, err)
	}
	p := &printing{app: a, store: st, target: target{session: session, exists: true}, printer: a.printer(session.ID)}
	return p, r, nil
}

// completeRun completes the ids of unfinished runs.
func (a *app) completeRun(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offer(cmd, start, a.openRuns)
}

// openRuns are the ids of unfinished runs with their states.
func (a *app) openRuns(ctx context.Context) ([]string, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	list, err := st.Runs.List(ctx, harness.RunFilter{Unfinished: true, Limit: maxCompleted})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range list {
		ids = append(ids, cobra.CompletionWithDesc(string(r.ID), runWord(r)))
	}
	return ids, nil
}

// completeWaiting completes the ids of unfinished runs, and then those of the
// calls that a run waits for.
func (a *app) completeWaiting(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.offer(cmd, start, a.openRuns)
	case 1:
		return a.offer(cmd, start, func(ctx context.Context) ([]string, error) { return a.waitingCalls(ctx, args[0]) })
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// waitingCalls are the ids of the calls that a run waits for, with what they
// would do.
func (a *app) waitingCalls(ctx context.Context, text string) ([]string, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	r, err := findRun(ctx, st, text)
	if err != nil {
		return nil, err
	}
	runs := []harness.Run{r}
	if err := a.withPending(ctx, st, runs); err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range runs[0].Pending {
		ids = append(ids, cobra.CompletionWithDesc(render.SafeLine(p.Call.ID), render.Truncate(proposal.Brief(p), maxBrief, "…")))
	}
	return ids, nil
}

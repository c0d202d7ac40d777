package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/ui/plain/proposal"
)

// directFlag lets the commands about runs look at an engine itself.
func directFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().String(keyEngine, "", "the runs in `URL`, also those of other machines, without their sessions: sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE")
}

// direct opens the engine that --engine names, nil if it was not given.
func (a *app) direct(ctx context.Context) (run.Backend, error) {
	if !a.flags.engineGiven {
		return nil, nil //nolint:nilnil // none was named
	}
	setup, err := a.setup()
	if err != nil {
		return nil, err
	}
	return a.jobs(ctx, setup)
}

// jobs opens the engine of a setup. It is closed at the end of the command.
func (a *app) jobs(ctx context.Context, setup Setup) (run.Backend, error) {
	if setup.Engine.Kind == run.KindBbolt || a.wire.OpenJobs == nil {
		return nil, usage("the runs of %s are in the store: leave --engine out", setup.Engine.Name)
	}
	b, err := a.wire.OpenJobs(ctx, setup)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", setup.Engine.Name, err)
	}
	a.closers = append(a.closers, func() error {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
		defer cancel()
		return b.Close(bounded)
	})
	return b, nil
}

// keeper opens the engine that keeps a run.
func (a *app) keeper(ctx context.Context, r harness.Run) (run.Backend, error) {
	setup, err := a.setup()
	if err != nil {
		return nil, err
	}
	if setup.Engine, err = run.ParseAddress(r.Engine); err != nil {
		return nil, fmt.Errorf("run %s: %w", r.ID, err)
	}
	for _, known := range setup.Config.Engines { // it may hold a password
		if known.Name == r.Engine {
			setup.Engine = known
		}
	}
	return a.jobs(ctx, setup)
}

// findJob finds a run of an engine by its id or the start of it.
func findJob(ctx context.Context, b run.Backend, text string) (run.Job, []run.Entry, error) {
	id := strings.ToLower(strings.TrimSpace(text))
	j, err := b.Get(ctx, harness.RunID(id))
	if errors.Is(err, harness.ErrNotFound) {
		var all []run.Job
		if all, err = b.List(ctx, run.JobFilter{}); err != nil {
			return j, nil, fmt.Errorf("list runs: %w", err)
		}
		found := 0
		for _, one := range all {
			if id != "" && strings.HasPrefix(string(one.Run.ID), id) {
				j, found = one, found+1
			}
		}
		switch found {
		case 0:
			return j, nil, fail(ExitNotFound, "there is no run %q there; see: cairn runs list --engine URL", text)
		case 1:
		default:
			return j, nil, usage("%q could be %d runs; give more of the id of one", text, found)
		}
	}
	if err != nil {
		return j, nil, fmt.Errorf("read run %s: %w", id, err)
	}
	entries, err := b.Read(ctx, j.Run.ID, 0)
	if err == nil && (j.Run.Status != harness.RunRunning || j.Run.Interrupted) { // what a call that is driven did will be known
		j.Run.Pending, err = run.PendingOf(j.Run, entries)
	}
	if err != nil {
		return j, nil, fmt.Errorf("read run %s: %w", j.Run.ID, err)
	}
	j.Run.Unfetched = j.Run.Cursor - j.Acknowledged
	return j, entries, nil
}

// listJobs are the runs of an engine, newest first.
func listJobs(ctx context.Context, b run.Backend, f run.JobFilter) ([]harness.Run, error) {
	jobs, err := b.List(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	runs := make([]harness.Run, 0, len(jobs))
	for _, j := range jobs {
		r := j.Run
		r.Unfetched = r.Cursor - j.Acknowledged
		if r.Status == harness.RunAwaiting || r.Interrupted {
			if full, _, err := findJob(ctx, b, string(r.ID)); err == nil {
				r.Pending = full.Run.Pending
			}
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// decideThere decides at the engine itself: whoever drives the run goes on with it.
func (a *app) decideThere(ctx context.Context, b run.Backend, d deciding) error {
	j, _, err := findJob(ctx, b, d.run)
	if err != nil {
		return err
	}
	r := j.Run
	if r.Status.Closed() {
		return fail(ExitFailed, "run %s has ended (%s); there is nothing to decide", r.ID, runWord(r))
	}
	waiting, err := pick(r, d.call, d.fits)
	if err != nil {
		return err
	}
	decision, err := d.decision(waiting)
	if err != nil {
		return err
	}
	if decision.Scope == harness.ScopeSession || decision.Scope == harness.ScopeAlways {
		return usage("--session and --always are kept with the conversation, which --engine leaves alone: approve it once, or decide where the session is")
	}
	if d.consent != nil {
		if err := a.agreeThere(ctx, r, waiting, decision, *d.consent); err != nil {
			return err
		}
	}
	decision.Call, decision.Digest = waiting.Call.ID, waiting.Digest
	if err := b.Decide(ctx, r.ID, false, decision); err != nil {
		return decideError(r, err)
	}
	return a.done(ctx, b, r.ID, "decided; a worker goes on with it")
}

// agreeThere has the person agree to what is shown, without any session.
func (a *app) agreeThere(ctx context.Context, r harness.Run, w harness.Pending, d harness.Decision, c consent) error {
	p := &printing{app: a, target: target{session: harness.Session{ID: r.Session}}}
	if c.yes || c.digest != "" {
		return p.agree(ctx, r, w, d, c)
	}
	for _, line := range proposal.Lines(w) {
		p.tell(line)
	}
	yes, err := p.confirm(ctx, "approve? [y/N] ")
	if err == nil && !yes {
		err = fail(ExitApproval, "nothing was decided")
	}
	return err
}

// done tells how a run stands after something was done at its engine.
func (a *app) done(ctx context.Context, b run.Backend, id harness.RunID, what string) error {
	j, _, err := findJob(ctx, b, string(id))
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.document(j.Run)
	}
	a.out.line("%s: %s (%s)", id, what, runState(j.Run))
	return nil
}

// goOnThere goes on with a run at its engine, or ends it.
func (a *app) goOnThere(ctx context.Context, b run.Backend, text string, how harness.ResumeHow) error {
	j, _, err := findJob(ctx, b, text)
	if err != nil {
		return err
	}
	r := j.Run
	switch {
	case r.Status.Closed():
		return fail(ExitFailed, "run %s has ended (%s); there is nothing to go on with", r.ID, runWord(r))
	case r.Worker != nil && r.Status == harness.RunRunning:
		return fail(ExitBusy, "run %s is driven by %s; stop it with: cairn runs cancel %s", r.ID, r.Worker, r.ID)
	}
	if err := b.Resume(ctx, r.ID, how, false); err != nil {
		return fmt.Errorf("go on with run %s: %w", r.ID, err)
	}
	what := "a worker goes on with it"
	if how == harness.ResumeDrop {
		what = "dropped"
	}
	return a.done(ctx, b, r.ID, what)
}

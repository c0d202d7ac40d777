package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
	away "cairn/ui/runs/standing"
)

// runsCommand is `cairn runs`.
func (a *app) runsCommand() *cobra.Command {
	commands := append([]*cobra.Command{a.runsList(), a.runsShow(), a.runsEvents()}, a.runsDecide()...)
	commands = append(append(commands, append(a.runsOn(), a.runsSteer())...), a.runsStop()...)
	cmd := group("runs", "List runs, the executions of turns, decide what they wait for, and go on with unfinished ones", append(commands, a.runsPrune())...)
	directFlag(cmd)
	return cmd
}

func (a *app) runsList() *cobra.Command {
	var session string
	f := harness.RunFilter{Limit: 50}
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: exactly(0, ""),
	}
	cmd.Flags().BoolVar(&f.Unfinished, "unfinished", false, "only those that have not ended")
	cmd.Flags().StringVar(&session, "session", "", "only those of `SESSION`")
	limitFlag(cmd, &f.Limit)
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		if b, err := a.direct(ctx); err != nil || b != nil {
			if err != nil {
				return err
			}
			list, err := listJobs(ctx, b, run.JobFilter{Session: harness.SessionID(session), Unfinished: f.Unfinished, Limit: f.Limit})
			if err != nil {
				return err
			}
			return a.printRuns(list)
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		if session != "" {
			s, err := findSession(ctx, st, session)
			if err != nil {
				return err
			}
			f.Session = s.ID
		}
		list, err := shownRuns(ctx, st, f)
		if err != nil {
			return fmt.Errorf("list runs: %w", err)
		}
		if err := a.withPending(ctx, st, list); err != nil {
			return err
		}
		return a.printRuns(list)
	})
	return cmd
}

// printRuns prints a list of runs.
func (a *app) printRuns(list []harness.Run) error {
	if a.flags.json {
		return a.out.document(orEmpty(list))
	}
	elsewhere := false
	for _, r := range list {
		elsewhere = elsewhere || r.Away()
	}
	var t table
	for _, r := range list {
		cells := []string{string(r.ID), a.when(r.Started), runState(r), string(r.Session), r.Config.Model}
		if elsewhere {
			cells = append(cells, r.Engine)
		}
		t.add(append(cells, runReason(r))...)
	}
	t.write(a.out, a.s.Width)
	return nil
}

// shownRuns lists the runs of sessions that are not deleted.
func shownRuns(ctx context.Context, st Store, f harness.RunFilter) ([]harness.Run, error) {
	deleted, err := st.Sessions.List(ctx, harness.SessionFilter{Deleted: true})
	if err != nil {
		return nil, err
	}
	if len(deleted) == 0 {
		return st.Runs.List(ctx, f)
	}
	gone := make(map[harness.SessionID]bool, len(deleted))
	for _, s := range deleted {
		gone[s.ID] = true
	}
	limit := f.Limit
	f.Limit = 0
	list, err := st.Runs.List(ctx, f)
	list = slices.DeleteFunc(list, func(r harness.Run) bool { return gone[r.Session] })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, err
}

// runReason says why a run did not complete, or what it waits for.
func runReason(r harness.Run) string {
	switch {
	case r.Error != nil:
		return r.Error.Text
	case len(r.Pending) > 0:
		return r.Pending[0].Call.Name + ": " + proposal.Brief(r.Pending[0])
	}
	return strings.Join(away.Notes(r, harness.Holder{}), "; ")
}

// findRun finds a run by its id or the start of it.
func findRun(ctx context.Context, st Store, text string) (harness.Run, error) {
	id := strings.ToLower(strings.TrimSpace(text))
	r, err := st.Runs.Get(ctx, harness.RunID(id))
	if err == nil {
		return r, nil
	}
	if !errors.Is(err, harness.ErrNotFound) {
		return r, fmt.Errorf("read run %s: %w", id, err)
	}
	all, err := st.Runs.List(ctx, harness.RunFilter{})
	if err != nil {
		return r, fmt.Errorf("list runs: %w", err)
	}
	var found []harness.Run
	for _, r := range all {
		if id != "" && strings.HasPrefix(string(r.ID), id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return r, fail(ExitNotFound, "there is no run %q; see: cairn runs list", text)
	case 1:
		return st.Runs.Get(ctx, found[0].ID)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q could be %d runs; give the id of one:", text, len(found))
	for _, r := range found[:min(len(found), maxNamed)] {
		fmt.Fprintf(&b, "\n  %s  %s  session %s", r.ID, runWord(r), r.Session)
	}
	return r, usage("%s", b.String())
}

// printRun prints one run for people.
func (a *app) printRun(r harness.Run) {
	var t table
	t.add("run", string(r.ID))
	t.add("session", string(r.Session))
	t.add("status", runState(r))
	if r.Stop != "" {
		t.add("ended by", strings.ReplaceAll(string(r.Stop), "_", " "))
	}
	if r.Error != nil {
		t.add("error", r.Error.Text)
	}
	t.add("model", r.Config.Model)
	t.add("engine", r.Engine)
	for _, note := range away.Notes(r, harness.Holder{}) {
		t.add("there", note)
	}
	t.add("started", a.when(r.Started))
	t.add("updated", a.when(r.Updated))
	t.add("tokens", fmt.Sprintf("%d in, %d out", r.Usage.Input, r.Usage.Output))
	t.add("cost", cost(r.Usage))
	if r.Dir != "" {
		t.add("directory", r.Dir)
	}
	t.write(a.out, a.s.Width)
	if r.Partial != nil && r.Partial.Text != "" {
		a.out.line("\nstreamed and no message yet (attempt %d, %s):", r.Partial.Attempt, render.SafeLine(a.when(r.Partial.At)))
		a.block(r.Partial.Text)
	}
}

// cost is what a usage cost, or that nobody knows.
func cost(u harness.Usage) string {
	switch {
	case !u.CostKnown && u.Cost > 0: // of a part of it
		return fmt.Sprintf("at least $%.4f", u.Cost)
	case !u.CostKnown:
		return "unknown"
	}
	return fmt.Sprintf("$%.4f", u.Cost)
}

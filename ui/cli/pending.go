package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
	away "cairn/ui/runs/standing"
)

// runState says in words how a run stands, and what it waits for.
func runState(r harness.Run) string {
	if len(r.Pending) == 0 {
		if long, _ := away.Word(r, harness.Holder{}); long != "" {
			return long
		}
		return runWord(r)
	}
	var words []string
	if r.Interrupted {
		words = append(words, runWord(r))
	}
	for _, p := range r.Pending {
		if w := proposal.State(p); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	text := strings.Join(words, ", ")
	if n := len(r.Pending); n > 1 {
		text += fmt.Sprintf(" (%d)", n)
	}
	return text
}

// withPending fills in what runs wait for. Only an engine knows: it is made
// when the first such run is met.
func (a *app) withPending(ctx context.Context, st Store, runs []harness.Run) error {
	var engine harness.Engine
	for i, r := range runs {
		if r.Status.Closed() || r.Status == harness.RunRunning && !r.Interrupted && !r.Away() {
			continue
		}
		if engine == nil {
			var err error
			if engine, err = a.engine(ctx, st); err != nil {
				return err
			}
		}
		full, err := engine.Get(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("read run %s: %w", r.ID, err)
		}
		if runs[i].Pending = full.Pending; r.Away() { // its engine knows the rest better, too
			runs[i] = full
		}
	}
	return nil
}

// engine makes an engine to look with. It is closed before the store.
func (a *app) engine(ctx context.Context, st Store) (harness.Engine, error) {
	setup, err := a.setup()
	if err != nil {
		return nil, err
	}
	engine, err := a.wire.NewEngine(ctx, st, setup)
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	a.closers = append(a.closers, func() error {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
		defer cancel()
		return engine.Close(bounded)
	})
	return engine, nil
}

// pick finds the decision that is meant among those a run waits for: the call
// with an id as typed, or the only one that fits.
func pick(r harness.Run, typed string, fits func(harness.Pending) bool) (harness.Pending, error) {
	var found []harness.Pending
	switch {
	case len(r.Pending) == 0:
		return harness.Pending{}, fail(ExitNotFound, "run %s waits for no decision (%s); see: cairn runs show %s", r.ID, runWord(r), r.ID)
	case typed != "":
		found = matching(r, strings.TrimSpace(typed))
	default:
		found = slices.DeleteFunc(slices.Clone(r.Pending), func(p harness.Pending) bool { return !fits(p) })
	}
	switch {
	case len(found) == 0 && typed != "":
		return harness.Pending{}, fail(ExitNotFound, "no call %q of run %s waits; these do:%s", typed, r.ID, listed(r.Pending))
	case len(found) == 0:
		return harness.Pending{}, misfit(r, r.Pending[0])
	case len(found) > 1 && typed != "":
		return harness.Pending{}, usage("%q could be %d calls of run %s; give more of the id of one:%s", typed, len(found), r.ID, listed(found))
	case len(found) > 1:
		return harness.Pending{}, usage("run %s waits for %d decisions; give the id of one call:%s", r.ID, len(found), listed(found))
	case !fits(found[0]):
		return harness.Pending{}, misfit(r, found[0])
	}
	return found[0], nil
}

// matching are the waiting calls that a text names: by the whole id, else by a
// beginning of it, with or without the run's id in front.
func matching(r harness.Run, typed string) []harness.Pending {
	var found []harness.Pending
	for _, p := range r.Pending {
		if p.Call.ID == typed {
			return []harness.Pending{p}
		}
		short := strings.TrimPrefix(p.Call.ID, string(r.ID)+"_")
		if strings.HasPrefix(p.Call.ID, typed) || strings.HasPrefix(short, typed) {
			found = append(found, p)
		}
	}
	return found
}

// misfit says which command answers what waits.
func misfit(r harness.Run, p harness.Pending) error {
	about := fmt.Sprintf("call %s of run %s", render.SafeLine(p.Call.ID), r.ID)
	switch {
	case p.Uncertain:
		return usage("%s began, and nobody saw it end; say what became of it with: cairn runs resolve %s --result TEXT, --retry or --abort", about, r.ID)
	case p.Question():
		return usage("%s is a question; answer it with: cairn runs answer %s TEXT", about, r.ID)
	}
	return usage("%s waits for an approval; decide with: cairn runs approve %s, or cairn runs decline %s", about, r.ID, r.ID)
}

// maxBrief bounds a proposal where it only tells calls apart, in cells.
const maxBrief = 100

// listed are decisions, one a line, for the end of an error.
func listed(pending []harness.Pending) string {
	var b strings.Builder
	for _, p := range pending {
		fmt.Fprintf(&b, "\n  %s  %s  %s  %s", render.SafeLine(p.Call.ID), render.SafeLine(p.Call.Name), proposal.State(p),
			render.Truncate(proposal.Brief(p), maxBrief, "…"))
	}
	return b.String()
}

// howToDecide is the end of a sentence about a run that waits.
func howToDecide(session harness.SessionID, run harness.RunID, pending []harness.Pending) string {
	command := "cairn runs approve"
	if len(pending) > 0 {
		switch p := pending[0]; {
		case p.Uncertain:
			command = "cairn runs resolve"
		case p.Question():
			command = "cairn runs answer"
		}
	}
	return fmt.Sprintf("see: cairn runs show %s; decide with: %s %s, or cairn -r %s", run, command, run, session)
}

// waits says what a run waits for.
func waits(pending []harness.Pending) string {
	if len(pending) == 0 {
		return "the run waits for a decision"
	}
	name := render.SafeLine(pending[0].Call.Name)
	text := "the tool " + name + " needs your approval"
	switch {
	case pending[0].Uncertain:
		text = "the tool " + name + " began, and nobody saw it end"
	case pending[0].Question():
		text = "the model asks something"
	case pending[0].Changed:
		text = "the tool " + name + " was not run: what it would do changed after it was approved, so it needs your approval again"
	}
	if n := len(pending) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more wait", n)
	}
	return text
}

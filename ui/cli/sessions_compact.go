package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// Condenser condenses stored sessions. A [condense.Sessions] is one.
type Condenser interface {
	// Plan tells what it would take to condense a session.
	Plan(ctx context.Context, id harness.SessionID, focus string) (condense.Plan, error)
	// Condense does it, part by part; tell is told before each call.
	Condense(ctx context.Context, l harness.Lease, focus string, prune bool, tell func(done, of int)) (condense.Report, error)
}

// unasked is how many notes are written without asking first.
const unasked = 2

// shrinking are the flags of `cairn sessions compact`.
type shrinking struct {
	keep       string
	prune, yes bool
}

// shrunk is the JSON of a session that was condensed.
type shrunk struct {
	Session    harness.SessionID `json:"session"`
	Calls      int               `json:"calls"`
	Messages   int               `json:"messages"`
	Cleared    int               `json:"results_left_out"`
	Characters int               `json:"summary_characters"`
	Before     int               `json:"tokens_before"`
	After      int               `json:"tokens_after"`
	Model      string            `json:"model,omitempty"`
	Usage      harness.Usage     `json:"usage"`
}

func (a *app) sessionsCompact() *cobra.Command {
	var f shrinking
	cmd := &cobra.Command{
		Use: "compact SESSION", Short: "Condense the older messages of a session into a note",
		Long: `Condense the older messages of a session into a note that its own model writes, so
that requests are smaller. Nothing is deleted: the history stays readable and is
searched as before; what is condensed is marked as not in context. Pinned messages
stay. If more than two calls are needed, the terminal asks with calls, tokens and
price; without one give --yes.`,
		Args: exactly(1, "the id or title of a session"),
	}
	cmd.Flags().StringVar(&f.keep, "keep", "", "what the note must keep, in your words: `TEXT`")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "only leave old results of tools out; no model is asked")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		if err := validText("the text of --keep", f.keep); err != nil {
			return err
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		s, err := findSession(ctx, st, args[0])
		if err != nil {
			return err
		}
		return a.shrink(ctx, st, s, f)
	})
	return cmd
}

// shrink condenses a session.
func (a *app) shrink(ctx context.Context, st Store, s harness.Session, f shrinking) error {
	c, err := a.chatSetup(st, target{session: s, exists: true}, "")
	if err != nil {
		return err
	}
	if err := a.checkModel(ctx, &c); err != nil {
		return err
	}
	if err := a.tellStandins(ctx, c.Setup.Config); err != nil {
		return err
	}
	condenser, err := a.wire.NewCondenser(ctx, c)
	if err != nil {
		return err
	}
	if !f.prune {
		if err := a.agreeToCalls(ctx, condenser, s.ID, f); err != nil {
			return a.notShrunk(s.ID, err)
		}
	}
	lease, err := st.Owners.Acquire(ctx, s, a.holder())
	if err != nil {
		return err
	}
	r, err := condenser.Condense(ctx, lease, f.keep, f.prune, func(done, of int) {
		a.notice("writing note %d of %d", done+1, of)
	})
	err = errors.Join(err, st.Owners.Release(context.WithoutCancel(ctx), lease))
	if r.Messages+r.Cleared > 0 {
		if told := a.tellShrunk(s.ID, r); told != nil {
			return told
		}
	}
	return a.notShrunk(s.ID, err)
}

// agreeToCalls asks before more than two calls.
func (a *app) agreeToCalls(ctx context.Context, c Condenser, id harness.SessionID, f shrinking) error {
	plan, err := c.Plan(ctx, id, f.keep)
	if err != nil || plan.Calls <= unasked || f.yes {
		return err
	}
	price := "at an unknown price"
	if plan.CostKnown {
		price = "for about " + harness.Dollars(plan.Cost)
	}
	what := fmt.Sprintf("%s in %d calls with about %s tokens, %s", harness.Count(plan.Messages, "message"), plan.Calls, harness.Grouped(plan.Tokens), price)
	if !a.s.InTTY || !a.s.ErrTTY {
		return usage("condensing %s is a lot, and nobody can be asked without a terminal; give --yes", what)
	}
	return a.agreeTo(ctx, fmt.Sprintf("condense %s? [y/N] ", what))
}

// notShrunk words why a session was not condensed, or not all of it.
func (a *app) notShrunk(id harness.SessionID, err error) error {
	var failed *model.Error
	var fixed *condense.FixedError
	var spent *harness.SpendingError
	var price *policy.PriceError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fail(ExitInterrupted, "interrupted; session %s has what was condensed before", id)
	case errors.Is(err, condense.ErrNothing):
		if a.flags.json {
			return a.out.document(shrunk{Session: id})
		}
		a.out.line("there is nothing to condense in %s", id)
		return nil
	case errors.As(err, &spent): // alone: it is the sentence for the person
		return fail(ExitFailed, "session %s is not condensed further: %w", id, spent)
	case errors.As(err, &price):
		return fail(ExitFailed, "session %s is not condensed further: %w", id, price)
	case errors.As(err, &fixed):
		return fail(ExitFailed, "%w", fixed)
	case errors.As(err, &failed):
		return fail(ExitProvider, "session %s is not condensed further: %w", id, err)
	case errors.Is(err, condense.ErrSummary):
		return fail(ExitProvider, "session %s is not condensed further: %w", id, err)
	}
	return err
}

// tellShrunk tells what condensing came to.
func (a *app) tellShrunk(id harness.SessionID, r condense.Report) error {
	if a.flags.json {
		return a.out.document(shrunk{
			Session: id, Calls: r.Calls, Messages: r.Messages, Cleared: r.Cleared, Characters: r.Characters,
			Before: r.Before, After: r.After, Model: r.Model, Usage: r.Usage,
		})
	}
	if r.Messages > 0 {
		a.out.line("%s of %s condensed into a note of %s characters (%s)", harness.Count(r.Messages, "message"), id, harness.Grouped(r.Characters), cost(r.Usage))
	}
	if r.Cleared > 0 {
		a.out.line("%s of tools left out in %s", harness.Count(r.Cleared, "result"), id)
	}
	a.out.line("a request has about %s tokens now, %s before", harness.Grouped(r.After), harness.Grouped(r.Before))
	return nil
}

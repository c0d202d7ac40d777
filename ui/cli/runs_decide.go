package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cairn/harness"
	"cairn/harness/policy"
)

// deciding is one command that decides about a call.
type deciding struct {
	run, call string
	// fits says which decisions the command answers.
	fits func(harness.Pending) bool
	// decision says what is decided; the call is filled in.
	decision func(harness.Pending) (harness.Decision, error)
	// consent, if set, is how the person agrees to what is shown.
	consent *consent
	// ends says that the run is to end.
	ends bool
}

// decide decides about one call of a run and follows the run to its rest.
func (a *app) decide(ctx context.Context, d deciding) error {
	if b, err := a.direct(ctx); err != nil || b != nil {
		if err != nil {
			return err
		}
		return a.decideThere(ctx, b, d)
	}
	p, r, err := a.unfinished(ctx, d.run)
	if err != nil {
		return err
	}
	p.dropping = d.ends
	err = p.drive(ctx, func(work context.Context) (harness.RunHandle, int, error) {
		// What the run's last driver left is known now that the session is ours.
		r, err := p.engine.Get(work, r.ID)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("read run %s: %w", r.ID, err)
		case r.Status.Closed():
			return nil, 0, fail(ExitFailed, "run %s has ended (%s); there is nothing to decide", r.ID, runWord(r))
		}
		waiting, err := pick(r, d.call, d.fits)
		if err != nil {
			return nil, 0, err
		}
		decision, err := d.decision(waiting)
		if err != nil {
			return nil, 0, err
		}
		if d.consent != nil {
			if err := p.agree(ctx, r, waiting, decision, *d.consent); err != nil {
				return nil, 0, err
			}
		}
		decision.Call, decision.Digest = waiting.Call.ID, waiting.Digest
		h, err := p.engine.Decide(work, p.lease, r.ID, decision)
		return h, r.Cursor, decideError(r, err)
	})
	if _, held := harness.AsHeld(err); held {
		return fail(ExitBusy, "%w: decide it there, or close that window", err)
	}
	return err
}

// decideError words why a decision was not taken.
func decideError(r harness.Run, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, harness.ErrStale):
		return fail(ExitApproval, "nothing was decided: what waits is not what was shown any more; look again with: cairn runs show %s", r.ID)
	case errors.Is(err, policy.ErrRule):
		return usage("nothing was decided: %w", err)
	}
	return fmt.Errorf("decide about run %s: %w", r.ID, err)
}

// by says who decides, for the journal.
func (a *app) by(command string) string {
	who, where := a.s.Getenv("USER"), a.s.Terminal
	if who == "" {
		who = "user"
	}
	switch {
	case where == "" && a.s.InTTY:
		where = "terminal"
	case where == "":
		return who + " (" + command + ")"
	}
	return who + " at " + where + " (" + command + ")"
}

// runsDecide are the commands that decide what a run waits for.
func (a *app) runsDecide() []*cobra.Command {
	return []*cobra.Command{a.runsApprove(), a.runsDecline(), a.runsAnswer(), a.runsResolve()}
}

// decisionCommand is a command about one call of a run.
func (a *app) decisionCommand(use, short, long string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long + "\n\nCALL may be left out if only one call waits; the start of its id is enough. The run then goes on, and its answer is printed.",
		ValidArgsFunction: a.completeWaiting,
	}
	a.permissionFlags(cmd.Flags())
	return cmd
}

// runAndCall takes the id of a run and perhaps that of a call.
func runAndCall(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1, 2:
		return nil
	case 0:
		return usage("%s needs the id of a run; see: cairn runs list --unfinished", cmd.CommandPath())
	}
	return usage("%s takes a run and a call, but was also given %q", cmd.CommandPath(), args[2])
}

// callOf is the call among the arguments, empty if it was left out.
func callOf(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}

func (a *app) runsApprove() *cobra.Command {
	cmd := a.decisionCommand("approve RUN [CALL]", "Approve a call that waits, after showing it",
		"Approve a call that waits. It is shown in full and the terminal asks; without a terminal give --yes, or better the --digest that cairn runs show --json printed, so that what runs is what was seen.")
	cmd.Args = runAndCall
	var session, always bool
	var rule string
	var c consent
	f := cmd.Flags()
	f.BoolVar(&session, "session", false, "and allow its rule for the rest of the session")
	f.BoolVar(&always, "always", false, "and allow its rule from now on in every session")
	f.StringVar(&rule, "rule", "", "with --session or --always: allow `RULE` instead of the one that is offered")
	f.BoolVarP(&c.yes, "yes", "y", false, "approve without asking")
	f.StringVar(&c.digest, "digest", "", "approve only what has the digest `DIGEST`, without asking")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		rule, err := a.standingRule(f, session, always, rule)
		if err != nil {
			return err
		}
		if !c.yes && c.digest == "" && (!a.s.InTTY || !a.s.ErrTTY) {
			return usage("nobody can be asked without a terminal; give --yes, or --digest DIGEST as printed by: cairn runs show --json %s", args[0])
		}
		return a.decide(ctx, deciding{
			run: args[0], call: callOf(args), consent: &c,
			fits: func(p harness.Pending) bool { return !p.Uncertain && !p.Question() },
			decision: func(p harness.Pending) (harness.Decision, error) {
				d := harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeOnce, By: a.by("runs approve")}
				return scoped(d, p, session, always, rule)
			},
		})
	})
	return cmd
}

// standingRule checks the flags of a standing permission.
func (a *app) standingRule(f *pflag.FlagSet, session, always bool, rule string) (string, error) {
	switch {
	case session && always:
		return "", usage("--session and --always contradict each other; give one of them")
	case f.Changed("rule") && !session && !always:
		return "", usage("--rule needs --session or --always, which say for how long it counts")
	case !f.Changed("rule"):
		return "", nil
	}
	return checkRule("--rule", rule)
}

// scoped adds the standing permission that goes with an approval.
func scoped(d harness.Decision, p harness.Pending, session, always bool, rule string) (harness.Decision, error) {
	offered := harness.Proposal{}
	if p.Proposal != nil {
		offered = *p.Proposal
	}
	flag := "--session"
	switch {
	case session:
		d.Scope, d.Rule = harness.ScopeSession, offered.Session
	case always:
		flag, d.Scope, d.Rule = "--always", harness.ScopeAlways, offered.Always
	default:
		return d, nil
	}
	if rule != "" {
		d.Rule = rule
	}
	if d.Rule == "" {
		return d, usage("no rule is offered for this call; approve it once, or give one with %s --rule RULE", flag)
	}
	return d, nil
}

func (a *app) runsDecline() *cobra.Command {
	cmd := a.decisionCommand("decline RUN [CALL]", "Refuse a call that waits, or an answer to a question",
		"Refuse a call that waits, or an answer to a question. The model is told, with the reason, and goes on without it.")
	cmd.Args = runAndCall
	var reason string
	cmd.Flags().StringVar(&reason, "reason", "", "tell the model why: `TEXT`")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		if err := validText("--reason", reason); err != nil {
			return err
		}
		return a.decide(ctx, deciding{
			run: args[0], call: callOf(args),
			fits: func(p harness.Pending) bool { return !p.Uncertain },
			decision: func(harness.Pending) (harness.Decision, error) {
				return harness.Decision{How: harness.DecideDecline, Text: strings.TrimSpace(reason), By: a.by("runs decline")}, nil
			},
		})
	})
	return cmd
}

func (a *app) runsResolve() *cobra.Command {
	cmd := a.decisionCommand("resolve RUN [CALL]", "Say what became of a call that began and was not seen to end",
		"Say what became of a call that began and was not seen to end: give its result, let it run again, or end the run.")
	cmd.Args = runAndCall
	var result string
	var retry, abort bool
	f := cmd.Flags()
	f.StringVar(&result, "result", "", "it took effect: `TEXT` is its result")
	f.BoolVar(&retry, "retry", false, "run it again, even if it took effect already")
	f.BoolVar(&abort, "abort", false, "end the run")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		d := harness.Decision{By: a.by("runs resolve")}
		given := 0
		for _, c := range []struct {
			given bool
			how   harness.DecisionHow
		}{{f.Changed("result"), harness.DecideResult}, {retry, harness.DecideRetry}, {abort, harness.DecideAbort}} {
			if c.given {
				d.How = c.how
				given++
			}
		}
		if given != 1 {
			return usage("%s needs one of --result TEXT, --retry and --abort", cmd.CommandPath())
		}
		if d.Text = result; d.How == harness.DecideResult && strings.TrimSpace(result) == "" {
			return usage("--result needs the result of the call; if it had none, say so in words")
		}
		if err := validText("--result", result); err != nil {
			return err
		}
		return a.decide(ctx, deciding{
			run: args[0], call: callOf(args), ends: abort,
			fits:     func(p harness.Pending) bool { return p.Uncertain || abort },
			decision: func(harness.Pending) (harness.Decision, error) { return d, nil },
		})
	})
	return cmd
}

package cli

import (
	"context"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
)

// refuseWaiting is an error if a run of the session waits for a decision, or
// would once it is taken up again: what is sent now would have to wait behind it,
// and nobody is here to decide.
func (p *printing) refuseWaiting(ctx context.Context) error {
	id := p.target.session.ID
	runs, err := p.engine.List(ctx, harness.RunFilter{Session: id, Unfinished: true})
	if err != nil {
		return fmt.Errorf("unfinished runs of session %s: %w", id, err)
	}
	for _, r := range runs {
		full, err := p.engine.Get(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("read run %s: %w", r.ID, err)
		}
		if r.Status != harness.RunAwaiting && len(full.Pending) == 0 {
			continue
		}
		return fail(ExitApproval, "nothing was sent: in session %s %s; %s", id, waits(full.Pending), howToDecide(id, r.ID, full.Pending))
	}
	return nil
}

// tellUnasked says which calls were denied for want of somebody to ask, and
// what would permit them.
func (p *printing) tellUnasked(denied []harness.Pending) {
	told := map[string]bool{}
	for _, d := range denied {
		text := fmt.Sprintf("%s was not run, because nobody could be asked: %s; %s",
			render.SafeLine(d.Call.Name), proposal.Brief(d), p.permitting(d))
		if !told[text] { // models try again
			p.complain(text)
		}
		told[text] = true
	}
}

// permitting says what would permit a call that was denied.
func (p *printing) permitting(d harness.Pending) string {
	rule := ""
	if d.Proposal != nil {
		if rule = d.Proposal.Always; rule == "" {
			rule = d.Proposal.Session
		}
	}
	if rule != "" {
		return "permit it with: --allow " + quoted(render.SafeLine(rule))
	}
	why := ""
	if d.Rule != "" {
		why = " (" + render.SafeLine(d.Rule) + ")"
	}
	if p.flags.ephemeral {
		return "no rule can permit it beforehand" + why + "; ask in a chat, which can ask you"
	}
	return fmt.Sprintf("no rule can permit it beforehand%s; ask in the chat, which can ask you: cairn -r %s", why, p.target.session.ID)
}

// quoted is a word for a shell.
func quoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

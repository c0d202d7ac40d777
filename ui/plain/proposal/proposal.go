// Package proposal says in lines of plain text what a decision is about, for a
// terminal without a screen. The one thing to know: nothing is left out and
// nothing can drive the terminal; what is agreed to is what is read.
package proposal

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// indent is in front of every line of foreign text, so that none of it can pass
// for one of the program's own.
const indent = "    "

// State says in a few words what kind of decision it is.
func State(p harness.Pending) string {
	switch {
	case p.Uncertain:
		return "uncertain"
	case p.Question():
		return "waits for an answer"
	}
	return "waits for approval"
}

// Lines are everything there is to know before deciding: what is wanted, in
// full, and why it is asked.
func Lines(p harness.Pending) []string {
	what := p.Proposal
	if what == nil {
		what = &harness.Proposal{Kind: harness.ProposalCall, Body: string(p.Call.Input)}
	}
	lines := append([]string{headline(p, what)}, text(what.Body)...)
	lines = append(lines, text(what.Diff)...)
	for i, c := range what.Choices {
		lines = append(lines, fmt.Sprintf("  choice %d: %s", i+1, render.SafeLine(c)))
	}
	for _, a := range what.About {
		lines = append(lines, "  "+render.SafeLine(a))
	}
	if what.Why != "" {
		lines = append(lines, "  the model's reason: "+render.SafeLine(what.Why))
	}
	if p.Changed {
		lines = append(lines, "  it changed after it was approved, so nothing was done: this is how it is now")
	}
	if why := p.Because(); why != "" {
		lines = append(lines, "  asked because: "+render.SafeLine(why))
	}
	return lines
}

// headline is the first line.
func headline(p harness.Pending, what *harness.Proposal) string {
	tool, subject := render.SafeLine(p.Call.Name), render.SafeLine(what.Subject)
	if p.Uncertain {
		return tool + " began and nobody saw it end; whether it took effect is unknown:"
	}
	switch what.Kind {
	case harness.ProposalCommand:
		return tool + " wants to run this command:"
	case harness.ProposalEdit:
		return fmt.Sprintf("%s wants to change %s (+%d -%d):", tool, subject, what.Added, what.Removed)
	case harness.ProposalFetch:
		return tool + " wants to read " + subject
	case harness.ProposalQuestion:
		return "the model asks:"
	case harness.ProposalCall:
	}
	if subject != "" && what.Subject != p.Call.Name {
		return tool + " wants to be called on " + subject + " with:"
	}
	return tool + " wants to be called with:"
}

// text are the lines of foreign text, whole and visible: a carriage return is
// shown even before a newline.
func text(s string) []string {
	if s == "" {
		return nil
	}
	s = render.Safe(strings.ReplaceAll(s, "\r", "␍"))
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// Brief is the proposal on one line, whole.
func Brief(p harness.Pending) string {
	what := string(p.Call.Input)
	if q := p.Proposal; q != nil {
		switch {
		case q.Kind == harness.ProposalCommand, q.Kind == harness.ProposalQuestion, q.Subject == "", q.Subject == p.Call.Name:
			what = q.Body
		default:
			what = q.Subject
		}
	}
	return render.SafeLine(strings.ReplaceAll(strings.TrimSpace(what), "\r", "␍"))
}

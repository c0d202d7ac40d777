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

// headline is the first line. A colon goes before what follows whole.
func headline(p harness.Pending, what *harness.Proposal) string {
	if p.Question() {
		return "the model asks:"
	}
	line := render.SafeLine(p.Call.Name) + " " + render.SafeLine(p.Wants())
	if p.Uncertain {
		return line + "; whether it took effect is unknown:"
	}
	if what.Kind == harness.ProposalFetch {
		return line
	}
	return line + ":"
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

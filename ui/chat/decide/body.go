package decide

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

const (
	// margin is the room left of what would be agreed to.
	margin = 3
	// maxNumber bounds the width of a line number.
	maxNumber = 7
	// changed tells who agreed why they are asked about the same call again.
	changed = "it changed after you agreed, so nothing was done: this is how it is now"
)

// memo keeps the laid-out text. It is shared by the copies of a dialog, which
// all show the same.
type memo struct {
	width int
	side  bool
	theme *themes.Theme
	lines []string
}

// diff is the change that the dialog is about, if it is one.
func (d Dialog) diff() string {
	if d.laid == nil || d.p.Proposal == nil || d.p.Proposal.Kind != harness.ProposalEdit {
		return ""
	}
	return d.p.Proposal.Diff
}

// head says in a line or a few who wants what.
func (d Dialog) head(e Env) []string {
	p := e.Theme.Paints
	text := p.Strong.On(render.SafeLine(d.p.Call.Name)) + " "
	switch pr := d.p.Proposal; {
	case d.p.Question():
		text = "the model asks"
	case !d.p.Uncertain && pr != nil && pr.Kind == harness.ProposalFetch:
		text += "wants to read" // the address follows
	default:
		text += render.SafeLine(d.p.Wants())
	}
	if d.p.Uncertain && !d.since.IsZero() {
		text += ": it was asked for at " + clock(d.since, e.Now)
	}
	out := shifted(render.Wrap(text, e.Width-1), 1)
	if d.p.Changed {
		for _, l := range render.Wrap(changed, e.Width-1) {
			out = append(out, " "+p.Warning.On(l))
		}
	}
	return out
}

// clock is a time as it is said at now: without its day if that is the same.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("15:04:05 on 2 Jan")
}

// facts are what else is known: where it would run, why it is asked, and the
// model's own reason.
func (d Dialog) facts(e Env) []string {
	var parts []string
	if pr := d.p.Proposal; pr != nil {
		for _, a := range pr.About {
			parts = append(parts, render.SafeLine(a))
		}
	}
	if why := d.p.Because(); why != "" {
		parts = append(parts, render.SafeLine(why))
	}
	var out []string
	if len(parts) > 0 {
		dot := " " + e.Theme.Ornaments.Dot + " "
		for _, l := range render.Wrap(strings.Join(parts, dot), e.Width-1) {
			out = append(out, " "+e.Theme.Paints.Muted.On(l))
		}
	}
	if pr := d.p.Proposal; pr != nil && pr.Why != "" {
		out = append(out, shifted(render.Wrap("why  \""+render.SafeLine(pr.Why)+"\"", e.Width-1), 1)...)
	}
	return out
}

// body is the whole text that would be agreed to.
func (d Dialog) body(e Env) []string {
	m := d.laid
	side := d.side && e.Width >= sideWidth
	if m.lines != nil && m.width == e.Width && m.side == side && m.theme == e.Theme {
		return m.lines
	}
	m.width, m.side, m.theme = e.Width, side, e.Theme
	m.lines = d.lay(e, side)
	return m.lines
}

func (d Dialog) lay(e Env, side bool) []string {
	pr := d.p.Proposal
	switch {
	case pr == nil:
		return exact(arguments(d.p.Call), e, false)
	case pr.Kind == harness.ProposalEdit && pr.Diff != "":
		return diffLines(pr.Diff, e, side)
	case pr.Kind == harness.ProposalQuestion:
		return shifted(render.Wrap(render.Safe(pr.Body), max(e.Width-margin, 1)), margin)
	case pr.Kind == harness.ProposalFetch:
		text := pr.Subject
		if pr.Body != "" && pr.Body != pr.Subject {
			text += "\n" + pr.Body
		}
		return exact(text, e, false)
	case pr.Body == "":
		return exact(arguments(d.p.Call), e, false)
	}
	return exact(pr.Body, e, pr.Kind == harness.ProposalCommand)
}

// exact lays out text so that every character of it is seen, each in its place.
// With ends, where a line ends is marked too.
func exact(text string, e Env, ends bool) []string {
	text = strings.TrimSuffix(text, "\n")
	lines := strings.Split(text, "\n")
	var out []string
	for i, l := range lines {
		l = visible(l)
		if ends && i < len(lines)-1 {
			l += e.Theme.Paints.Muted.On("␊")
		}
		out = append(out, shifted(render.HardWrap(l, max(e.Width-margin, 1)), margin)...)
	}
	return out
}

// visible makes a line of text safe; a carriage return is seen wherever it is.
func visible(line string) string { return render.Safe(strings.ReplaceAll(line, "\r", "␍")) }

// arguments are those of a call, as the model wrote them.
func arguments(c harness.ToolCall) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	var b bytes.Buffer
	if err := json.Indent(&b, c.Input, "", "  "); err != nil {
		return string(c.Input)
	}
	return b.String()
}

// shifted moves lines right by n cells.
func shifted(lines []string, n int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Repeat(" ", n) + l
	}
	return out
}

package overlay

import (
	"strings"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// precedence says what beats what, brief in few columns.
const (
	precedence = "deny beats ask, ask beats allow and grants; else the tool's own level"
	brief      = "deny > ask > allow, grants > the tool"
)

// areas says how many rows the parts of the overlay have.
type areas struct {
	roomy  bool
	order  int // of the line that says what beats what
	list   int
	detail int // of the selected rule in full
}

func (p Permissions) layout(height int) areas {
	switch {
	case height < 4:
		return areas{list: max(height-1, 0)}
	case height < roomyFrom:
		return areas{order: 1, detail: 2, list: max(height-5, 1)}
	default:
		return areas{roomy: true, order: 1, detail: 5, list: height - 13}
	}
}

// View draws the overlay: exactly height lines, none wider than width.
func (p Permissions) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	t, a := p.c.Theme, p.layout(height)
	list := p.listLines(width, a.list)
	if height < 4 {
		return widget.Frame(append(list, p.bottom(width)), width, height)
	}
	head := render.Fit(" "+t.Paints.Title.On("Permissions"), t.Paints.Muted.On(p.counts())+" ", width, p.c.Theme.Ornaments.Ellipsis)
	order := precedence
	if width < len(precedence)+2 {
		order = brief
	}
	order = " " + t.Paints.Muted.On(p.oneLine(order, width-2))
	if !a.roomy {
		out := append([]string{head, order}, list...)
		return widget.Frame(append(append(out, p.detail(width, a.detail)...), p.bottom(width)), width, height)
	}
	rule := widget.Rule(t, width)
	out := append([]string{head, rule, order, rule}, list...)
	out = append(append(append(out, rule), p.detail(width, a.detail)...), rule)
	last := p.noticeLine(width)
	if p.form.open && p.failing { // it is told in full above
		last = ""
	}
	return widget.Frame(append(out, widget.Footer(p.Bindings(), t, width), last), width, height)
}

func (p Permissions) counts() string {
	switch {
	case p.c.Grants == nil:
		return harness.Count(len(p.c.Rules), "rule")
	case !p.read:
		return "reading"
	default:
		return harness.Count(len(p.c.Rules), "rule") + " " + p.c.Theme.Ornaments.Dot + " " + harness.Count(len(p.grants), "grant")
	}
}

// listLines are exactly height lines; only these are laid out.
func (p Permissions) listLines(width, height int) []string {
	var out []string
	rows := p.len()
	if p.form.open && p.form.grant.ID == "" && height > 0 {
		out = append(out, p.formLine("always", width))
	}
	switch {
	case p.failed != nil:
		out = append(out, told(p.c.Words(p.failed), p.c.Theme.Paints.Error, width, max(height-len(out), 0))...)
	case rows == 0 && p.read:
		out = append(out, told(p.emptyWords(), p.c.Theme.Paints.Muted, width, max(height-len(out), 0))...)
	}
	for row := widget.Scroll(p.top, p.at, rows, height-len(out)); row < rows && len(out) < height; row++ {
		out = append(out, p.row(row, width))
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

func (p Permissions) emptyWords() string {
	if p.c.Grants == nil {
		return "No rules are set, and grants are not kept here."
	}
	return "No rules are set and nothing is granted: each tool goes by its own level. " +
		widget.KeyFor(p.c.Keys, "permissions.add", "a") + " adds a rule that always allows."
}

// row draws one rule or grant: what it does, its text, and where it is from.
func (p Permissions) row(n, width int) string {
	mark := "  "
	at := n == p.at && !p.form.open
	if at {
		mark = "> "
	}
	effect, text, from := p.facts(n)
	if p.form.open && n == p.at && p.form.grant.ID != "" {
		return p.formLine(effect, width)
	}
	right := ""
	if width >= 56 {
		right = p.oneLine(from, width*2/5)
	}
	room := width - len(mark) - effectWidth - render.Width(right) - 1
	line := render.Pad(effect, effectWidth) + p.oneLine(text, room)
	if at {
		return p.c.Theme.Paints.Selected.On(render.Fit(mark+line, right, width, p.c.Theme.Ornaments.Ellipsis))
	}
	return render.Fit(mark+p.paint(effect).On(render.Pad(effect, effectWidth))+p.oneLine(text, room), p.c.Theme.Paints.Muted.On(right), width, p.c.Theme.Ornaments.Ellipsis)
}

// effectWidth is the column of what a rule does.
const effectWidth = 9

func (p Permissions) paint(effect string) themes.Paint {
	switch effect {
	case "deny":
		return p.c.Theme.Paints.Error
	case "ask":
		return p.c.Theme.Paints.Warning
	default:
		return p.c.Theme.Paints.Success
	}
}

// facts are what a row says: what it does, its text, and where it is from.
func (p Permissions) facts(n int) (effect, text, from string) {
	if n < len(p.c.Rules) {
		r := p.c.Rules[n]
		return p.oneLine(r.Effect, effectWidth-1), r.Text, r.From
	}
	g := p.grants[n-len(p.c.Rules)]
	effect = "always"
	if g.Session != "" {
		effect = "session"
	}
	return effect, g.Rule, p.given(g)
}

// given says who gave a grant and when.
func (p Permissions) given(g harness.Grant) string {
	when := g.At.In(p.c.Now().Location())
	words := when.Format("2 Jan 2006")
	if p.c.Now().Sub(when) < 12*time.Hour {
		words = when.Format("15:04")
	}
	if g.By == "" {
		return words
	}
	return g.By + " " + p.c.Theme.Ornaments.Dot + " " + words
}

// formLine is the rule that is being written.
func (p Permissions) formLine(effect string, width int) string {
	lines, _, _ := p.form.field.Draw(max(width-2-effectWidth-1, 1), 1)
	return "> " + p.paint(effect).On(render.Pad(effect, effectWidth)) + p.c.Theme.Paints.Match.On(strings.Join(lines, ""))
}

// forms are what a rule may look like.
const forms = "A tool, or a tool with a pattern: read_file, run_command(go test), write_file(docs/**), fetch_url(*.example.com)"

// detail is the selected rule in full, or what helps with the one being
// written: what is wrong with it, else what rules look like.
func (p Permissions) detail(width, height int) []string {
	var out []string
	if p.form.open {
		text, paint := forms, p.c.Theme.Paints.Muted
		if p.failing && p.notice != "" {
			text, paint = p.notice, p.c.Theme.Paints.Error
		}
		out = append(out, told(text, paint, width, height)...)
	} else if p.len() > 0 {
		effect, text, from := p.facts(p.at)
		lines, more := widget.Lines(text, max(width-2, 1), max(height-1, 1))
		if more && len(lines) > 0 {
			lines[len(lines)-1] = p.oneLine(lines[len(lines)-1], width-4) + p.c.Theme.Ornaments.Ellipsis
		}
		for _, l := range lines {
			out = append(out, " "+l)
		}
		what := map[string]string{"always": "always allowed", "session": "allowed for this session"}[effect]
		if what == "" {
			what = effect
		}
		out = append(out, " "+p.c.Theme.Paints.Muted.On(p.oneLine(what+" "+p.c.Theme.Ornaments.Dot+" "+from, width-2)))
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out[:height]
}

func (p Permissions) noticeLine(width int) string {
	var paint themes.Paint
	if p.failing {
		paint = p.c.Theme.Paints.Error
	}
	return " " + paint.On(p.oneLine(p.notice, width-2))
}

// bottom is the one line of a small area: what happened, else the keys.
func (p Permissions) bottom(width int) string {
	if p.notice != "" {
		return p.noticeLine(width)
	}
	return widget.Footer(p.Bindings(), p.c.Theme, width)
}

// Cursor is the cell of the caret while a rule is being written.
func (p Permissions) Cursor() (x, y int, visible bool) {
	a := p.layout(p.height)
	if !p.form.open || a.list < 1 || p.width < effectWidth+4 {
		return 0, 0, false
	}
	_, x, _ = p.form.field.Draw(max(p.width-2-effectWidth-1, 1), 1)
	if p.form.grant.ID != "" {
		y = p.at - widget.Scroll(p.top, p.at, p.len(), a.list)
	}
	switch {
	case a.roomy:
		y += 4
	case a.order > 0:
		y += 2
	}
	return x + 2 + effectWidth, y, true
}

func (p Permissions) oneLine(text string, width int) string {
	return widget.OneLine(text, max(width, 0), p.c.Theme.Ornaments.Ellipsis)
}

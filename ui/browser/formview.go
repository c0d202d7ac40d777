package browser

import (
	"cairn/ui/render"
	"cairn/ui/widget"
)

// part is where a box of the form is drawn.
type part struct{ box, x, y, width, height int }

// labelWidth is the width of the labels left of the boxes.
const labelWidth = 11

// formLayout places the boxes: one row for a line, the rest for the long text.
// Where there is no room for all of them, only the one with the cursor is
// there.
func (m Model) formLayout(width, height int) []part {
	if m.mode != modeForm || width <= 0 || height <= 0 {
		return nil
	}
	top := len(m.heading("", "", width, height))
	n := middle(height)
	x := labelWidth
	if width < 30 {
		x = min(2, width-1)
	}
	w := max(width-x, 1)
	if n < boxes+1 {
		return []part{{m.form.at, x, top, w, n}}
	}
	gap := 0
	if height >= roomyFrom {
		gap = 1
	}
	big := n - (boxes - 1) - gap*(boxes-1)
	if m.form.kind == fact && height >= roomyFrom {
		big = min(big, 6)
	}
	var out []part
	y := top
	for i := range m.form.boxes {
		h := 1
		if m.form.boxes[i].area {
			h = big
		}
		out = append(out, part{i, x, y, w, h})
		y += h + gap
	}
	return out
}

func (m Model) formView(width, height int) []string {
	f := m.form
	name := "New " + f.kind.String()
	switch {
	case f.of != nil:
		name = "Accept " + m.oneLine(f.of.of.ID, 8) + ", edited"
	case f.id != "":
		name = "Edit " + f.kind.String() + " " + m.oneLine(f.id, 8)
	}
	right := "not changed"
	switch {
	case f.saving:
		right = "saving"
	case f.dirty():
		right = "not saved"
	}
	out := m.heading(name, right, width, height)
	for _, p := range m.formLayout(width, height) {
		for len(out) < p.y {
			out = append(out, "")
		}
		out = append(out, m.boxLines(p)...)
	}
	n := len(m.heading("", "", width, height)) + middle(height)
	if room := n - len(out); room >= 3 && (f.id != "" || f.of != nil) && f.dirty() {
		out = append(out, m.wasLines(width, room)...)
	}
	return append(filled(out, n), m.ending(width, height)...)
}

func (m Model) boxLines(p part) []string {
	b := m.form.boxes[p.box]
	lines, _, _ := b.field.Draw(p.width, p.height)
	mark := "  "
	paint := m.c.Theme.Paints.Muted
	if p.box == m.form.at {
		mark, paint = "> ", m.c.Theme.Paints.Accent
	}
	out := make([]string, 0, p.height)
	for i, l := range filled(lines, p.height) {
		label := ""
		if i == 0 {
			label = mark
			if p.x >= labelWidth {
				label += b.label
			}
		}
		out = append(out, render.Pad(paint.On(render.Truncate(label, p.x, "")), p.x)+l)
	}
	return out
}

// wasLabel is the width of the labels of what is stored.
const wasLabel = 15

// wasLines show what is stored while something else is typed.
func (m Model) wasLines(width, room int) []string {
	out := []string{widget.Rule(m.c.Theme, width)}
	for i, b := range m.form.boxes {
		if !m.form.changed(i) {
			continue
		}
		lines, more := widget.Lines(m.form.was[i], max(width-wasLabel-1, 1), room-len(out))
		if more && len(lines) > 0 {
			lines[len(lines)-1] = m.oneLine(lines[len(lines)-1], width-wasLabel-2) + m.c.Theme.Ornaments.Ellipsis
		}
		for n, l := range lines {
			label := ""
			if n == 0 {
				label = "  was " + b.label
			}
			out = append(out, render.Pad(m.c.Theme.Paints.Muted.On(label), wasLabel)+l)
		}
	}
	return out
}

// Cursor is the cell of the caret in the screen that View draws in the size
// last announced.
func (m Model) Cursor() (x, y int, visible bool) {
	switch m.mode {
	case modeForm:
		for _, p := range m.formLayout(m.width, m.height) {
			if p.box == m.form.at {
				_, x, y = m.form.boxes[p.box].field.Draw(p.width, p.height)
				return p.x + x, p.y + y, true
			}
		}
	case modeFilter:
		l := m.layout(m.width, m.height)
		prompt := render.Width(m.searchPrompt(l.left))
		if l.search < 0 || l.left < prompt+2 {
			return 0, 0, false
		}
		_, x, _ = m.filter.Draw(max(l.left-prompt-1, 1), 1)
		return prompt + x, l.search, true
	default:
	}
	return 0, 0, false
}

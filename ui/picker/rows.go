package picker

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// row draws one row: where the cursor is, the title, and what fits of state,
// age, messages and cost.
func (m Model) row(n, width int) string {
	selected := n == m.list.at
	mark := "  "
	if selected {
		mark = "> "
	}
	s, ok := m.list.session(n)
	if !ok {
		return m.paintRow(render.Fit(mark+m.hit(n, width-2), "", width), selected)
	}
	right := m.details(s, width)
	room := width - len(mark) - render.Width(right) - 1
	if m.rename.id == s.ID {
		lines, _, _ := m.rename.field.Draw(max(room, 1), 1)
		return render.Fit(mark+m.c.Theme.Paints.Match.On(strings.Join(lines, "")), right, width)
	}
	title := m.oneLine(m.title(s), room)
	if w := render.Width(title); room-w > 4 {
		title += m.tags(s, room-w-2)
	}
	line := render.Fit(mark+title, right, width)
	return m.paintRow(line, selected)
}

func (m Model) paintRow(line string, selected bool) string {
	if selected {
		return m.c.Theme.Paints.Selected.On(line)
	}
	return line
}

func (m Model) tags(s harness.Session, room int) string {
	out := ""
	for _, tag := range s.Tags {
		tag = " #" + m.oneLine(tag, 16)
		if render.Width(out)+render.Width(tag) > room {
			break
		}
		out += tag
	}
	if out != "" {
		return " " + out
	}
	return ""
}

// details are the columns at the right end of a row, as many as the width
// leaves room for.
func (m Model) details(s harness.Session, width int) string {
	age := widget.Ago(m.c.Now(), s.Updated)
	if s.Deleted != nil {
		age = widget.Ago(m.c.Now(), *s.Deleted)
	}
	state := m.state(s)
	if s.Pinned && state == "" {
		state = "pinned"
	}
	right := func(text string, w int) string { return fmt.Sprintf("%*s", w, m.oneLine(text, w)) }
	left := func(text string, w int) string { return render.Pad(m.oneLine(text, w), w) }
	switch {
	case width >= 76:
		return left(state, 17) + right(age, 5) + right(plural(s.Messages, "msg"), 11) + right(cost(s.Usage), 9)
	case width >= 56:
		return left(state, 17) + right(age, 5) + right(cost(s.Usage), 9)
	case width >= 34:
		return left(state, 12) + right(age, 5)
	case width >= 18:
		return right(age, 4)
	default:
		return ""
	}
}

// hit is a found message: the session's title and the excerpt.
func (m Model) hit(n, width int) string {
	h := m.list.hits[n-len(m.list.rows)]
	title := string(h.Session)
	age := ""
	if s, ok := m.list.byID(h.Session); ok {
		title, age = m.title(s), widget.Ago(m.c.Now(), s.Updated)
	}
	left := m.oneLine(title, max(width/3, 8)) + " > " + m.oneLine(strings.Join(strings.Fields(h.Excerpt), " "), width)
	return render.Fit(left, age, width)
}

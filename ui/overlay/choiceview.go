package overlay

import (
	"fmt"
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// text is the question, wrapped.
func (m Choice) text(width int) []string {
	if m.c.Text == "" {
		return nil
	}
	lines, _ := widget.Lines(m.c.Text, max(width-2, 1), 200)
	return lines
}

// Height is how many lines the list takes to show everything in a width.
func (m Choice) Height(width int) int {
	n := 2 + len(m.text(width)) + max(len(m.rows), 1) // title, text, rows, keys
	if m.c.Filter {
		n++
	}
	if len(m.text(width)) > 0 {
		n++
	}
	return n + m.detailRoom(width)
}

// detailRoom is how many lines below the list tell what follows from the
// selected choice, where that does not fit beside it.
func (m Choice) detailRoom(width int) int {
	if width >= besideFrom {
		return 0
	}
	for _, it := range m.c.Items {
		if it.Detail != "" || it.Off != "" {
			return 2
		}
	}
	return 0
}

// besideFrom is the width from which details stand beside the choices.
const besideFrom = 64

// detail is what follows from a choice, or why it cannot be made.
func detail(it Item) string {
	if it.Off != "" {
		return "not now: " + it.Off
	}
	return it.Detail
}

// below are the lines of detailRoom.
func (m Choice) below(width int) []string {
	n := m.detailRoom(width)
	if n == 0 || m.at >= len(m.rows) {
		return nil
	}
	t := m.c.Theme
	lines, more := widget.Lines(detail(m.c.Items[m.rows[m.at]]), max(width-6, 1), n)
	if more {
		lines[n-1] = widget.OneLine(lines[n-1], max(width-7, 0), "") + t.Ornaments.Ellipsis
	}
	for i := range lines {
		lines[i] = "     " + t.Paints.Muted.On(lines[i])
	}
	for len(lines) < n { // so that the rest does not move with the cursor
		lines = append(lines, "")
	}
	return lines
}

// listHeight is how many choices are on screen: all if they fit, and else the
// question gives way first, but for its first two lines.
func (m Choice) listHeight(width, height int) int {
	bars := 2
	if m.c.Filter {
		bars++
	}
	if height <= bars {
		return min(max(height, 0), 1)
	}
	if d := m.detailRoom(width); height-bars-d >= 2 {
		bars += d
	}
	left := height - bars
	if n := len(m.text(width)); n > 0 {
		left = max(left-n-1, min(len(m.rows), max(height-bars-3, 1)))
	}
	return max(left, 1)
}

// View draws the list: exactly height lines, none wider than width. In fewer
// lines than Height the question is cut and the choices scroll.
func (m Choice) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	p := m.c.Theme.Paints
	n := m.listHeight(width, height)
	rows := m.list(width, n)
	if height <= 2 {
		return widget.Frame(rows, width, height)
	}
	out := []string{m.title(width, n)}
	if m.c.Filter {
		text, _, _ := m.filter.Draw(max(width-len(filterPrompt)-1, 1), 1)
		out = append(out, p.Muted.On(filterPrompt)+strings.Join(text, ""))
	}
	if room := height - len(out) - len(rows) - len(m.below(width)) - 1; room > 0 {
		out = append(out, m.question(width, room)...)
	}
	out = append(out, rows...)
	if below := m.below(width); len(out)+len(below) < height {
		out = append(out, below...)
	}
	return widget.Frame(append(out, m.bottom(width)), width, height)
}

// question is the text in room lines with a blank line after it if there is
// room for one; what does not fit is marked.
func (m Choice) question(width, room int) []string {
	text := m.text(width)
	if len(text) == 0 {
		return nil
	}
	var out []string
	for i, l := range text {
		if i == room-1 && len(text) > room {
			out = append(out, " "+render.Truncate(l, max(width-3, 0), "")+m.c.Theme.Ornaments.Ellipsis)
			return out
		}
		out = append(out, " "+l)
	}
	if len(out) < room {
		out = append(out, "")
	}
	return out
}

// title is the heading; it counts the choices when shown of them are not all.
func (m Choice) title(width, shown int) string {
	t := m.c.Theme
	title := widget.OneLine(m.c.Title, max(width-20, 1), t.Ornaments.Ellipsis)
	if shown < len(m.rows) {
		title += fmt.Sprintf(" %s %d of %d", t.Ornaments.Dot, m.at+1, len(m.rows))
	}
	line := strings.Repeat(t.Ornaments.Rule, 3)
	rest := max(width-3-render.Width(title)-2, 0)
	return t.Paints.Border.On(line) + " " + t.Paints.Title.On(title) + " " + t.Paints.Border.On(strings.Repeat(t.Ornaments.Rule, rest))
}

func (m Choice) list(width, height int) []string {
	t := m.c.Theme
	if len(m.rows) == 0 {
		return []string{" " + t.Paints.Muted.On("Nothing matches.")}
	}
	names := 0
	for _, i := range m.rows {
		names = max(names, render.Width(m.name(m.c.Items[i], width)))
	}
	top := widget.Scroll(0, m.at, len(m.rows), height)
	var out []string
	for n := top; n < len(m.rows) && len(out) < height; n++ {
		out = append(out, m.row(n, min(names, width*3/5), width))
	}
	return out
}

// name is the key and the title of an item.
func (m Choice) name(it Item, width int) string {
	title := widget.OneLine(it.Title, max(width-4, 1), m.c.Theme.Ornaments.Ellipsis)
	if m.c.Filter {
		return title
	}
	return render.Pad(render.SafeLine(widget.KeyName(it.Key)), 3) + title
}

func (m Choice) row(n, names, width int) string {
	t := m.c.Theme
	it := m.c.Items[m.rows[n]]
	mark := "  "
	if n == m.at {
		mark = "> "
	}
	name := m.name(it, width)
	room := width - 2 - max(names, render.Width(name)) - 3
	line := mark + render.Pad(name, names)
	if d := detail(it); d != "" && room >= 8 && width >= besideFrom {
		line += "  " + widget.OneLine(d, room, t.Ornaments.Ellipsis)
	}
	line = render.Truncate(line, width, t.Ornaments.Ellipsis)
	switch {
	case n == m.at:
		return t.Paints.Selected.On(render.Pad(line, width))
	case it.Off != "":
		return t.Paints.Disabled.On(line)
	default:
		return line
	}
}

func (m Choice) bottom(width int) string {
	if m.off != "" {
		return " " + widget.OneLine("Not now: "+m.off+".", max(width-2, 0), m.c.Theme.Ornaments.Ellipsis)
	}
	return widget.Footer(m.Bindings(), m.c.Theme, width)
}

// Cursor is the cell of the caret of the filter.
func (m Choice) Cursor() (x, y int, visible bool) {
	if !m.c.Filter || m.height <= 3 || m.width < len(filterPrompt)+2 {
		return 0, 0, false
	}
	_, x, _ = m.filter.Draw(max(m.width-len(filterPrompt)-1, 1), 1)
	return len(filterPrompt) + x, 1, true
}

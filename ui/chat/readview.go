package chat

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/ui/render"
)

// heading is the line with who says something, marked if the message is chosen: by
// a sign before it and by weight. The text below stays where it is.
func (d desk) heading(i int, line string) string {
	if !d.m.sel.shows(i) {
		return d.fit(line)
	}
	return d.l.theme.Paints.Selected.On(d.fit(d.l.theme.Ornaments.Right + " " + ansi.Strip(line)))
}

// signAbove is the empty line above a message that has no heading, with the sign if
// it is chosen.
func (d desk) signAbove(i int) string {
	if !d.m.sel.shows(i) {
		return ""
	}
	words := "cairn"
	if i < len(d.m.pages.items) {
		words += d.tail(d.at(d.m.pages.items[i].rec.At))
	}
	return d.heading(i, words)
}

// readWords name the message chosen.
func (m *Model) readWords() string {
	d, at := m.desk(), m.sel.at
	if at >= len(m.pages.items) {
		return "cairn" + d.tail("writing")
	}
	rec := m.pages.items[at].rec
	who := "cairn"
	if rec.Message != nil && rec.Message.Role == harness.RoleUser {
		if who = "you"; rec.Message.Name != "" {
			who = render.SafeLine(rec.Message.Name)
		}
	}
	parts := []string{d.at(rec.At)}
	if rec.Seq > 0 {
		parts = append(parts, MessageWords(origin(rec)))
	}
	if n := len(m.sel.codes); n > 0 {
		parts = append(parts, harness.Count(n, "code block"))
	}
	if n := len(m.sel.links); n > 0 {
		parts = append(parts, harness.Count(n, "link"))
	}
	return who + d.tail(parts...)
}

// findWords say which of the matches is shown, and of how many.
func (m *Model) findWords() string {
	f, o := m.sel.find, m.deps.Theme.Ornaments
	n := strconv.Itoa(len(f.hits))
	switch {
	case f.at >= 0:
		n = strconv.Itoa(len(f.hits)-f.at) + " of " + n
		if f.busy { // how many are before it is not known yet
			n = strconv.Itoa(len(f.hits)) + " so far" + o.Ellipsis
		}
	case f.busy:
		n = "searching" + o.Ellipsis
	case len(f.hits) == 0:
		n = "not found"
	}
	if f.wanted {
		n += " " + o.Dot + " loading" + o.Ellipsis
	}
	if f.said != "" && f.said != n {
		n += " " + o.Dot + " " + f.said
	}
	return n
}

// drawRead draws what is selected or looked for in place of the box.
func (m Model) drawRead(f *foot) {
	p, o := m.deps.Theme.Paints, m.deps.Theme.Ornaments
	if m.sel.find.typing {
		title := "find: "
		f.x, f.y = render.Width(title), len(f.lines)
		lines, x, _ := m.sel.find.field.Draw(max(m.width-f.x-1, 1), 1)
		f.x += x
		f.lines = append(f.lines, render.Truncate(p.Accent.On(title)+strings.Join(lines, ""), m.width, ""))
		return
	}
	line := p.Accent.On(o.Right+" ") + m.readWords()
	if q := m.sel.find.query; q.On() {
		line = p.Accent.On("find ") + render.Quote(q.Text()) + " " + o.Dot + " " + p.Strong.On(m.findWords())
		if rest := "  " + o.Right + " " + m.readWords(); render.Width(line+rest) <= m.width {
			line += p.Muted.On(rest)
		}
	}
	f.lines = append(f.lines, render.Truncate(line, m.width, o.Ellipsis))
}

// readRule is the rule above the conversation. It names the message chosen if its
// heading is above the window and its text in it.
func (m Model) readRule() string {
	if !m.sel.on || m.sel.find.typing || m.small() {
		return m.rule()
	}
	from, to := m.pages.seen(m.desk(), m.rows())
	if _, ok := m.pages.row(m.desk(), m.headingOf(m.sel.at), m.rows()); ok || m.sel.at < from || m.sel.at > to {
		return m.rule()
	}
	o, p := m.deps.Theme.Ornaments, m.deps.Theme.Paints
	words := render.Truncate(" "+o.Right+" "+m.readWords()+" ", max(m.width-4, 1), o.Ellipsis)
	rest := strings.Repeat(o.Rule, max(m.width-2*render.Width(o.Rule)-render.Width(words), 0))
	return p.Border.On(o.Rule+o.Rule) + p.Selected.On(words) + p.Border.On(rest)
}

// headingOf is where the heading of item i is, or the sign in its place.
func (m *Model) headingOf(i int) place {
	if i >= len(m.pages.items) {
		if m.desk().goesOn() {
			return place{item: i}
		}
		return place{item: i, line: 1}
	}
	line := m.desk().headingLine(i)
	if i == 0 { // the empty line before the first item is left out
		line--
	}
	return place{i, max(line, 0)}
}

// headingLine is the line of item i that has the heading, or the sign in its place.
func (d desk) headingLine(i int) int {
	line := len(d.divider(d.m.pages.items[i]))
	if msg := d.m.pages.items[i].rec.Message; msg != nil && (msg.Role != harness.RoleAssistant || !d.follows(i)) {
		line++
	}
	return line
}

// readCursor is where the terminal's cursor belongs while messages are selected: at
// the sign of the one chosen, if that is seen.
func (m Model) readCursor() (x, y int, visible bool) {
	row, ok := m.pages.row(m.desk(), m.headingOf(m.sel.at), m.rows())
	return 0, m.headRows() + row, ok
}

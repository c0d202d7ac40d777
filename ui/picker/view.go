package picker

import (
	"fmt"
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// Sizes at which the layout changes.
const (
	wideFrom  = 110 // columns: the preview stands beside the list
	roomyFrom = 20  // rows: rules, headings and two lines below the list
)

// layout says what is where in a screen of some size.
type layout struct {
	width, height int
	wide          bool // preview beside the list
	roomy         bool // rules and, in one pane, two lines of preview
	headings      bool
	list          int // rows of the list
	left          int // columns of the list
	right         int // columns of the preview, 0 for none
}

func (m Model) layout(width, height int) layout {
	l := layout{width: width, height: height, left: width}
	l.roomy = height >= roomyFrom
	l.wide = width >= wideFrom && height >= 8
	l.headings = l.roomy
	bars := 3 // title, search, footer
	switch {
	case height < 4:
		bars = max(height-1, 0)
	case l.roomy && l.wide:
		bars = 6 // title, rule, search inside the pane, rule, footer, notice
	case l.roomy:
		bars = 10 // the same with two rules and a preview of two lines
	}
	if l.wide {
		l.left = width * 11 / 20
		l.right = width - l.left - 3
	}
	l.list = max(height-bars, 0)
	return l
}

// View draws the screen: exactly height lines, none wider than width.
func (m Model) View(width, height int) string {
	l := m.layout(width, height)
	return widget.Frame(m.lines(l), width, height)
}

// searchRow is the line on which the search field is.
func (l layout) searchRow() int {
	switch {
	case l.height < 2:
		return -1
	case l.height < 4:
		return 0
	case l.roomy:
		return 2
	default:
		return 1
	}
}

func (m Model) lines(l layout) []string {
	t := m.c.Theme
	rule := widget.Rule(t, l.width)
	list := m.listLines(l)
	switch {
	case l.height < 2:
		return list
	case l.height < 4:
		return append(append([]string{m.searchLine(l.width)}, list...), m.bottom(l.width))
	case l.roomy && l.wide:
		left := append([]string{m.searchLine(l.left)}, list...)
		out := []string{m.header(l.width), m.crossed(l, t.Ornaments.TeeDown)}
		out = append(out, m.beside(l, left)...)
		return append(out, m.crossed(l, t.Ornaments.TeeUp), m.footer(l.width), m.noticeLine(l.width))
	case l.wide:
		left := append([]string{m.searchLine(l.left)}, list...)
		return append(append([]string{m.header(l.width)}, m.beside(l, left)...), m.bottom(l.width))
	case l.roomy:
		out := append([]string{m.header(l.width), rule, m.searchLine(l.width), rule}, list...)
		return append(append(append(out, rule), m.below(l.width)...), rule, m.footer(l.width), m.noticeLine(l.width))
	default:
		return append(append([]string{m.header(l.width), m.searchLine(l.width)}, list...), m.bottom(l.width))
	}
}

// beside puts the preview to the right of the list's lines.
func (m Model) beside(l layout, left []string) []string {
	bar := " " + m.c.Theme.Paints.Border.On(m.c.Theme.Ornaments.Bar) + " "
	return render.Columns(bar, []int{l.left, l.right}, left, m.previewPane(l.right, len(left)))
}

func (m Model) crossed(l layout, cross string) string {
	rule := m.c.Theme.Ornaments.Rule
	n := max(l.width-l.left-2, 0)
	return m.c.Theme.Paints.Border.On(strings.Repeat(rule, l.left+1) + cross + strings.Repeat(rule, n))
}

func (m Model) header(width int) string {
	p := m.c.Theme.Paints
	var right string
	order := m.show.order.String()
	if m.show.trash {
		order = "kept for 30 days"
	}
	switch {
	case !m.list.read && m.list.items == nil:
		right = "reading"
	case m.list.query.text != "" || m.list.dir != "":
		right = m.dotted(fmt.Sprintf("%d of %d", len(m.list.rows), len(m.list.items)), order)
	default:
		right = m.dotted(fmt.Sprint(len(m.list.items)), order)
	}
	name := m.name(width)
	if render.Width(name)+render.Width(right)+4 > width { // the order is what may go
		right, _, _ = strings.Cut(right, " "+m.c.Theme.Ornaments.Dot)
	}
	return render.Fit(" "+p.Title.On(name), p.Muted.On(right)+" ", width, m.c.Theme.Ornaments.Ellipsis)
}

const searchPrompt = " search: "

func (m Model) searchLine(width int) string {
	p := m.c.Theme.Paints
	lines, _, _ := m.filter.Draw(max(width-len(searchPrompt)-1, 1), 1)
	text := ""
	if len(lines) > 0 {
		text = lines[0]
	}
	line := p.Muted.On(searchPrompt) + text
	if m.filter.Empty() && m.entry.id == "" {
		return line + p.Placeholder.On("title, #tag"+m.searches())
	}
	if right := m.findings(width); right != "" {
		return render.Fit(line, p.Muted.On(right)+" ", width, m.c.Theme.Ornaments.Ellipsis)
	}
	return line
}

// searches says that messages are searched, too.
func (m Model) searches() string {
	if m.c.Search == nil || m.show.trash {
		return " or id"
	}
	return " or words of a message"
}

// findings says what the words of the search box found and whether more is
// looked for.
func (m Model) findings(width int) string {
	var parts []string
	if n := len(m.list.hits); n > 0 {
		parts = append(parts, fmt.Sprintf("%d in titles", len(m.list.rows)), fmt.Sprintf("%d in messages", n))
	}
	if m.found.busy && width >= 60 {
		parts = append(parts, "searching")
	}
	return m.dotted(parts...)
}

// listLines are exactly l.list lines; only these are laid out.
func (m Model) listLines(l layout) []string {
	out := make([]string, 0, l.list)
	switch {
	case m.menu.open && m.list.len() > 0:
		out = m.menuLines(l.left, l.list)
	case m.preview.peek && !l.wide && m.list.len() > 0:
		for _, s := range m.previewPane(max(l.width-2, 1), l.list) {
			out = append(out, " "+s)
		}
	case m.list.len() == 0:
		lines, _ := widget.Lines(m.emptyWords(), max(l.left-2, 1), l.list)
		for _, s := range lines {
			out = append(out, " "+m.c.Theme.Paints.Muted.On(s))
		}
	default:
		top := m.list.scrolled(l.list, l.headings)
		for line := top; line < m.list.lines(l.headings) && len(out) < l.list; line++ {
			row, heading := m.list.lineAt(line, l.headings)
			if heading != "" {
				out = append(out, " "+m.c.Theme.Paints.Muted.On(strings.ToUpper(heading)))
				continue
			}
			out = append(out, m.row(row, l.left))
		}
	}
	for len(out) < l.list {
		out = append(out, "")
	}
	return out
}

func (m Model) emptyWords() string {
	switch {
	case m.list.failed != nil:
		return m.c.Words(m.list.failed) + "\n" + upper(widget.KeyFor(m.c.Keys, "picker.open", "enter")) + " tries again."
	case !m.list.read:
		return ""
	case m.list.query.text == "" && m.list.dir != "" && len(m.list.items) > 0:
		key := upper(widget.KeyFor(m.c.Keys, "picker.here", "ctrl+o"))
		return fmt.Sprintf("Nothing here is of this directory. %s shows all.", key)
	case m.show.trash && m.list.query.text == "":
		return "The trash is empty. A deleted session stays here for 30 days."
	case m.list.query.text != "":
		return fmt.Sprintf("Nothing matches \"%s\".", strings.TrimSpace(m.filter.Text()))
	default:
		return "No sessions yet. A chat is kept from its first message on."
	}
}

// below is the preview of two lines under the list.
func (m Model) below(width int) []string {
	p := m.c.Theme.Paints
	if m.list.len() == 0 {
		return []string{"", ""}
	}
	k := m.list.keyAt(m.list.at)
	s, ok := m.list.byID(k.session)
	if !ok {
		return []string{"", ""}
	}
	last, words := s.Preview, []string(nil)
	if k.message > 0 {
		last, words = m.list.hits[m.list.at-len(m.list.rows)].Excerpt, m.list.query.words
	}
	quoted := ""
	if strings.TrimSpace(last) != "" {
		line := m.oneLine(strings.Join(strings.Fields(widget.Head(last, 4096)), " "), width-11)
		quoted = `"` + paintFound(line, wordsIn(line, words), "", p.Match) + `"`
	}
	return []string{
		p.Muted.On(" last   ") + quoted,
		p.Muted.On(" about  ") + m.oneLine(m.about(s), width-9),
	}
}

func (m Model) footer(width int) string { return widget.Footer(m.Bindings(), m.c.Theme, width) }

func (m Model) noticeLine(width int) string {
	return widget.Notice(m.c.Theme, m.notice.text, m.notice.failed, width)
}

// bottom is the one line of a small screen: what happened, else the keys.
func (m Model) bottom(width int) string {
	if m.notice.text != "" {
		return m.noticeLine(width)
	}
	return m.footer(width)
}

// Cursor is the cell of the caret in the screen that View draws in the size
// last announced.
func (m Model) Cursor() (x, y int, visible bool) {
	l := m.layout(m.window.width, m.window.height)
	if l.width < 4 || l.height < 2 || m.menu.open {
		return 0, 0, false
	}
	if m.entry.id == "" {
		_, x, _ = m.filter.Draw(max(l.left-len(searchPrompt)-1, 1), 1)
		x += len(searchPrompt)
		return x, l.searchRow(), x < l.width
	}
	k, ok := m.list.selected()
	if !ok || k != m.entry.of {
		return 0, 0, false
	}
	right := m.hitAge(m.list.at)
	if s, ok := m.selected(); ok {
		right = m.details(s, l.left)
	}
	_, x, _ = m.entry.field.Draw(m.entryRoom(right, l.left), 1)
	x += 2 + len(m.entry.label())
	y = m.list.line(m.list.at, l.headings) - m.list.scrolled(l.list, l.headings)
	switch {
	case l.height < 4:
		y++
	case l.roomy && !l.wide:
		y += 4
	case l.roomy:
		y += 3
	default:
		y += 2
	}
	return x, y, x < l.left
}

func (m Model) oneLine(text string, width int) string {
	return widget.OneLine(text, max(width, 0), m.c.Theme.Ornaments.Ellipsis)
}

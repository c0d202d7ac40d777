package browser

import (
	"fmt"
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// listLines are exactly l.list lines; only these are laid out.
func (m Model) listLines(l layout) []string {
	list := m.lists[m.tab]
	out := make([]string, 0, max(l.list, 0))
	if len(list.rows) == 0 {
		lines, _ := widget.Lines(m.emptyWords(), max(l.left-2, 1), l.list)
		for _, s := range lines {
			out = append(out, " "+m.c.Theme.Paints.Muted.On(s))
		}
		if m.tab == tabFacts {
			out = append(out, m.proposed(l.list-len(out), l.left)...)
		}
		return filled(out, l.list)
	}
	top := widget.Scroll(list.top, list.at, len(list.rows), l.list)
	for n := top; n < len(list.rows) && len(out) < l.list; n++ {
		out = append(out, m.row(list.entries[list.rows[n]], n == list.at, l.left))
	}
	if m.tab == tabFacts {
		out = append(out, m.proposed(l.list-len(out), l.left)...)
	}
	return filled(out, l.list)
}

func (m Model) emptyWords() string {
	switch {
	case m.loading.failed != nil:
		return m.c.Words(m.loading.failed)
	case !m.loading.read:
		return ""
	case !m.has(fact) && m.tab == tabFacts, !m.has(note) && m.tab == tabNotes:
		return "This memory is off."
	case m.filter.Empty() && m.filtering(m.tab):
		return fmt.Sprintf("Nothing here: %s. %s shows all.", m.chips(m.tab), m.key("browser.show-all", "x"))
	case !m.filter.Empty():
		return fmt.Sprintf("Nothing matches \"%s\". %s and esc show all.", strings.TrimSpace(m.filter.Text()), m.key("browser.filter", "/"))
	case m.tab == tabFacts:
		return "No facts yet. " + m.key("browser.new", "n") + " writes one; the model saves more when asked to remember."
	case m.tab == tabNotes:
		return "No notes yet. " + m.key("browser.new", "n") + " writes one."
	case m.tab == tabInbox:
		return "Nothing is proposed. What the model would like to remember, change or forget waits here until you accept or refuse it."
	default:
		return "The trash is empty. What is forgotten stays here for 30 days."
	}
}

// row is one entry: id, text, tags, and what is special about it.
func (m Model) row(e entry, selected bool, width int) string {
	mark := "  "
	switch {
	case selected:
		mark = "> "
	case e.id() == m.merging:
		mark = "+ "
	}
	if e.kind == suggestion {
		line := m.ideaRow(e, mark, width)
		if selected {
			return m.c.Theme.Paints.Selected.On(line)
		}
		return line
	}
	left := mark + render.Pad(m.oneLine(e.id(), 8), 4) + " "
	right := m.rowEnd(e, width)
	room := width - render.Width(left) - render.Width(right) - 1
	text := m.oneLine(strings.TrimSpace(e.title()), room)
	if w := render.Width(text); room-w > 6 && width >= 56 {
		text += m.rowTags(e, room-w-2)
	}
	line := render.Fit(left+text, right, width, m.c.Theme.Ornaments.Ellipsis)
	switch {
	case selected:
		return m.c.Theme.Paints.Selected.On(line)
	case e.word(m.c.Now()) == "off":
		return m.c.Theme.Paints.Muted.On(line)
	default:
		return line
	}
}

func (m Model) rowTags(e entry, room int) string {
	out := ""
	for _, tag := range e.tags() {
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

func (m Model) rowEnd(e entry, width int) string {
	word := e.word(m.c.Now())
	if _, ok := m.drafts[e.id()]; ok {
		word = "draft"
	}
	if width < 56 {
		if e.opposed != "" {
			return "contradicted"
		}
		return word
	}
	var last string
	switch {
	case m.tab == tabTrash:
		last = e.kind.String() + ", " + m.local(e.updated()).Format("2 Jan")
	case e.kind == note:
		last = m.local(e.updated()).Format("2 Jan 2006")
	case e.opposed != "":
		last = "contradicted"
	case e.fact.Uses == 0:
		last = "never used"
	default:
		last = fmt.Sprintf("used %dx", e.fact.Uses)
	}
	return render.Pad(word, 7) + fmt.Sprintf("%13s", last)
}

package picker

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// row draws one row: where the cursor is, the title, and what fits of state,
// age, messages and cost.
func (m Model) row(n, width int) string {
	mark, ground := "  ", themes.Paint("")
	if n == m.list.at {
		mark, ground = "> ", m.c.Theme.Paints.Selected
	}
	k := m.list.keyAt(n)
	s, ok := m.list.session(n)
	right := m.details(s, width)
	if !ok {
		right = m.hitAge(n)
	}
	if m.entry.id != "" && m.entry.of == k {
		return m.entryRow(mark, right, width)
	}
	if !ok {
		return ground.On(render.Fit(mark+m.hit(n, width-2-render.Width(right)-1, ground), right, width, m.c.Theme.Ornaments.Ellipsis))
	}
	room := width - len(mark) - render.Width(right) - 1
	title := m.oneLine(m.title(s), room)
	line := m.emphasised(title, ground)
	if w := render.Width(title); room-w > 4 {
		line += m.emphasised(m.tags(s.Tags, room-w-2), ground)
	}
	return ground.On(render.Fit(mark+line, right, width, m.c.Theme.Ornaments.Ellipsis))
}

// entryRow is the row in which something is typed.
func (m Model) entryRow(mark, right string, width int) string {
	lines, _, _ := m.entry.field.Draw(m.entryRoom(right, width), 1)
	return render.Fit(mark+m.entry.label()+m.c.Theme.Paints.Match.On(strings.Join(lines, "")), right, width, m.c.Theme.Ornaments.Ellipsis)
}

// entryRoom is the width of the field in a row.
func (m Model) entryRoom(right string, width int) int {
	return max(width-2-len(m.entry.label())-render.Width(right)-1, 1)
}

// emphasised points out the words of the search box in a safe line that stands
// on a ground.
func (m Model) emphasised(line string, ground themes.Paint) string {
	return paintFound(line, widget.Found(line, m.list.query.marks()), ground, m.c.Theme.Paints.Match)
}

func paintFound(line string, spans []widget.Span, ground, match themes.Paint) string {
	if len(spans) == 0 || match == "" {
		return line
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(line[at:s.From])
		b.WriteString((ground + match).On(line[s.From:s.To]))
		b.WriteString(string(ground))
		at = s.To
	}
	b.WriteString(line[at:])
	return b.String()
}

func (m Model) tags(tags []string, room int) string {
	out := ""
	for _, tag := range tags {
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
	left := func(text string, w int) string {
		if text == "" {
			return "" // the title has its place
		}
		return render.Pad(m.oneLine(text, w), w)
	}
	switch {
	case width >= 76:
		return left(state, 17) + right(age, 5) + right(plural(messages(s), "msg"), 11) + right(cost(s.Usage), 9)
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

// hitAge is when the session of a found message was used last.
func (m Model) hitAge(n int) string {
	if n < len(m.list.rows) {
		return ""
	}
	s, ok := m.list.byID(m.list.hits[n-len(m.list.rows)].Session)
	if !ok {
		return ""
	}
	return widget.Ago(m.c.Now(), s.Updated)
}

// hit is a found message: the session's title and the part of the excerpt in
// which the words are.
func (m Model) hit(n, width int, ground themes.Paint) string {
	h := m.list.hits[n-len(m.list.rows)]
	title := m.oneLine(m.titleOf(h.Session), max(width/3, 8))
	const to = " > "
	room := width - render.Width(title) - len(to)
	words := m.list.query.words
	excerpt := render.SafeLine(strings.Join(strings.Fields(widget.Head(h.Excerpt, 4096)), " "))
	if spans := wordsIn(excerpt, words); len(spans) > 0 {
		excerpt = widget.Around(excerpt, spans[0].From, room, m.c.Theme.Ornaments.Ellipsis)
	}
	excerpt = render.Truncate(excerpt, max(room, 0), m.c.Theme.Ornaments.Ellipsis)
	return title + to + paintFound(excerpt, wordsIn(excerpt, words), ground, m.c.Theme.Paints.Match)
}

// wordsIn are the places of words in the text of a message. The search knows the
// forms of a word: of one that is not there, what begins as it does is meant.
func wordsIn(text string, words []string) []widget.Span {
	const least, most = 4, 3 // characters that are left, that are cut off
	var all []string
	for _, w := range words {
		all = append(all, w)
		if letters := []rune(w); len(widget.Found(text, []string{w})) == 0 {
			for cut := 1; cut <= most && len(letters)-cut >= least; cut++ {
				all = append(all, string(letters[:len(letters)-cut]))
			}
		}
	}
	return widget.Found(text, all)
}

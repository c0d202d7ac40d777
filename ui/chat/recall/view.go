package recall

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Rows is how many rows the search takes of at most so many.
func (m Model) Rows(most int) int { return min(max(len(m.hits), 1), max(most-1, 0)) + 1 }

// View draws the matches, the newest lowest, and below them what is looked for: as
// many rows as [Model.Rows] says. The caret is in the last row, at x.
func (m Model) View(t *themes.Theme, width, most int) (rows []string, x int) {
	n := m.Rows(most) - 1
	top := widget.Scroll(max(m.at-n+1, 0), m.at, len(m.hits), n)
	for i := top + n - 1; i >= top; i-- {
		if i < len(m.hits) {
			rows = append(rows, m.row(t, i, width))
		}
	}
	label, right := "search prompts: ", ""
	switch {
	case !m.read:
		right = "reading" + t.Ornaments.Ellipsis
	case m.found == m.asked && len(m.hits) == 0:
		right = "(none)"
	case len(m.hits) > 0:
		right = fmt.Sprintf("%s of %s", harness.Grouped(m.at+1), harness.Grouped(len(m.hits)))
	}
	if len(rows) < n {
		rows = append(rows, "")
	}
	room := max(width-render.Width(label)-render.Width(right)-2, 4)
	drawn, x, _ := m.field.Draw(room, 1)
	line := label + strings.Join(drawn, "")
	line = render.Truncate(render.Fit(line, t.Paints.Muted.On(right), width, t.Ornaments.Ellipsis), width, "")
	return append(rows, line), min(render.Width(label)+x, width-1)
}

// row draws a match on one line: the line of the prompt that has it, with what
// matches marked.
func (m Model) row(t *themes.Theme, i, width int) string {
	p := m.prompts[m.hits[i]]
	text, n := matching(widget.Head(p.text, lookMax), m.words)
	sign, paint := "  ", t.Paints.Muted
	if i == m.at {
		sign, paint = "> ", t.Paints.Selected
	}
	right := ""
	if n > 1 {
		right = harness.Count(n, "line")
	}
	room := width - len(sign)
	if right != "" && room-render.Width(right)-2 >= width/2 {
		room -= render.Width(right) + 2
	} else {
		right = ""
	}
	text = render.SafeLine(text)
	at := 0
	if spans := widget.Found(text, m.words); len(spans) > 0 {
		at = spans[0].From
	}
	text = widget.Around(text, at, room, t.Ornaments.Ellipsis)
	var b strings.Builder
	at = 0
	for _, s := range widget.Found(text, m.words) {
		b.WriteString(paint.On(text[at:s.From]) + t.Paints.Match.On(text[s.From:s.To]))
		at = s.To
	}
	b.WriteString(paint.On(text[at:]))
	return render.Truncate(render.Fit(sign+b.String(), t.Paints.Muted.On(right), width, t.Ornaments.Ellipsis), width, "")
}

// matching is the first line of a prompt that has most of the words, and how many
// lines there are.
func matching(text string, words []string) (best string, lines int) {
	most := -1
	for l := range strings.Lines(strings.TrimSpace(text)) {
		lines++
		l = strings.TrimSpace(l)
		if l == "" || most == len(words) {
			continue
		}
		have, folded := 0, widget.Fold(l)
		for _, w := range words {
			if strings.Contains(folded, w) {
				have++
			}
		}
		if have > most {
			best, most = l, have
		}
	}
	return best, lines
}

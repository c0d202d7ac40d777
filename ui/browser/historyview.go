package browser

import (
	"fmt"
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// historyLayout is how many rows the revisions and the selected one have.
func (m Model) historyLayout(height int) (rows, text int) {
	n := middle(height)
	rows = min(len(m.past.revisions), max(n/2, 1))
	return rows, max(n-rows-1, 0)
}

// historyView is the list of revisions, and below it the selected one with
// what it changed.
func (m Model) historyView(width, height int) []string {
	e := m.past.of
	right := fmt.Sprintf("%d revisions", len(m.past.revisions))
	switch {
	case m.past.busy:
		right = "reading"
	case len(m.past.revisions) == 1:
		right = "1 revision"
	}
	out := m.heading("History of "+m.oneLine(e.id(), 8), right, width, height)
	rows, room := m.historyLayout(height)
	top := widget.Scroll(0, m.past.at, len(m.past.revisions), rows)
	for i := top; i < top+rows; i++ {
		out = append(out, m.revisionRow(i, width))
	}
	if room > 0 && rows > 0 {
		pane := m.remembering(width, height).pane
		shown := pane.Lines()
		if rest := pane.Rest(); rest > 0 {
			shown[room-1] = " " + m.c.Theme.Paints.Muted.On(m.oneLine(fmt.Sprintf("%d more lines (%s)", rest+1, m.key("browser.page-down", "pgdown")), width-2))
		}
		out = append(append(out, widget.Rule(m.c.Theme, width)), shown...)
	}
	n := len(m.heading("", "", width, height)) + middle(height)
	return append(filled(out, n), m.ending(width, height)...)
}

func (m Model) revisionRow(i, width int) string {
	r := m.past.revisions[i]
	mark := "  "
	if i == m.past.at {
		mark = "> "
	}
	left := mark + render.Pad(fmt.Sprintf("v%d", r.revision()), 4) + " " + render.Pad(m.moment(r.updated()), 13) + " "
	line := render.Fit(left+m.oneLine(strings.TrimSpace(r.title()), width-render.Width(left)), "", width, m.c.Theme.Ornaments.Ellipsis)
	if i == m.past.at {
		return m.c.Theme.Paints.Selected.On(line)
	}
	return line
}

// revisionLines are the selected revision in full and what it changed.
func (m Model) revisionLines(width int) []string {
	r := m.past.revisions[m.past.at]
	p := m.c.Theme.Paints
	w := max(width-2, 1)
	head := fmt.Sprintf("v%d", r.revision())
	var diff []string
	if at := m.past.at + 1; at < len(m.past.revisions) {
		old := m.past.revisions[at]
		if notes := differences(old, r); len(notes) > 0 {
			head += ": " + strings.Join(notes, ", ")
		}
		switch {
		case old.kind == fact && old.fact.Text != r.fact.Text:
			diff = wordDiff(old.fact.Text, r.fact.Text, p, w)
		case old.kind == note && old.note.Body != r.note.Body:
			diff = lineDiff(old.note.Body, r.note.Body, p, w)
		}
	}
	out := []string{" " + p.Muted.On(m.oneLine(head, width-2))}
	text, _ := widget.Lines(strings.TrimSpace(r.text()), w, maxLines)
	out = append(out, indent(text)...)
	if len(diff) > 0 {
		out = append(out, "", " "+p.Muted.On(m.oneLine("what changed", width-2)))
		out = append(out, indent(diff)...)
	}
	return out
}

// differences names what changed from one revision to the next.
func differences(old, now entry) []string {
	var out []string
	if old.title() != now.title() {
		if now.kind == note {
			out = append(out, "title changed")
		} else {
			out = append(out, "text changed")
		}
	}
	if old.kind == note && old.note.Body != now.note.Body {
		out = append(out, "body changed")
	}
	if old.kind == fact && old.fact.Category != now.fact.Category {
		out = append(out, fmt.Sprintf("category was \"%s\"", old.fact.Category))
	}
	if widget.Hashed(old.tags()) != widget.Hashed(now.tags()) {
		out = append(out, "tags were "+first(widget.Hashed(old.tags()), "none"))
	}
	if old.pinned() != now.pinned() {
		out = append(out, map[bool]string{true: "pinned", false: "unpinned"}[now.pinned()])
	}
	if old.state() != now.state() {
		out = append(out, "now "+string(now.state()))
	}
	return out
}

package queue

import (
	"fmt"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Look is what the queue is drawn with.
type Look struct {
	Theme *themes.Theme
	Width int
	// Most is how many rows it may take, at least one.
	Most int
	// When says when the first message is sent, such as "after this answer"; empty
	// if that waits for the person. Keys are for the right of the first row.
	When, Keys string
}

// Rows draws the messages, one a row. What does not fit is counted.
func (m Model) Rows(texts []string, l Look) []string {
	n := min(len(texts), max(l.Most, 1))
	if n == 0 {
		return nil
	}
	top := 0
	if m.Holds() {
		top = widget.Scroll(max(min(m.at-n/2, len(texts)-n), 0), m.at, len(texts), n)
	}
	p, o := l.Theme.Paints, l.Theme.Ornaments
	rows := make([]string, 0, n)
	for i := top; i < top+n; i++ {
		sign, paint, right := "  ", p.Muted, ""
		words := fmt.Sprintf("queued %d: ", i+1)
		if m.Holds() && i == m.at {
			sign, paint = "> ", p.Selected
		}
		room := l.Width - render.Width(sign) - render.Width(words)
		for _, right = range l.right(i-top, n, len(texts)-top-n) {
			if render.Width(right)+1+leastRoom <= room {
				room -= render.Width(right) + 1
				break
			}
			right = ""
		}
		line := words + render.Truncate(Line(texts[i], o.Ellipsis), max(room, 1), o.Ellipsis)
		rows = append(rows, render.Truncate(render.Fit(sign+paint.On(line), p.Muted.On(right), l.Width, o.Ellipsis), l.Width, ""))
	}
	return rows
}

// right is what may stand at the right of row i of n, of which rest are left out:
// the first that has room does.
func (l Look) right(i, n, rest int) []string {
	dot, more := " "+l.Theme.Ornaments.Dot+" ", fmt.Sprintf("%d more", rest)
	switch {
	case i == 0 && l.Keys != "":
		right := []string{l.Keys}
		if l.When != "" && l.Width >= wide {
			right = []string{l.When + dot + l.Keys}
		}
		if n == 1 && rest > 0 {
			right = []string{more + dot + right[0], more}
		}
		return right
	case i == n-1 && rest > 0:
		return []string{more}
	}
	return nil
}

const (
	// wide is the width from which it is said when the first message is sent.
	wide = 80
	// leastRoom is what a message keeps beside the keys, in cells.
	leastRoom = 6
)

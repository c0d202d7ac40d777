package tree

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// wide is from how many columns on message numbers are shown, and roomy
	// from how many rows on rules.
	wide, roomy = 60, 14
	// textLeast is the room that a message keeps however deep its branch is.
	textLeast = 14
)

// Look is what a drawing depends on besides the model.
type Look struct {
	Theme         *themes.Theme
	Width, Height int
	Now           time.Time
	// Title is what the session is called.
	Title string
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
}

// room is how many rows a screen of a height has for the tree.
func (m Model) room(height int) int {
	if height < roomy {
		return max(height-2, 1)
	}
	return height - 4
}

// View draws the screen: exactly as many lines as it is high.
func (m Model) View(l Look) string {
	p, t := l.Theme.Paints, l.Theme
	room := m.room(l.Height)
	top := widget.Scroll(m.top, m.at, len(m.rows), room)
	right := "reading" + t.Ornaments.Ellipsis
	if m.read {
		right = m.words(l.Width)
	}
	title := " " + p.Title.On("Branches") + p.Muted.On(" "+t.Ornaments.Dot+" "+render.SafeLine(l.Title))
	title = render.Truncate(title, max(l.Width-render.Width(right)-2, 9), t.Ornaments.Ellipsis)
	lines := []string{render.Fit(title, p.Muted.On(right)+" ", l.Width, l.Theme.Ornaments.Ellipsis)}
	if l.Height >= roomy {
		lines = append(lines, widget.Rule(t, l.Width))
	}
	for i := top; i < top+room; i++ {
		switch {
		case i < len(m.rows):
			lines = append(lines, m.line(l, i))
		case i == 0 && m.read:
			lines = append(lines, p.Muted.On("  nothing was said in this chat yet"))
		default:
			lines = append(lines, "")
		}
	}
	if l.Height >= roomy {
		lines = append(lines, widget.Rule(t, l.Width))
	}
	if m.note != "" {
		lines = append(lines, widget.Notice(t, m.note, false, l.Width))
	} else {
		lines = append(lines, widget.Footer(m.Bindings(l.Keys), t, l.Width))
	}
	return widget.Frame(lines, l.Width, l.Height)
}

// words say how much there is.
func (m Model) words(width int) string {
	said, leaving := 0, 0
	for _, r := range m.rows {
		if r.Fork == "" && r.Said.Record > 0 {
			said++
		}
		if r.leaves {
			leaving++
		}
	}
	words := plural(said, "message", "messages") + " of yours"
	switch branches := plural(leaving+1, "branch", "branches"); {
	case leaving > 0 && width < wide:
		return branches
	case leaving > 0:
		words += ", " + branches
	}
	return words
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// line draws a row: whether it is selected, whether the branch shown ends
// there, its place among the branches, its time, how it begins, and how much
// is below.
func (m Model) line(l Look, i int) string {
	r, p, o := m.rows[i], l.Theme.Paints, l.Theme.Ornaments
	sign, head := " ", " "
	if i == m.at {
		sign = ">"
	}
	if r.Head {
		head = o.Running
	}
	right := ""
	if r.Below > 0 {
		right = strconv.Itoa(r.Below)
		if l.Width >= wide {
			right += " below"
		}
	}
	left := fmt.Sprintf("%s %s %-6s ", sign, head, clock(l.Now, r.At))
	if l.Width >= wide {
		left = fmt.Sprintf("%s %s %5s  %-6s  ", sign, head, number(r), clock(l.Now, r.At))
	}
	text := r.Text
	switch {
	case r.Fork != "":
		text = o.Right + " fork: " + text
	case r.Said.Record == 0:
		text = "the beginning"
	}
	room := l.Width - render.Width(left) - render.Width(right) - 2
	guide := guides(r, o, (room-textLeast)/guideWidth)
	text = widget.OneLine(text, max(room-render.Width(guide), 1), o.Ellipsis)
	paint := p.Muted
	switch {
	case i == m.at:
		paint = p.Selected
	case r.On:
		paint = p.Strong
	}
	line := p.Muted.On(left) + p.Border.On(guide) + paint.On(text)
	return render.Truncate(render.Fit(line, p.Muted.On(right)+" ", l.Width, l.Theme.Ornaments.Ellipsis), l.Width, "")
}

// number is the number of the row's message, if it is of this session's log.
func number(r Row) string {
	if r.Said.Record == 0 || r.Said.Session != "" || r.Fork != "" {
		return ""
	}
	return strconv.Itoa(r.Said.Record)
}

// guideWidth is how far a branch stands to the right of the one it leaves.
const guideWidth = 3

// guides are the lines that lead to a row, of at most so many branchings: of
// more only the last ones are drawn.
func guides(r Row, o themes.Ornaments, most int) string {
	if r.depth == 0 {
		return ""
	}
	pass, leave := o.Bar+"  ", o.TeeRight+o.Rule+" "
	depth := min(r.depth, max(most, 1))
	if r.leaves {
		return strings.Repeat(pass, depth-1) + leave
	}
	return strings.Repeat(pass, depth)
}

// clock is a time of today, or a day.
func clock(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(now.Location())
	if y, m, d := t.Date(); y == now.Year() && m == now.Month() && d == now.Day() {
		return t.Format("15:04")
	}
	if t.Year() == now.Year() {
		return t.Format("2 Jan")
	}
	return t.Format("2006")
}

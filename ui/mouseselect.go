package ui

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"cairn/ui/render"
)

// cell is a place on the screen, from the top left.
type cell struct{ x, y int }

// unit is how much is marked at once.
type unit int

const (
	unitCell unit = iota + 1
	unitWord
	unitLine
)

// selection is text of the screen that is marked. It keeps the rows as they were
// when the button went down: what streams in below does not change what was
// marked.
type selection struct {
	on       bool
	unit     unit
	from, at cell
	rows     []string // without colours
}

// newSelection begins to mark at a cell of a view.
func newSelection(view string, at cell, u unit) selection {
	s := selection{unit: u, rows: strings.Split(ansi.Strip(view), "\n")}
	s.from = s.inside(at)
	s.at = s.from
	return s
}

// inside is the nearest cell that there is.
func (s selection) inside(at cell) cell {
	return cell{max(at.x, 0), min(max(at.y, 0), max(len(s.rows)-1, 0))}
}

// to marks as far as a cell of the view as it is now.
func (s selection) to(at cell, view string) selection {
	if by, ok := s.moved(strings.Split(ansi.Strip(view), "\n")); ok {
		at.y -= by
	}
	s.at = s.inside(at)
	return s
}

// ends are the first and the last cell that is marked.
func (s selection) ends() (from, to cell) {
	from, to = s.from, s.at
	if to.y < from.y || to.y == from.y && to.x < from.x {
		from, to = to, from
	}
	if len(s.rows) == 0 {
		return from, to
	}
	switch s.unit {
	case unitLine:
		from.x, to.x = 0, 1<<20
	case unitCell:
	case unitWord:
		from.x, _ = word(s.rows[from.y], from.x)
		_, to.x = word(s.rows[to.y], to.x)
	}
	return from, to
}

// span is which cells of a marked row are marked, the last one not included.
func (s selection) span(y int) (left, right int) {
	from, to := s.ends()
	left, right = 0, 1<<20
	if y == from.y {
		left = from.x
	}
	if y == to.y {
		right = to.x + 1
	}
	return whole(s.rows[y], left, right)
}

// text is what is marked, without blanks at the ends of lines.
func (s selection) text() string {
	if len(s.rows) == 0 {
		return ""
	}
	from, to := s.ends()
	var lines []string
	for y := from.y; y <= to.y; y++ {
		left, right := s.span(y)
		lines = append(lines, strings.TrimRight(render.Unpictured(cells(s.rows[y], left, right)), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// moved is by how many rows the marked rows are lower in rows than they were. It
// reports false if they are not there.
func (s selection) moved(rows []string) (by int, ok bool) {
	if len(s.rows) == 0 {
		return 0, false
	}
	from, to := s.ends()
	marked := s.rows[from.y : to.y+1]
	at := func(by int) bool {
		y := from.y + by
		return y >= 0 && y+len(marked) <= len(rows) && slices.EqualFunc(marked, rows[y:y+len(marked)], func(a, b string) bool {
			return strings.TrimRight(a, " ") == strings.TrimRight(b, " ")
		})
	}
	for by := range len(rows) {
		if at(-by) {
			return -by, true
		}
		if at(by) {
			return by, true
		}
	}
	return 0, false
}

// over draws what is marked over a view, by reversing it.
func (s selection) over(view string) string {
	if len(s.rows) == 0 {
		return view
	}
	lines := strings.Split(view, "\n")
	by, ok := s.moved(strings.Split(ansi.Strip(view), "\n"))
	if !ok {
		return view
	}
	from, to := s.ends()
	for y := from.y; y <= to.y; y++ {
		left, right := s.span(y)
		right = min(right, render.Width(s.rows[y]))
		if left < right {
			lines[y+by] = reversed(lines[y+by], left, right)
		}
	}
	return strings.Join(lines, "\n")
}

// reversed is a line with some of its cells reversed.
func reversed(line string, left, right int) string {
	const on, off = "\x1b[m\x1b[7m", "\x1b[m"
	middle := ansi.Strip(ansi.Cut(line, left, right))
	return ansi.Cut(line, 0, left) + on + middle + off + ansi.Cut(line, right, render.Width(line))
}

// whole widens a span of cells to whole characters.
func whole(row string, left, right int) (int, int) {
	x := 0
	eachCluster(row, func(_ string, w int) {
		if x < left && left < x+w {
			left = x
		}
		if x < right && right < x+w {
			right = x + w
		}
		x += w
	})
	return left, right
}

// cells is the text of some cells of a row.
func cells(row string, left, right int) string {
	var out strings.Builder
	x := 0
	eachCluster(row, func(c string, w int) {
		if x >= left && x < right {
			out.WriteString(c)
		}
		x += w
	})
	return out.String()
}

// word is from which to which cell the word at a cell of a row goes.
func word(row string, at int) (first, last int) {
	first, last = 0, -1
	x, over := 0, false
	eachCluster(row, func(c string, w int) {
		switch {
		case over:
		case inWord(c):
			last = x + w - 1
		case x > at:
			over = true
		default:
			first = x + w
		}
		x += w
	})
	if at < first || at > last { // between words, or beyond them
		return at, at
	}
	return first, last
}

// inWord tells the characters of words, paths and addresses.
func inWord(c string) bool {
	return !strings.ContainsFunc(c, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>|,;", r)
	})
}

// eachCluster goes through the characters of a row with their widths.
func eachCluster(row string, do func(c string, w int)) {
	for len(row) > 0 {
		c, w := ansi.FirstGraphemeCluster(row, ansi.GraphemeWidth)
		if c == "" {
			return
		}
		do(c, w)
		row = row[len(c):]
	}
}

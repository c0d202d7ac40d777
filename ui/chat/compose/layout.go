package compose

import (
	"strings"

	"cairn/ui/render"
)

const tabStop = 4

// Layout is a box set in rows.
type Layout struct {
	// Rows are safe to draw and at most as wide as asked for.
	Rows []string
	// Row and Col are the caret's place, in cells. Col may equal the width.
	Row, Col int

	cells []cell
	ends  []int // of each row, the index of the cell after its last
	size  int   // pieces in the box
}

// cell is something drawn that a row cannot be broken inside of.
type cell struct {
	text  string
	width int
	piece int
	brk   bool // a row may end after it
	nl    bool
}

// Layout sets the box in rows of at most width cells, broken at spaces where
// there are any. There is always at least one row.
func (b Box) Layout(width int) Layout {
	width = max(width, 1)
	l := Layout{cells: b.cells(width), size: len(b.pieces)}
	start, used, brk := 0, 0, -1
	for i := 0; i < len(l.cells); i++ {
		c := &l.cells[i]
		if c.nl {
			l.row(start, i+1)
			start, used, brk = i+1, 0, -1
			continue
		}
		if c.text == "\t" {
			c.width = min(tabStop-used%tabStop, width)
		}
		if used+c.width > width && c.text != " " {
			end := i
			if brk > start {
				end = brk
			}
			l.row(start, end)
			start, used, brk = end, 0, -1
			i = end - 1
			continue
		}
		used += c.width
		if c.brk {
			brk = i + 1
		}
	}
	l.row(start, len(l.cells))
	l.caret(b.at, width)
	return l
}

// cells lists what is drawn. Folds are labels of many cells.
func (b Box) cells(width int) []cell {
	cells := make([]cell, 0, len(b.pieces))
	for i, p := range b.pieces {
		switch {
		case p.fold:
			for _, g := range split(p.label()) {
				cells = append(cells, cell{text: g.text, width: 1, piece: i})
			}
		case p.text == "\n":
			cells = append(cells, cell{piece: i, nl: true})
		case p.text == " ":
			cells = append(cells, cell{text: " ", width: 1, piece: i, brk: true})
		case p.text == "\t":
			cells = append(cells, cell{text: "\t", piece: i, brk: true})
		default:
			cells = append(cells, shown(render.Safe(p.text), i, width)...)
		}
	}
	return cells
}

// shown makes cells of safe text: one, or several for a mark of some width.
func shown(s string, piece, width int) []cell {
	w := render.Width(s)
	if w > width && len(s) > 1 {
		parts := split(s)
		if len(parts) == 1 { // a character wider than the box
			return []cell{{text: "?", width: 1, piece: piece}}
		}
		var cells []cell
		for _, g := range parts {
			cells = append(cells, shown(g.text, piece, width)...)
		}
		return cells
	}
	return []cell{{text: s, width: w, piece: piece, brk: w > 1}}
}

// row adds the row of the cells from i up to j.
func (l *Layout) row(i, j int) {
	var s strings.Builder
	for _, c := range l.cells[i:j] {
		if c.text == "\t" {
			s.WriteString(strings.Repeat(" ", c.width))
			continue
		}
		s.WriteString(c.text)
	}
	l.Rows = append(l.Rows, s.String())
	l.ends = append(l.ends, j)
}

// caret finds the place before piece at, and trims the spaces that hang over
// the end of a row.
func (l *Layout) caret(at, width int) {
	start := 0
	for row, end := range l.ends {
		col, here := 0, false
		for _, c := range l.cells[start:end] {
			if c.piece >= at {
				here = true
				break
			}
			if !c.nl {
				col += c.width
			}
		}
		if here || row == len(l.ends)-1 {
			l.Row, l.Col = row, min(col, width)
			break
		}
		start = end
	}
	for i, s := range l.Rows {
		if strings.HasSuffix(s, " ") && render.Width(s) > width {
			l.Rows[i] = render.Truncate(s, width, "")
		}
	}
}

// place is the caret position in a row nearest to column col.
func (l *Layout) place(row, col int) int {
	start := 0
	if row > 0 {
		start = l.ends[row-1]
	}
	used := 0
	for _, c := range l.cells[start:l.ends[row]] {
		if c.nl || used+c.width > col {
			return c.piece
		}
		used += c.width
	}
	if row == len(l.ends)-1 {
		return l.size
	}
	// The end of a wrapped row is the start of the next; stay on this one.
	return max(l.cells[l.ends[row]-1].piece, 0)
}

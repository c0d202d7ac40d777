package overlay

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"cairn/themes"
	"cairn/ui/render"
)

const (
	// piece is how much of a line is laid out at once, in bytes: a line of
	// megabytes costs no more than that. A piece begins a new row, which only
	// shows where not every byte takes a cell.
	piece = 64 << 10
	// everyLine is how far apart the lines are whose places are known.
	everyLine = 64
	// maxCluster bounds what is taken for one character, in bytes.
	maxCluster = 64
	// tabWidth is the distance of tab stops in cells.
	tabWidth = 4
	// keptPieces is how many pieces stay laid out.
	keptPieces = 8
)

// roll is a text of any size as rows of a width. Rows are named by the byte at
// which they begin, and only those that are looked at are ever laid out. What
// is kept is a memo, so that copies may share a roll.
type roll struct {
	text  string
	width int
	lines int
	marks []int // where each everyLine-th line begins

	from, to int // the line that was looked at last
	have     bool
	pieces   []laidPiece // the newest last
}

// laidPiece has where the rows of a piece begin.
type laidPiece struct {
	from, to int
	rows     []int
}

func newRoll(text string, width int) *roll {
	r := &roll{text: text, width: max(width, 1), marks: []int{0}, lines: 1}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 || at+i+1 == len(text) { // a newline at the end begins no line
			return r
		}
		at += i + 1
		if r.lines%everyLine == 0 {
			r.marks = append(r.marks, at)
		}
		r.lines++
	}
}

// wide is the roll at another width.
func (r *roll) wide(width int) *roll {
	if width = max(width, 1); width == r.width {
		return r
	}
	return &roll{text: r.text, width: width, marks: r.marks, lines: r.lines}
}

// number is the number of the line that a byte is in, from 1.
func (r *roll) number(at int) int {
	m := sort.SearchInts(r.marks, at+1) - 1
	return m*everyLine + strings.Count(r.text[r.marks[m]:at], "\n") + 1
}

// line is where the line of a byte begins and where it ends, without its
// newline, which counts as its last byte.
func (r *roll) line(at int) (from, to int) {
	if r.have && r.from <= at && at <= r.to {
		return r.from, r.to
	}
	m := sort.SearchInts(r.marks, at+1) - 1
	from = r.marks[m]
	for {
		i := strings.IndexByte(r.text[from:], '\n')
		if i < 0 {
			to = len(r.text)
			break
		}
		if to = from + i; at <= to {
			break
		}
		from = to + 1
	}
	r.from, r.to, r.have = from, to, true
	return from, to
}

// piece lays out the part of a line that a byte is in.
func (r *roll) piece(at int) laidPiece {
	from, to := r.line(at)
	for _, p := range r.pieces {
		if p.from <= at && (at < p.to || at == p.to && p.to == to) {
			return p
		}
	}
	step := max(piece/r.width, 1) * r.width
	n := (at - from) / step
	if at == to && at > from { // the newline is in the last row
		n = (at - 1 - from) / step
	}
	p := laidPiece{from: max(r.whole(from+n*step), from), to: min(r.whole(from+(n+1)*step), to)}
	if at >= p.to && p.to < to {
		p = laidPiece{from: p.to, to: min(r.whole(from+(n+2)*step), to)}
	}
	p.rows = r.rows(p.from, p.to)
	if r.pieces = append(r.pieces, p); len(r.pieces) > keptPieces {
		r.pieces = append([]laidPiece(nil), r.pieces[1:]...)
	}
	return p
}

// whole is the nearest place at or before one at which a character begins.
func (r *roll) whole(at int) int {
	if at >= len(r.text) {
		return len(r.text)
	}
	for i := at; i > at-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(r.text[i]) {
			return i
		}
	}
	return at
}

// rows is where the rows of a part of a line begin.
func (r *roll) rows(from, to int) []int {
	rows, col := []int{from}, 0
	for i := from; i < to; {
		n, w, _ := r.unit(i, to, col)
		if col+w > r.width && col > 0 {
			rows, col = append(rows, i), 0
			continue
		}
		i, col = i+n, col+w
	}
	return rows
}

// unit is what is drawn next as one at a column: so many bytes, which take w
// cells as s. It drives no terminal and is never wider than a row.
func (r *roll) unit(at, to, col int) (n, w int, s string) {
	switch c := r.text[at]; {
	case c >= 0x20 && c < 0x7f && (at+1 >= to || r.text[at+1] < utf8.RuneSelf):
		return 1, 1, r.text[at : at+1]
	case c == '\t':
		w = min(tabWidth-col%tabWidth, r.width)
		return 1, w, strings.Repeat(" ", w)
	case c == '\r' && at+1 == to && to < len(r.text) && r.text[to] == '\n':
		return 1, 0, ""
	}
	end := to
	if to-at > maxCluster {
		end = r.whole(at + maxCluster)
	}
	g, _ := ansi.FirstGraphemeCluster(r.text[at:end], ansi.GraphemeWidth)
	if c, size := utf8.DecodeRuneInString(g); c == utf8.RuneError && size < 2 { // it takes what follows with it
		g = g[:1]
	}
	if s = drawable(g); render.Width(s) > r.width { // what is piled up on one place
		_, size := utf8.DecodeRuneInString(g)
		g = g[:size]
		s = drawable(g)
	}
	if w = render.Width(s); w > r.width {
		return len(g), 1, "?"
	}
	return len(g), w, s
}

// drawable is a character as it may be drawn, whatever stands before it.
func drawable(g string) string {
	s := render.SafeLine(g)
	if c, _ := utf8.DecodeRuneInString(s); unicode.IsMark(c) || render.Width(s) == 0 {
		return "◌" + s // a mark without a letter, or more of them than one may bear
	}
	return s
}

// row is where the row of a byte begins.
func (r *roll) row(at int) int {
	at = max(min(at, len(r.text)), 0)
	p := r.piece(at)
	return p.rows[max(sort.SearchInts(p.rows, at+1)-1, 0)]
}

// next is the row below one; ok is false at the last one.
func (r *roll) next(row int) (at int, ok bool) {
	p := r.piece(row)
	if i := sort.SearchInts(p.rows, row+1); i < len(p.rows) {
		return p.rows[i], true
	}
	if _, to := r.line(row); p.to >= to {
		return to + 1, to+1 < len(r.text)
	}
	return p.to, true
}

// prev is the row above one; ok is false at the first one.
func (r *roll) prev(row int) (at int, ok bool) {
	if row <= 0 {
		return 0, false
	}
	return r.row(row - 1), true
}

// end is where a row ends.
func (r *roll) end(row int) int {
	p := r.piece(row)
	if i := sort.SearchInts(p.rows, row+1); i < len(p.rows) {
		return p.rows[i]
	}
	return p.to
}

// last is the last row.
func (r *roll) last() int {
	at := len(r.text)
	if at > 0 && r.text[at-1] == '\n' {
		at--
	}
	return r.row(at)
}

// draw draws a row, with what the query finds in it painted.
func (r *roll) draw(row int, query string, paint themes.Paint) string {
	end := r.end(row)
	_, to := r.line(row)
	found := -1
	if query != "" { // a match may begin in the row above
		found = r.find(query, max(row-len(query)+1, 0), end)
	}
	var b strings.Builder
	on := false
	for i, col := row, 0; i < end; {
		for found >= 0 && found+len(query) <= i {
			found = r.find(query, found+len(query), end)
		}
		n, w, s := r.unit(i, to, col)
		if hit := found >= 0 && found < i+n; hit != on && paint != "" {
			if on = hit; on {
				b.WriteString(string(paint))
			} else {
				b.WriteString(themes.Reset)
			}
		}
		b.WriteString(s)
		i, col = i+n, col+w
	}
	if on {
		b.WriteString(themes.Reset)
	}
	return b.String()
}

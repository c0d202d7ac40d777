package widget

import (
	"strings"

	"cairn/ui/render"
)

// tabWidth is how many cells a tab takes in an area.
const tabWidth = 4

// row is one row of an area: the bytes of the text it shows.
type row struct{ from, to int }

// cell is the harmless form of a cluster and its width, at most limit cells.
func cell(cluster string, limit int) (string, int) {
	if len(cluster) == 1 && cluster[0] >= ' ' && cluster[0] < 0x7f {
		return cluster, 1
	}
	if len(cluster) == 3 && limit > 1 && ideograph(cluster) {
		return cluster, 2
	}
	if cluster == "\t" {
		n := min(tabWidth, limit)
		return strings.Repeat(" ", n), n
	}
	shown := render.SafeLine(cluster)
	w := render.Width(shown)
	if w > limit {
		shown = render.Truncate(shown, limit, "")
		if shown == "" {
			shown = "?"
		}
		w = render.Width(shown)
	}
	return shown, w
}

// rows lays out the line that begins at start. A row breaks after a blank if
// there is one, and a cell is left free for the cursor.
func (f Field) rows(start int) []row {
	limit := max(f.width-1, 1)
	end := f.lineEnd(start)
	var rows []row
	from, x := start, 0
	blank, blankX := 0, 0 // where the row may break, and the column there
	for i := start; i < end; {
		n := clusterLen(f.text[i:end])
		_, w := cell(f.text[i:i+n], limit)
		for x+w > limit && i > from {
			if blank <= from {
				blank, blankX = i, x
			}
			rows = append(rows, row{from, blank})
			from, x = blank, x-blankX
		}
		x += w
		i += n
		if c := f.text[i-n]; n == 1 && (c == ' ' || c == '\t') {
			blank, blankX = i, x
		}
	}
	return append(rows, row{from, end})
}

// rowOf is the index of the row that shows the cursor at offset at.
func rowOf(rows []row, at int) int {
	for i, r := range rows {
		if at < r.to || i == len(rows)-1 {
			return i
		}
	}
	return 0
}

// column is the cell at which the cursor stands in a row.
func (f Field) column(r row, at int) int {
	limit := max(f.width-1, 1)
	x := 0
	for i := r.from; i < at; {
		n := clusterLen(f.text[i:])
		_, w := cell(f.text[i:i+n], limit)
		x += w
		i += n
	}
	return x
}

// atColumn is the offset in a row nearest to a column from the left. The end
// of a row that goes on in the next one belongs to the next one.
func (f Field) atColumn(r row, last bool, column int) int {
	limit := max(f.width-1, 1)
	x := 0
	for i := r.from; i < r.to; {
		n := clusterLen(f.text[i:])
		_, w := cell(f.text[i:i+n], limit)
		if x+w > column || !last && i+n >= r.to {
			return i
		}
		x += w
		i += n
	}
	return r.to
}

// byRows moves the cursor by n rows and keeps its column where it can.
func (f Field) byRows(n int) Field {
	start := f.lineStart(f.at)
	rows := f.rows(start)
	i := rowOf(rows, f.at)
	if f.goal < 0 {
		f.goal = f.column(rows[i], f.at)
	}
	for ; n < 0; n++ {
		if i--; i < 0 {
			if start == 0 {
				f.at = 0
				return f
			}
			start = f.lineStart(start - 1)
			rows = f.rows(start)
			i = len(rows) - 1
		}
	}
	for ; n > 0; n-- {
		if i++; i == len(rows) {
			end := rows[i-1].to
			if end == len(f.text) {
				f.at = end
				return f
			}
			start = end + 1
			rows, i = f.rows(start), 0
		}
	}
	f.at = f.atColumn(rows[i], i == len(rows)-1, f.goal)
	return f
}

// scroll brings the row of the cursor on screen with as little movement as
// possible. It reads at most a screenful of lines back from the cursor.
func (f Field) scroll() Field {
	if !f.area || f.height == 0 {
		return f
	}
	start := f.lineStart(f.at)
	rows := f.rows(start)
	i := rowOf(rows, f.at)
	cursor := rows[i].from
	first := cursor // the start of the row a screenful above the cursor's
	for n := 1; n < f.height && first > f.top; n++ {
		if i--; i < 0 {
			if start == 0 {
				break
			}
			start = f.lineStart(start - 1)
			rows = f.rows(start)
			i = len(rows) - 1
		}
		first = rows[i].from
	}
	top := min(f.top, len(f.text))
	if at := f.lineStart(top); at != start {
		rows = f.rows(at)
	}
	f.top = min(max(rows[rowOf(rows, top)].from, first), cursor)
	return f
}

// Draw lays the field out in width times height cells: at most height lines,
// none wider than width, and the cell of the cursor. A field of one line shows
// the part around the cursor.
func (f Field) Draw(width, height int) (lines []string, x, y int) {
	if width <= 0 || height <= 0 {
		return nil, 0, 0
	}
	if f.width != width || f.height != height {
		f = f.Resize(width, height)
	}
	if !f.area {
		line, x := f.line(width)
		return []string{line}, x, 0
	}
	limit := max(width-1, 1)
	for start := f.lineStart(f.top); len(lines) < height; {
		rows := f.rows(start)
		at := -1
		if end := rows[len(rows)-1].to; f.at >= start && f.at <= end {
			at = rowOf(rows, f.at)
		}
		for i, r := range rows {
			if r.from < f.top || len(lines) == height {
				continue
			}
			if i == at {
				x, y = min(f.column(r, f.at), width-1), len(lines)
			}
			lines = append(lines, f.shown(r, limit))
		}
		start = rows[len(rows)-1].to + 1
		if start > len(f.text) {
			break
		}
	}
	return lines, x, y
}

func (f Field) shown(r row, limit int) string {
	var b strings.Builder
	for i := r.from; i < r.to; {
		n := clusterLen(f.text[i:])
		s, _ := cell(f.text[i:i+n], limit)
		b.WriteString(s)
		i += n
	}
	return b.String()
}

// line is the part of the text around the cursor that fits: what is before the
// cursor as far as it fits, then what is after it.
func (f Field) line(width int) (string, int) {
	limit := max(width-1, 1)
	before, x := "", 0
	for i := f.at; i > 0; {
		l := f.left(i)
		s, w := cell(f.text[l:i], limit)
		if x+w > width-1 {
			break
		}
		before, x = s+before, x+w
		i = l
	}
	var b strings.Builder
	b.WriteString(before)
	for i, used := f.at, x; i < len(f.text); {
		r := f.right(i)
		s, w := cell(f.text[i:r], limit)
		if used+w > width {
			break
		}
		b.WriteString(s)
		used += w
		i = r
	}
	return b.String(), x
}

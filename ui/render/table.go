package render

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// minColumn is the least width a column is wrapped to; with less room per
// column the table becomes a list.
const minColumn = 10

// unwrapped is a width that no cell reaches.
const unwrapped = 1 << 30

// grid is a table with its cells drawn but not laid out.
type grid struct {
	head  []string
	rows  [][]string
	align []extast.Alignment
}

// table draws a table: with columns if it fits or can be wrapped into the
// width, else as one "header: cell" line for each cell. No text is cut.
func (l *layouter) table(n *extast.Table, w int) []string {
	g := l.grid(n)
	natural := make([]int, len(g.head))
	for c := range natural {
		natural[c] = max(Width(g.head[c]), 3)
		for _, r := range g.rows {
			natural[c] = max(natural[c], Width(r[c]))
		}
	}
	room := w - 3*len(natural) - 1
	widths := shrink(natural, room)
	if widths == nil {
		return l.m.records(g, w)
	}
	return l.m.columns(g, widths)
}

func (l *layouter) grid(n *extast.Table) grid {
	g := grid{align: n.Alignments}
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, l.cell(c))
		}
		if more := l.excess(r); more != "" && len(cells) > 0 {
			cells[len(cells)-1] += " | " + more
		}
		if r.Kind() == extast.KindTableHeader {
			g.head = cells
			continue
		}
		for len(cells) < len(g.head) {
			cells = append(cells, "")
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// cell draws a cell on one line.
func (l *layouter) cell(n ast.Node) string {
	if n.FirstChild() == nil {
		return ""
	}
	key := leafKey{kind: n.Kind(), width: unwrapped, text: withTargets(rawLines(n, l.src), n.FirstChild(), nil)}
	lines := l.cached(key, func() string {
		return strings.ReplaceAll(l.inline(n.FirstChild(), nil), "\n", " ")
	})
	return strings.Join(lines, " ")
}

// excess is what a row has behind the cells that the table has columns for. The
// parser drops it; a reader must not lose it.
func (l *layouter) excess(row ast.Node) string {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return ""
	}
	rest := l.src[last.Lines().At(0).Stop:]
	if eol := bytes.IndexByte(rest, '\n'); eol >= 0 {
		rest = rest[:eol]
	}
	return string(bytes.Trim(rest, " \t|"))
}

// shrink gives each column its natural width if all fit into room, else takes
// from the widest; nil if a column would get too narrow.
func shrink(natural []int, room int) []int {
	widths := append([]int(nil), natural...)
	total := 0
	for _, n := range natural {
		total += n
	}
	for total > room {
		widest := 0
		second := 0
		for c, v := range widths {
			if v > widths[widest] {
				widest = c
			}
		}
		for c, v := range widths {
			if c != widest {
				second = max(second, v)
			}
		}
		cut := min(total-room, max(widths[widest]-second, 1))
		if widths[widest]-cut < min(minColumn, natural[widest]) {
			return nil
		}
		widths[widest] -= cut
		total -= cut
	}
	return widths
}

// columns draws the table as Markdown would have it, so that a copy of it is a
// table again; rows are ruled apart when a cell needs several lines.
func (m *Markdown) columns(g grid, widths []int) []string {
	rule := "|"
	for _, w := range widths {
		rule += strings.Repeat("-", w+2) + "|"
	}
	rule = m.theme.Paints.Border.On(rule)
	head := make([]string, len(g.head))
	for c, s := range g.head {
		head[c] = string(m.theme.Paints.Strong) + s
		if m.theme.Paints.Strong != "" {
			head[c] += reset
		}
	}
	out := append(m.row(head, widths, g.align), rule)
	var body [][]string
	tall := false
	for _, r := range g.rows {
		lines := m.row(r, widths, g.align)
		tall = tall || len(lines) > 1
		body = append(body, lines)
	}
	for i, lines := range body {
		if tall && i > 0 {
			out = append(out, rule)
		}
		out = append(out, lines...)
	}
	return out
}

// row draws one row; all its lines have the same width.
func (m *Markdown) row(cells []string, widths []int, align []extast.Alignment) []string {
	wrapped := make([][]string, len(widths))
	height := 1
	for c := range widths {
		wrapped[c] = Wrap(cells[c], widths[c])
		height = max(height, len(wrapped[c]))
	}
	bar := m.theme.Paints.Border.On("|")
	out := make([]string, height)
	var b strings.Builder
	for i := range out {
		b.Reset()
		b.WriteString(bar)
		for c, w := range widths {
			s := ""
			if i < len(wrapped[c]) {
				s = wrapped[c][i]
			}
			b.WriteString(" " + alignCell(s, w, align[c]) + " " + bar)
		}
		out[i] = b.String()
	}
	return out
}

func alignCell(s string, w int, a extast.Alignment) string {
	gap := max(w-lineWidth(s), 0)
	switch a {
	case extast.AlignRight:
		return strings.Repeat(" ", gap) + s
	case extast.AlignCenter:
		return strings.Repeat(" ", gap/2) + s + strings.Repeat(" ", gap-gap/2)
	default:
		return s + strings.Repeat(" ", gap)
	}
}

// records draws a table that is too wide: each row as a group of lines.
func (m *Markdown) records(g grid, w int) []string {
	var out []string
	if len(g.rows) == 0 {
		return Wrap(strings.Join(g.head, " | "), w)
	}
	for i, r := range g.rows {
		if i > 0 {
			out = append(out, m.theme.Paints.Border.On(strings.Repeat("-", min(w, 3))))
		}
		for c, cell := range r {
			label := m.theme.Paints.Strong.On(g.head[c] + ":")
			out = append(out, hang(label+" "+cell, w)...)
		}
	}
	return out
}

// hang wraps a text whose second and later lines are indented by two cells
// where there is room for that.
func hang(s string, w int) []string {
	if w < minInner+2 {
		return Wrap(s, w)
	}
	lines := Wrap(s, w)
	if len(lines) == 1 {
		return lines
	}
	return indent(Wrap(s, w-2), "", "  ")
}

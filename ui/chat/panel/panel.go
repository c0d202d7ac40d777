// Package panel draws what stands beside a conversation on a wide screen. The one
// thing to know: it is made of sections of plain lines, and the sections that do
// not fit are left out from below.
package panel

import (
	"strings"

	"cairn/themes"
	"cairn/ui/render"
)

const (
	// Width is how wide it is, in cells, without the bar before it.
	Width = 32
	// LeastWidth is how wide a screen has to be for it, in cells.
	LeastWidth = 110
	// LeastHeight is how high that has to be.
	LeastHeight = 28
	// barWidth is that of the bar that shows an amount.
	barWidth = 20
	// indent is how far the rest of a wrapped line is moved in.
	indent = 2
)

// Section is a heading with lines; a line may be wrapped, which makes more of it.
type Section struct {
	// Title is the heading, empty for none.
	Title string
	Lines []Line
	// Most is how many rows the lines may take; 0 is as many as they need.
	Most int
}

// Line is a line of a section.
type Line struct {
	Text  string
	Muted bool
}

// Amount is a bar of how much of a whole something is, in percent.
func Amount(o themes.Ornaments, percent int64) string {
	n := int(min(max(percent, 0), 100) * barWidth / 100)
	return "[" + strings.Repeat(o.Full, n) + strings.Repeat(" ", barWidth-n) + "]"
}

// View draws sections: exactly height rows, each with the bar before it, of Width
// cells and that bar.
func View(sections []Section, t *themes.Theme, height int) []string {
	var lines []string
	for _, s := range sections {
		rows := s.rows(t)
		switch gap := min(len(lines), 1); {
		case len(rows) == 0:
		case len(lines)+gap+len(rows) > height:
			if room := height - len(lines) - gap; room > 1 { // the beginning of it
				lines = append(append(lines, make([]string, gap)...), rows[:room-1]...)
				lines = append(lines, t.Paints.Muted.On(t.Ornaments.Ellipsis))
			}
			return barred(lines, t, height)
		default:
			lines = append(append(lines, make([]string, gap)...), rows...)
		}
	}
	return barred(lines, t, height)
}

// rows are the heading and the lines, wrapped.
func (s Section) rows(t *themes.Theme) []string {
	if len(s.Lines) == 0 {
		return nil
	}
	var out []string
	for _, l := range s.Lines {
		for i, row := range render.Wrap(render.SafeLine(l.Text), Width-1-indent) {
			if i > 0 {
				row = strings.Repeat(" ", indent) + row
			}
			if l.Muted {
				row = t.Paints.Muted.On(row)
			}
			out = append(out, row)
		}
	}
	if s.Most > 0 && len(out) > s.Most {
		out = append(out[:s.Most-1], t.Paints.Muted.On(t.Ornaments.Ellipsis))
	}
	if s.Title != "" {
		out = append([]string{t.Paints.Strong.On(s.Title)}, out...)
	}
	return out
}

func barred(lines []string, t *themes.Theme, height int) []string {
	bar := t.Paints.Border.On(t.Ornaments.Bar)
	out := make([]string, height)
	for i := range out {
		out[i] = bar
		if i < len(lines) && lines[i] != "" {
			out[i] += " " + render.Truncate(lines[i], Width-1, t.Ornaments.Ellipsis)
		}
	}
	return out
}

package picker

import (
	"cairn/harness"
	"cairn/themes"
	"cairn/ui/widget"
)

// saidLines is the most lines that the preview shows of one message.
const saidLines = 300

// laid is the text of the preview wrapped for one width. It is made when
// something of it changes, not with each frame.
type laid struct {
	lines []string
	ends  map[int]int // where in them the record of a number ends
	match int         // the line in which the found words are, -1 for none
	of    laidOf
}

// laidOf is what the lines depend on.
type laidOf struct {
	of      key
	records int
	last    int // the number of the last record
	width   int
	query   string
	theme   *themes.Theme
}

// laidPreview wraps the preview again if it has to be, and keeps the place that
// is being read.
func (m Model) laidPreview(l layout) Model {
	k, ok := m.list.selected()
	if !ok || m.preview.of != k || !m.previewing() {
		return m
	}
	next := m.layPreview(m.previewWidth(l))
	p := &m.preview
	if next.of == p.laid.of {
		return m
	}
	before := p.laid.of
	p.laid = next
	room := m.previewRoom(l)
	switch end, there := next.ends[before.last]; {
	case before.of != k || before.records == 0:
		p.up = 0
		if k.message > 0 && next.match >= 0 { // the words found are on the screen
			p.up = max(len(next.lines)-next.match-max(room*2/3, 1), 0)
		}
	case !there: // another branch is on screen now
		p.up = 0
	case p.up > 0: // more was said below what is read
		p.up += len(next.lines) - end
	}
	p.up = max(min(p.up, len(next.lines)-room), 0)
	return m
}

// layPreview is the preview's text in a width, as it was made before if nothing
// of it has changed.
func (m Model) layPreview(width int) laid {
	p := m.preview
	of := laidOf{of: p.of, records: len(p.records), width: width, query: m.list.query.text, theme: m.c.Theme}
	if n := len(p.records); n > 0 {
		of.last = p.records[n-1].Seq
	}
	if of == p.laid.of {
		return p.laid
	}
	out := laid{of: of, match: -1, ends: map[int]int{}}
	paints, words := m.c.Theme.Paints, m.list.query.words
	for i, r := range p.records {
		who, text := m.said(r)
		if text == "" {
			out.ends[r.Seq] = len(out.lines)
			continue
		}
		if len(out.lines) > 0 {
			out.lines = append(out.lines, "")
		}
		out.lines = append(out.lines, paints.Muted.On(m.oneLine(who, width)))
		lines, more := widget.Lines(text, width, saidLines)
		if more && len(lines) > 0 {
			lines[len(lines)-1] = m.oneLine(lines[len(lines)-1], width-2) + m.c.Theme.Ornaments.Ellipsis
		}
		for _, line := range lines {
			spans := wordsIn(line, words)
			if len(spans) > 0 && out.match < 0 && i == len(p.records)-1 {
				out.match = len(out.lines)
			}
			out.lines = append(out.lines, paintFound(line, spans, "", paints.Match))
		}
		out.ends[r.Seq] = len(out.lines)
	}
	return out
}

// previewWidth and previewRoom are the size of the preview's text.
func (m Model) previewWidth(l layout) int {
	if l.wide {
		return l.right
	}
	return max(l.width-2, 1)
}

func (m Model) previewRoom(l layout) int {
	k, _ := m.list.selected()
	s, ok := m.list.byID(k.session)
	height := l.list
	if l.wide {
		height++ // beside the search line
	}
	return max(height-len(m.previewHead(s, ok, m.previewWidth(l), height)), 0)
}

// previewHead is what the session is; at most half of the height.
func (m Model) previewHead(s harness.Session, known bool, width, height int) []string {
	p := m.c.Theme.Paints
	k, _ := m.list.selected()
	if !known {
		return []string{p.Muted.On(m.oneLine("id "+string(k.session), width)), ""}
	}
	head := []string{m.heading(m.oneLine(m.title(s), width))}
	for _, f := range m.facts(s) {
		head = append(head, p.Muted.On(m.oneLine(f, width)))
	}
	return append(head[:min(len(head), max(height/2, 1))], "")
}

// further says where there is more to read than is shown, in the line between
// the two parts of the preview.
func (m Model) further(above, below bool) string {
	var up, down string
	if o := m.c.Theme.Ornaments; above {
		up = o.Up + " earlier"
	}
	if o := m.c.Theme.Ornaments; below {
		down = o.Down + " later"
	}
	return m.c.Theme.Paints.Muted.On(m.dotted(up, down))
}

// heading is a title in which the words of the search box are pointed out.
func (m Model) heading(line string) string {
	p := m.c.Theme.Paints
	return p.Title.On(paintFound(line, widget.Found(line, m.list.query.marks()), p.Title, p.Match))
}

// previewPane is the preview: what the session is, and its end.
func (m Model) previewPane(width, height int) []string {
	k, ok := m.list.selected()
	if !ok {
		return nil
	}
	s, known := m.list.byID(k.session)
	head := m.previewHead(s, known, width, height)
	room := height - len(head)
	if room <= 0 {
		return head[:max(height, 0)]
	}
	lines, above, below := m.ending(s, k, width, room)
	head[len(head)-1] = m.further(above, below)
	return append(head, lines...)
}

// ending is the part of the last messages that is scrolled to, and whether
// there are lines before and after it.
func (m Model) ending(s harness.Session, k key, width, height int) (lines []string, above, below bool) {
	switch {
	case m.c.Transcript == nil:
		lines, below = widget.Lines(s.Preview, width, height)
		return lines, false, below
	case m.preview.of != k || m.preview.busy && m.preview.records == nil:
		return nil, false, false
	case m.preview.failed != nil:
		lines, _ = widget.Lines(m.c.Words(m.preview.failed), width, height)
		return lines, false, false
	}
	all := m.layPreview(width).lines
	end := max(len(all)-m.preview.up, min(height, len(all)))
	start := max(end-height, 0)
	return all[start:end], start > 0 || !m.preview.first && len(all) > 0, end < len(all)
}

package chat

// keptPlace is the place that is read, at the width at which the person went to it:
// other widths show the same text, and this one the same line again.
type keptPlace struct {
	width, id, line int
	// text is how many letters of the item are above it.
	text int
	// now is the line that it became at the width of now.
	now int
}

// rewidth makes a change to how wide the conversation is. Unless the end is followed,
// the text that is at the top of the window stays there, and what is new stays as
// new as it was.
func (m Model) rewidth(change func(Model) Model) Model {
	p, was := &m.pages, m.pageWidth()
	if p.follow || was <= 0 {
		return change(m)
	}
	top, mark := m.desk().lines(p.top.item), m.desk().lines(p.mark.item)
	line, id := min(p.top.line, len(top)), p.idAt(p.top.item)
	if p.kept.width == 0 || p.kept.id != id || p.kept.now != line {
		p.kept = keptPlace{was, id, line, textBefore(top[:line]), line}
	}
	seen := min(p.mark.line, len(mark))
	all, text := seen == len(mark), textBefore(mark[:seen])

	m = change(m)
	p = &m.pages
	width := m.pageWidth()
	if width <= 0 || width == was {
		return m
	}
	top, mark = m.desk().lines(p.top.item), m.desk().lines(p.mark.item)
	switch {
	case p.kept.width == width || p.kept.line == 0:
		p.kept.now = min(p.kept.line, max(len(top)-1, 0))
	default:
		p.kept.now = lineWith(top, p.kept.text)
	}
	p.top.line = p.kept.now
	if p.mark.line = len(mark); !all {
		p.mark.line = lineWith(mark, text)
	}
	return m
}

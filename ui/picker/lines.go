package picker

import "cairn/ui/widget"

// line is the line of row n among rows and headings.
func (l list) line(n int, headings bool) int {
	if !headings {
		return n
	}
	line := n
	for _, g := range l.groups {
		if g.from <= n {
			line++
		}
	}
	return line
}

// lines is the number of rows and headings.
func (l list) lines(headings bool) int {
	if headings {
		return l.len() + len(l.groups)
	}
	return l.len()
}

// lineAt is the row on a line, or the heading.
func (l list) lineAt(line int, headings bool) (row int, heading string) {
	if headings {
		for i := len(l.groups) - 1; i >= 0; i-- {
			switch at := l.groups[i].from + i; {
			case at == line:
				return 0, l.groups[i].name
			case at < line:
				return line - i - 1, ""
			}
		}
	}
	return line, ""
}

// scrolled is the first line of a window of height lines that shows the
// selected row, with its heading if it is the first under one.
func (l list) scrolled(height int, headings bool) int {
	at, n := l.line(l.at, headings), l.lines(headings)
	top := l.top
	if at > 0 && height > 1 {
		if _, heading := l.lineAt(at-1, headings); heading != "" {
			top = widget.Scroll(top, at-1, n, height)
		}
	}
	return widget.Scroll(top, at, n, height)
}

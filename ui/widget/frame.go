package widget

import (
	"strings"

	"cairn/themes"
	"cairn/ui/render"
)

// Frame makes a screen of lines: exactly height lines of at most width cells.
// What is too wide is cut, what is too much is left out at the end. The lines
// may hold styles; foreign text in them must have been made safe.
func Frame(lines []string, width, height int) string {
	if height <= 0 {
		return ""
	}
	var b strings.Builder
	for i := range height {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) && width > 0 {
			b.WriteString(render.Truncate(lines[i], width, ""))
		}
	}
	return b.String()
}

// Scroll is the first of n rows to show in a window of height rows, so that
// row at is among them and the window, which began at top, moves as little as
// possible.
func Scroll(top, at, n, height int) int {
	height = max(height, 1)
	top = min(top, at)
	top = max(top, at-height+1)
	return max(min(top, n-height), 0)
}

// OneLine makes foreign text safe for one line of at most width cells. It
// never looks at more of a long text than it can show.
func OneLine(text string, width int, ellipsis string) string {
	start := Head(text, 16*max(width, 1)+64)
	cut := len(start) < len(text)
	text = render.SafeLine(strings.TrimSpace(start))
	if cut && render.Width(text) <= width {
		text += ellipsis
	}
	return render.Truncate(text, width, ellipsis)
}

// Lines makes foreign text safe and wraps it to at most height lines of width
// cells; more says that lines were left out. It never looks at more of a long
// text than it can show.
func Lines(text string, width, height int) (lines []string, more bool) {
	if width <= 0 || height <= 0 {
		return nil, text != ""
	}
	start := Head(text, 16*(width+1)*(height+1))
	more = len(start) < len(text)
	lines = render.Wrap(strings.ReplaceAll(render.Safe(start), "\t", "    "), width)
	if len(lines) > height {
		lines, more = lines[:height], true
	}
	return lines, more
}

// Head is the start of a text, at most n bytes and whole characters.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}

// Rule is a horizontal line of width cells.
func Rule(t *themes.Theme, width int) string {
	return t.Paints.Border.On(strings.Repeat(t.Ornaments.Rule, max(width, 0)))
}

// Notice is the line that says what happened: foreign text, in the paint of
// errors if it failed.
func Notice(t *themes.Theme, text string, failed bool, width int) string {
	var p themes.Paint
	if failed {
		p = t.Paints.Error
	}
	return " " + p.On(OneLine(text, max(width-2, 0), t.Ornaments.Ellipsis))
}

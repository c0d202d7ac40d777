package result

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cairn/harness/tool"
)

// document is a stored result as text.
type document struct {
	id   string
	text string
	// lines and chars count it whole; a line feed at the end begins no line.
	lines, chars int
}

func newDocument(id, text string) document {
	return document{
		id: id[:min(len(id), shownID)], text: text,
		lines: strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1, chars: utf8.RuneCountInString(text),
	}
}

// line returns the place of line n, from 1, without its end; false if there are
// fewer.
func (d document) line(n int) (from, to int, ok bool) {
	if n > d.lines {
		return 0, 0, false
	}
	for range n - 1 {
		from += strings.IndexByte(d.text[from:], '\n') + 1
	}
	return from, d.end(from), true
}

// end is where the line ends that begins at from.
func (d document) end(from int) int {
	if n := strings.IndexByte(d.text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(d.text)
}

// start checks where reading is to begin: a line and the place in it.
func (d document) start(in input) (n, from, to int, err error) {
	n = max(in.Offset, 1)
	begin, to, ok := d.line(n)
	if !ok {
		return 0, 0, 0, fmt.Errorf("the result %s has only %d lines; offset %d is behind its end", d.id, d.lines, n)
	}
	from = skip(d.text[begin:to], in.CharOffset)
	if from < 0 {
		return 0, 0, 0, fmt.Errorf("line %d of the result %s has only %d characters; char_offset %d is behind its end",
			n, d.id, utf8.RuneCountInString(d.text[begin:to]), in.CharOffset)
	}
	return n, begin + from, to, nil
}

// skip returns where n characters of a line end, moved back to between two
// grapheme clusters, or -1 if it is not that long.
func skip(line string, n int) int {
	at := 0
	for range n {
		if at >= len(line) {
			return -1
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return tool.Boundary(line, at)
}

// page returns lines from a place on, as many as are wanted and fit.
func (d document) page(in input) (string, error) {
	if d.text == "" {
		return fmt.Sprintf("(the result %s is empty)", d.id), nil
	}
	n, from, to, err := d.start(in)
	if err != nil {
		return "", err
	}
	room := within(in.MaxChars, defaultChars, minChars, maxChars)
	limit := within(in.Limit, defaultLines, 1, maxLines)
	first, begin := n, from
	if cut := tool.Clip(d.text[from:to], room); cut != d.text[from:to] {
		return d.piece(n, from, to, cut, room), nil
	}
	for {
		room -= utf8.RuneCountInString(d.text[from:to]) + 1
		if n == d.lines || n-first+1 == limit || room <= 0 {
			break
		}
		next := to + 1
		after := d.end(next)
		// A line that does not fit is the next page's; only the first one is cut.
		if tool.Clip(d.text[next:after], room) != d.text[next:after] {
			break
		}
		n, from, to = n+1, next, after
	}
	return d.head(first, n, begin) + d.text[begin:to], nil
}

// head says which lines follow, and where it goes on.
func (d document) head(first, last, begin int) string {
	which := fmt.Sprintf("lines %d to %d of %d", first, last, d.lines)
	if first == last {
		which = fmt.Sprintf("line %d of %d", first, d.lines)
	}
	if skipped := d.before(begin); skipped > 0 {
		which += fmt.Sprintf(", line %d from character %d", first, skipped)
	}
	if last == d.lines {
		return fmt.Sprintf("(result %s, %s; this is the end)\n", d.id, which)
	}
	return fmt.Sprintf("(result %s, %s; more follow from offset %d)\n", d.id, which, last+1)
}

// before counts the characters of the line before a place in it.
func (d document) before(at int) int {
	return utf8.RuneCountInString(d.text[strings.LastIndexByte(d.text[:at], '\n')+1 : at])
}

// piece is a part of one line that is longer than a page.
func (d document) piece(n, from, to int, cut string, room int) string {
	if cut == "" { // one cluster fills more than the page
		cut = firstChars(d.text[from:to], room)
	}
	skipped := d.before(from)
	last := skipped + utf8.RuneCountInString(cut)
	all := skipped + utf8.RuneCountInString(d.text[from:to])
	next := fmt.Sprintf("offset %d, char_offset %d", n, last)
	if last == all {
		next = fmt.Sprintf("offset %d", n+1)
	}
	return fmt.Sprintf("(result %s, line %d of %d, characters %d to %d of its %d; more follow from %s)\n%s", d.id, n, d.lines, skipped, last, all, next, cut)
}

// firstChars are the first n characters of a text, wherever its clusters end.
func firstChars(text string, n int) string {
	for at := range text {
		if n--; n < 0 {
			return text[:at]
		}
	}
	return text
}

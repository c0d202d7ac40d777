// Package spoken turns Markdown into lines for the ear: what a screen shows by
// its looks is said in words, and nothing is left out but the signs that only
// make looks.
//
// The one thing to know: text is given as it comes and leaves in whole words,
// and however it was cut, what has left at the end is the same.
package spoken

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/ui/render"
)

// tab is what a tab in code is: it is no printable text.
const tab = "    "

// Stream is Markdown that is still coming. The zero value is its beginning. What
// it returns is safe for a terminal and holds no tabs.
type Stream struct {
	rest string // of the line that is not ended, what has not left yet
	// held is what came behind it and ends neither a word that can leave nor a line:
	// a long line is not copied with every piece of it.
	held []byte
	// begun says that a part of that line has left.
	begun bool
	fence string // the signs that opened the code, empty outside
	// header is a line that may be the head of a table.
	header *string
	table  []string // the names of its columns, nil outside
	row    int      // the number of the row that was said last
}

// Text is a whole text in words.
func Text(markdown string) string {
	var s Stream
	return s.Add(markdown) + s.End()
}

// Add takes the next piece and returns what can be said by now.
func (s *Stream) Add(piece string) string {
	words := s.fence == "" && s.header == nil && s.table == nil && strings.ContainsFunc(piece, parts) // else no further word has ended
	if !words && !strings.Contains(piece, "\n") {
		s.held = append(s.held, piece...)
		return ""
	}
	s.take(piece)
	var b strings.Builder
	for {
		line, rest, ended := strings.Cut(s.rest, "\n")
		if !ended {
			break
		}
		s.rest = rest
		b.WriteString(s.line(strings.TrimSuffix(line, "\r"), true))
		s.begun = false
	}
	b.WriteString(s.words())
	return harmless(b.String())
}

// take adds a piece to the line that is not ended, behind what was held.
func (s *Stream) take(piece string) {
	s.rest += string(s.held) + piece
	s.held = s.held[:0]
}

// parts reports whether a word may end at a character.
func parts(r rune) bool { return r == ' ' || ideograph(r) }

// End returns what is left once nothing more comes. The last line is not ended.
func (s *Stream) End() string {
	s.take("")
	var b strings.Builder
	if s.rest != "" {
		line := s.rest
		s.rest = ""
		b.WriteString(s.line(strings.TrimSuffix(line, "\r"), false))
	}
	if s.header != nil {
		b.WriteString(s.unheaded(false))
	}
	closing := ""
	switch {
	case s.fence != "":
		closing = "end of code"
	case s.table != nil:
		closing = "end of table"
	}
	if closing != "" && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(closing)
	*s = Stream{}
	return harmless(b.String())
}

func harmless(text string) string { return strings.ReplaceAll(render.Safe(text), "\t", tab) }

// line says a whole line, or the rest of one that has begun.
func (s *Stream) line(line string, ended bool) string {
	end := ""
	if ended {
		end = "\n"
	}
	if s.begun {
		out, _ := inline(line, true)
		return out + end
	}
	if s.fence != "" {
		if closes(line, s.fence) {
			s.fence = ""
			return "end of code" + end
		}
		return line + end
	}
	before := ""
	if s.header != nil {
		if columns := strings.Count(*s.header, "|"); columns > 0 && separates(line) {
			s.table, s.row, s.header = cells(*s.header), 0, nil
			return "table, columns " + strings.Join(s.table, ", ") + ":" + end
		}
		before = s.unheaded(true)
	}
	if s.table != nil {
		if begins(line, '|') {
			return s.cells(line) + end
		}
		s.table, before = nil, "end of table\n"
	}
	if begins(line, '|') {
		if !ended {
			out, _ := inline(line, true)
			return before + out
		}
		s.header = &line
		return before
	}
	if fence, lang, ok := opens(line); ok {
		s.fence = fence
		if lang != "" {
			lang = ", " + lang
		}
		return before + "code" + lang + ":" + end
	}
	label, rest, _ := lead(line, true, 0)
	out, _ := inline(rest, true)
	return before + label + out + end
}

// unheaded says a line that is no head of a table after all.
func (s *Stream) unheaded(ended bool) string {
	out, _ := inline(*s.header, true)
	s.header = nil
	if ended {
		out += "\n"
	}
	return out
}

// cells says a row of a table, each value behind its column's name.
func (s *Stream) cells(line string) string {
	s.row++
	out := "row " + strconv.Itoa(s.row) + ":"
	for i, value := range cells(line) {
		name := "column " + strconv.Itoa(i+1)
		if i < len(s.table) && s.table[i] != "" {
			name = s.table[i]
		}
		out += "\n  " + name + ": " + value
	}
	return out
}

// words says the whole words of the line that has not ended, if it is of a kind
// that can be said in parts.
func (s *Stream) words() string {
	if s.rest == "" || s.fence != "" || s.header != nil || s.table != nil {
		return ""
	}
	label, rest := "", s.rest
	if !s.begun {
		var ok bool
		if label, rest, ok = lead(s.rest, false, 0); !ok {
			return ""
		}
	}
	out, n := inline(rest, false)
	if n == 0 {
		return ""
	}
	s.begun, s.rest = true, rest[n:]
	return label + out
}

// deepest is how many quotes within each other are told.
const deepest = 8

// lead is what a line begins with, in words. It is not ok as long as more of the
// line could change that, or if the line is only said as a whole.
func lead(line string, whole bool, deep int) (label, rest string, ok bool) {
	text := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(text)]
	if !whole && (text == "" || strings.ContainsRune("|`~", rune(text[0]))) {
		return "", line, false
	}
	if level := len(text) - len(strings.TrimLeft(text, "#")); level > 0 && level <= 6 {
		switch title := text[level:]; {
		case strings.HasPrefix(title, " "):
			title = strings.TrimLeft(title, " ")
			return "heading " + strconv.Itoa(level) + ": ", title, whole || title != ""
		case title == "" && !whole:
			return "", line, false
		}
	}
	if quoted, is := strings.CutPrefix(text, ">"); is && deep < deepest {
		more, rest, ok := lead(strings.TrimLeft(quoted, " "), whole, deep+1)
		return "quote: " + more, rest, ok
	}
	if text != "" && strings.ContainsRune("-*+", rune(text[0])) {
		return item(indent, line, text, whole)
	}
	return "", line, true
}

// item is lead of a line that begins as those of lists do.
func item(indent, line, text string, whole bool) (label, rest string, ok bool) {
	point := text[1:]
	if point == "" {
		return "", line, whole
	}
	if point[0] != ' ' {
		return "", line, true
	}
	point = strings.TrimLeft(point, " ")
	for box, words := range map[string]string{"[ ] ": "to do: ", "[x] ": "done: ", "[X] ": "done: "} {
		if done, is := strings.CutPrefix(point, box); is {
			return indent + "- " + words, done, true
		}
		if !whole && strings.HasPrefix(box, point) {
			return "", line, false
		}
	}
	return indent + "- ", point, true
}

// begins reports whether a line begins with a sign, behind spaces.
func begins(line string, sign byte) bool {
	text := strings.TrimLeft(line, " ")
	return text != "" && text[0] == sign
}

// opens reads a line that begins code.
func opens(line string) (fence, lang string, ok bool) {
	text := strings.TrimLeft(line, " ")
	for _, sign := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, sign))
		if n < 3 {
			continue
		}
		info := strings.TrimSpace(text[n:])
		if sign == "`" && strings.Contains(info, "`") {
			return "", "", false
		}
		lang, _, _ = strings.Cut(info, " ")
		return text[:n], lang, true
	}
	return "", "", false
}

// closes reports whether a line ends the code that a fence opened.
func closes(line, fence string) bool {
	text := strings.TrimSpace(line)
	return len(text) >= len(fence) && strings.Trim(text, fence[:1]) == ""
}

// separates reports whether a line stands between the head and the rows of a
// table.
func separates(line string) bool {
	text := strings.TrimSpace(line)
	return strings.Contains(text, "-") && strings.HasPrefix(text, "|") && strings.Trim(text, "|-: \t") == ""
}

// cells are the values of a line of a table.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var out []string
	cell, escaped := "", false
	for _, r := range line {
		switch {
		case escaped && r == '|':
			cell = cell[:len(cell)-1] + "|"
		case r == '|':
			out, cell = append(out, cell), ""
		default:
			cell += string(r)
		}
		escaped = r == '\\' && !escaped
	}
	out = append(out, cell)
	for i := range out {
		out[i], _ = inline(strings.TrimSpace(out[i]), true)
	}
	return out
}

// apart reports whether text may be cut between what is before and after, because
// it is of a script that sets no spaces between words.
func apart(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return ideograph(a) && (unicode.IsLetter(b) || unicode.IsDigit(b))
}

func ideograph(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

package spoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reach is within how many bytes what begins in a line must end to count.
const reach = 2048

// inline says what stands in a line, and how much of it that is: all of a whole
// line, the words that nothing can change any more of another.
func inline(text string, whole bool) (said string, n int) {
	var b strings.Builder
	settled, cut := 0, 0 // of what was said, and of text
	at := 0
	prev := ' '
	for at < len(text) {
		words, size, open := span(text[at:], prev, whole)
		if open {
			break
		}
		b.WriteString(words)
		prev, _ = utf8.DecodeLastRuneInString(text[at : at+size])
		at += size
		if at < len(text) && (prev == ' ' && size == 1 || apart(text[:at], text[at:])) {
			settled, cut = b.Len(), at
		}
	}
	if whole {
		return b.String(), len(text)
	}
	if at == len(text) && strings.HasSuffix(text, " ") {
		settled, cut = b.Len(), at
	}
	return b.String()[:settled], cut
}

// span says what a text begins with: a piece of its own, or one character. Open
// says that more must come before that is known.
func span(text string, prev rune, whole bool) (said string, n int, open bool) {
	near := text[:min(len(text), reach)]
	open = !whole && len(near) < reach
	switch text[0] {
	case '\\':
		if len(text) == 1 {
			return `\`, 1, open
		}
		if text[1] < utf8.RuneSelf && unicode.In(rune(text[1]), unicode.Punct, unicode.Symbol) {
			return text[1:2], 2, false
		}
	case '`':
		mark := near[:len(near)-len(strings.TrimLeft(near, "`"))]
		if end := code(near[len(mark):], mark); end >= 0 {
			n := len(mark) + end + len(mark)
			if open && n == len(near) {
				return "", 0, true
			}
			return text[:n], n, false
		}
		return mark, len(mark), open
	case '!':
		return image(near, open)
	case '[':
		name, to, n, more := link(near, open)
		switch {
		case more:
			return "", 0, true
		case n > 0 && name == to:
			return to, n, false
		case n > 0:
			return name + " (" + to + ")", n, false
		}
	case '<':
		to, _, ended := strings.Cut(near[1:], ">")
		switch {
		case strings.ContainsAny(to, " \t<"):
		case !ended:
			return "<", 1, open
		case strings.Contains(to, "://"), strings.HasPrefix(to, "mailto:"):
			return to, len(to) + 2, false
		}
	case '*', '_':
		return stressed(text, near, prev, open)
	}
	_, n = utf8.DecodeRuneInString(text)
	return text[:n], n, false
}

// image is span of a text that begins as an image does.
func image(near string, open bool) (said string, n int, more bool) {
	switch {
	case len(near) == 1:
		return "!", 1, open
	case near[1] != '[':
		return "!", 1, false
	}
	name, to, n, more := link(near[1:], open)
	switch {
	case more:
		return "", 0, true
	case n > 0:
		return "image: " + name + " (" + to + ")", n + 1, false
	}
	return "!", 1, false
}

// code is where in a text a mark of backquotes stands alone, -1 if nowhere.
func code(text, mark string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			return -1
		}
		at += i
		end := at + len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if end-at == len(mark) {
			return at
		}
		at = end
	}
}

// link reads a link: its name, where it goes, and its length, 0 if it is none.
// More says that this is not known yet.
func link(text string, open bool) (name, to string, n int, more bool) {
	end := closing(text, '[', ']')
	if end < 0 || end+1 == len(text) {
		return "", "", 0, open
	}
	if text[end+1] != '(' {
		return "", "", 0, false
	}
	target := text[end+1:]
	stop := closing(target, '(', ')')
	if stop < 0 {
		return "", "", 0, open
	}
	name, _ = inline(text[1:end], true) // only now: what is nested would be read again and again
	to, title, _ := strings.Cut(strings.TrimSpace(target[1:stop]), " ")
	to = strings.TrimSuffix(strings.TrimPrefix(to, "<"), ">")
	if title = strings.Trim(strings.TrimSpace(title), `"'`); title != "" {
		to += ", " + title
	}
	return name, to, end + 1 + stop + 1, false
}

// closing is where the bracket that begins a text is closed, -1 if it is not.
func closing(text string, opener, closer byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case opener:
			depth++
		case closer:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// stressed is span of a text that begins with the marks of stress: they are left
// out where they stand around words.
func stressed(text, near string, prev rune, open bool) (said string, n int, more bool) {
	size := len(near) - len(strings.TrimLeft(near, text[:1]))
	mark := near[:size]
	if size == len(near) {
		return mark, size, open
	}
	next, _ := utf8.DecodeRuneInString(near[size:])
	if size > 3 || wordy(prev) || unicode.IsSpace(next) {
		return mark, size, false
	}
	for at := size; ; {
		i := strings.Index(near[at:], mark)
		if i < 0 {
			return mark, size, open
		}
		end := at + i
		after := end + len(near[end:]) - len(strings.TrimLeft(near[end:], text[:1]))
		if after == len(near) && open {
			return "", 0, true
		}
		last, _ := utf8.DecodeLastRuneInString(near[:end])
		follows, _ := utf8.DecodeRuneInString(near[after:])
		if after-end == size && !unicode.IsSpace(last) && last != '\\' && (after == len(near) || !wordy(follows)) {
			inner, _ := inline(near[size:end], true)
			return inner, after, false
		}
		at = after
	}
}

// wordy reports whether a character is one of words.
func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes hostile text harmless and keeps all of it readable. Escape and
// every other control character becomes its picture (␛), C1 controls, bidi
// controls, invisible characters and broken UTF-8 become marks such as
// ⟨U+202E⟩ or ⟨x9B⟩. CRLF becomes a newline; newlines and tabs stay. What
// joins an emoji or the letters of a script stays too. Safe of a safe text is
// the text itself.
func Safe(s string) string {
	if clean(s) == len(s) {
		return s
	}
	var st safeState
	return string(st.append(make([]byte, 0, len(s)+len(s)/8), s))
}

// safeState is what Safe must know of the text before, so that a text can be
// made safe in pieces.
type safeState struct {
	prev rune // the character before
	run  int  // how many characters were put on top of the last one
}

// maxRun is how many marks and joined characters may share a place on the
// screen. The longest emoji need nine; more are there to hide something, or to
// smear over the lines above.
const maxRun = 24

// append appends the safe form of s to b.
func (st *safeState) append(b []byte, s string) []byte {
	i := clean(s)
	if i > 0 {
		b = append(b, s[:i]...)
		st.prev, st.run = rune(s[i-1]), 0
	}
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && i+1 < len(s) && s[i+1] == '\n':
			i++
			continue
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, "⟨x%02X⟩", s[i])
			st.prev, st.run = '⟩', 0
		case harmless(st.prev, r, s[i+n:]) && st.fits(r):
			b = append(b, s[i:i+n]...)
			st.prev = r
		default:
			b = append(b, mark(r)...)
			st.prev, st.run = '⟩', 0
		}
		i += n
	}
	return b
}

// fits counts r if it goes on top of the character before it.
func (st *safeState) fits(r rune) bool {
	if !unicode.IsMark(r) && r != 0x200d && st.prev != 0x200d && !conjoins(st.prev) && (r < 0xe0020 || r > 0xe007f) {
		st.run = 0
		return true
	}
	st.run++
	return st.run <= maxRun
}

// conjoins are the signs that make one cluster of two Indic consonants.
func conjoins(r rune) bool {
	switch r {
	case 0x94d, 0x9cd, 0xacd, 0xb4d, 0xc4d, 0xd4d:
		return true
	default:
		return false
	}
}

// SafeLine is Safe for text that must stay on one line: newlines become ␊ and
// tabs a space.
func SafeLine(s string) string {
	s = Safe(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", "␊", "\t", " ").Replace(s)
}

// Quote is SafeLine in quotes. Quotes and backslashes of the text are escaped, and
// nothing else: characters that are joined stay one.
func Quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(SafeLine(s)) + `"`
}

// clean is the length of the prefix that needs no further look: printable
// ASCII, newlines and tabs.
func clean(s string) int {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

// mark is the visible form of a character that may not be shown.
func mark(r rune) string {
	switch {
	case r < 0x20:
		return string(rune(0x2400) + r)
	case r == 0x7f:
		return "␡"
	default:
		return fmt.Sprintf("⟨U+%04X⟩", r)
	}
}

// harmless tells whether r may be shown after prev and before rest.
func harmless(prev, r rune, rest string) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r < 0x20 || (r >= 0x7f && r < 0xa0):
		return false
	case r < 0x300:
		return r != 0xad
	case r == 0x200c || r == 0x200d:
		next, n := utf8.DecodeRuneInString(rest)
		return n > 0 && (next != utf8.RuneError || n > 1) && joins(prev) && joins(next) && (r == 0x200d || !pictographic(next))
	case variation(r):
		return prev > 0x20 && !variation(prev) && !invisible(prev)
	case r >= 0xe0020 && r <= 0xe007f: // subdivision flags are spelt with tags
		return prev == 0x1f3f4 || (prev >= 0xe0020 && prev < 0xe007f)
	default:
		return !invisible(r)
	}
}

// invisible are characters that take no place or reorder others, and the one that
// terminals put images in the place of.
func invisible(r rune) bool {
	switch {
	case imageCell(r):
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x206f,
		r == 0x61c, r == 0x180e, r == 0xfeff, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0,
		r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe, r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe0fff, r >= 0x1d173 && r <= 0x1d17a, r == 0x34f:
		return true
	default:
		return unicode.Is(unicode.Cc, r)
	}
}

// variation are the variation selectors, one of which may follow a character.
func variation(r rune) bool {
	return (r >= 0xfe00 && r <= 0xfe0f) || (r >= 0xe0100 && r <= 0xe01ef) || (r >= 0x180b && r <= 0x180d)
}

// joins tells whether a joiner beside r has a visible effect: in emoji and in
// the scripts whose letters join.
func joins(r rune) bool {
	if pictographic(r) || r == 0xfe0f {
		return true
	}
	return r > 0x5ff && (unicode.IsLetter(r) || unicode.IsMark(r))
}

func pictographic(r rune) bool {
	return r >= 0x2190 && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm) || (r >= 0x1f000 && r <= 0x1faff)
}

package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clusterLen is the length in bytes of the grapheme cluster that s, which is
// not empty, begins with.
func clusterLen(s string) int {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1
	}
	if ideograph(s) && (len(s) == 3 || s[3] < utf8.RuneSelf || ideograph(s[3:])) {
		return 3
	}
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(c)
}

// ideograph reports whether s begins with a character of CJK scripts that is
// two cells wide and joins with none of its kind: the way short of the tables
// for long texts in them. All of them take three bytes.
func ideograph(s string) bool {
	if s[0] < 0xe3 || s[0] > 0xed || len(s) < 3 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x4e00 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 || r >= 0x3041 && r <= 0x3096 || r >= 0x30a1 && r <= 0x30fa
}

func (f Field) lineStart(at int) int { return strings.LastIndexByte(f.text[:at], '\n') + 1 }

func (f Field) lineEnd(at int) int {
	if i := strings.IndexByte(f.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(f.text)
}

// near is a cluster boundary between start, which is one, and at, and close to
// at: two ASCII characters side by side always are a boundary, so a long line
// is not read from its start for each key.
func (f Field) near(start, at int) int {
	for i := min(at, len(f.text)) - 1; i > start; i-- {
		if f.text[i] < utf8.RuneSelf && f.text[i-1] < utf8.RuneSelf {
			return i
		}
	}
	return start
}

// left is the boundary before at.
func (f Field) left(at int) int {
	if at == 0 {
		return 0
	}
	start := f.lineStart(at)
	if start == at { // the newline itself
		return at - 1
	}
	i := f.near(start, at-1)
	for {
		n := clusterLen(f.text[i:])
		if i+n >= at {
			return i
		}
		i += n
	}
}

// right is the boundary after at.
func (f Field) right(at int) int {
	if at >= len(f.text) {
		return len(f.text)
	}
	return at + clusterLen(f.text[at:])
}

func inWord(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_'
}

func (f Field) wordLeft(at int) int {
	return f.back(f.back(at, func(c string) bool { return !inWord(c) }), inWord)
}

func (f Field) wordRight(at int) int {
	return f.forth(f.forth(at, func(c string) bool { return !inWord(c) }), inWord)
}

// bigWordLeft goes back to white space, as ctrl+w does in a shell.
func (f Field) bigWordLeft(at int) int {
	blank := func(c string) bool { return strings.TrimSpace(c) == "" }
	return f.back(f.back(at, blank), func(c string) bool { return !blank(c) })
}

func (f Field) back(at int, while func(cluster string) bool) int {
	for at > 0 {
		l := f.left(at)
		if !while(f.text[l:at]) {
			break
		}
		at = l
	}
	return at
}

func (f Field) forth(at int, while func(cluster string) bool) int {
	for at < len(f.text) {
		r := f.right(at)
		if !while(f.text[at:r]) {
			break
		}
		at = r
	}
	return at
}

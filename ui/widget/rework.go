package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRing is how many cuts are kept to be pasted again.
const maxRing = 16

// yank is where the last paste of a cut went, and how many cuts back it was; to is
// 0 if the last key pasted none.
type yank struct{ from, to, back int }

// rework handles the keys that bring something back or write a part of the text in
// another way, as readline has them.
func (f Field) rework(name string) (Field, bool) {
	switch name {
	case "ctrl+y":
		return f.pull(0), true
	case "alt+y":
		if f.yank.to == 0 || len(f.ring) < 2 {
			return f, true
		}
		was := f.yank
		f.text, f.at = f.text[:was.from]+f.text[was.to:], was.from
		return f.pull((was.back + 1) % len(f.ring)), true
	case "ctrl+_":
		f, _ = f.Undo()
		return f, true
	case "alt+_":
		f, _ = f.Redo()
		return f, true
	case "alt+u":
		return f.recase(strings.ToUpper), true
	case "alt+l":
		return f.recase(strings.ToLower), true
	case "alt+c":
		return f.recase(Capital), true
	case "alt+t":
		return f.swapWords(), true
	}
	return f, false
}

// pull puts the cut that is so many back at the cursor. One that takes the place of
// another is no step of undo.
func (f Field) pull(back int) Field {
	if len(f.ring) == 0 {
		return f
	}
	from, cut := f.at, f.ring[len(f.ring)-1-back]
	if back == 0 && f.yank.to == 0 {
		f = f.insert(cut, false)
	} else {
		f.text = f.text[:from] + cut + f.text[from:]
		f.at, f.goal = f.snap(from+len(cut)), -1
	}
	f.yank = yank{}
	if f.at == from+len(cut) { // else it made one character with what follows
		f.yank = yank{from: from, to: f.at, back: back}
	}
	return f
}

// Redo does what was taken back last. The second result is false if there is
// nothing.
func (f Field) Redo() (Field, bool) {
	n := len(f.redo)
	if n == 0 {
		return f, false
	}
	next, left := f.redo[n-1], f.redo[:n-1]
	f = f.remember(false)
	f.text, f.at, f.redo = next.text, next.at, left
	f.goal, f.cutting, f.typing = -1, false, false
	return f.scroll(), true
}

// recase writes the rest of the word after the cursor in another way, and goes
// behind it.
func (f Field) recase(in func(string) string) Field {
	to := f.wordRight(f.at)
	if to == f.at {
		return f
	}
	return f.swap(f.at, to, in(f.text[f.at:to]))
}

// Capital is a word with its first letter a capital and the others small.
func Capital(s string) string {
	i := strings.IndexFunc(s, unicode.IsLetter)
	if i < 0 {
		return s
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return s[:i] + string(unicode.ToTitle(r)) + strings.ToLower(s[i+n:])
}

// swapWords swaps the word before the cursor and the one after it; at the end of
// the text, the last two.
func (f Field) swapWords() Field {
	end := f.wordRight(f.at)
	second := f.wordLeft(end)
	if !strings.ContainsFunc(f.text[second:end], unicode.IsLetter) && !strings.ContainsFunc(f.text[second:end], unicode.IsNumber) || second < f.at && end == f.at {
		end = f.wordRight(f.wordLeft(f.at))
		second = f.wordLeft(end)
	}
	first := f.wordLeft(second)
	between := f.wordRight(first)
	if first >= between || between > second || second >= end {
		return f
	}
	return f.swap(first, end, f.text[second:end]+f.text[between:second]+f.text[first:between])
}

// swap puts a text in the place of a part and goes behind it.
func (f Field) swap(from, to int, with string) Field {
	f = f.remember(false)
	f.text = f.text[:from] + with + f.text[to:]
	f.at, f.goal = f.snap(from+len(with)), -1
	return f
}

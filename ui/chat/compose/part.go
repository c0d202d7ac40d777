package compose

import "strings"

// lineMax bounds the part of a line that [Box.Line] returns, in pieces.
const lineMax = 4096

// Line returns what is before the caret on its line, as far as that was typed: a
// folded paste is none of it.
func (b Box) Line() string {
	i := b.at
	for i > 0 && b.at-i < lineMax && !b.pieces[i-1].fold && b.pieces[i-1].text != "\n" {
		i--
	}
	var s strings.Builder
	for _, p := range b.pieces[i:b.at] {
		s.WriteString(p.text)
	}
	return s.String()
}

// Has reports whether a piece of the text, such as a character or a folded paste,
// has s in it.
func (b Box) Has(s string) bool {
	for _, p := range b.pieces {
		if strings.Contains(p.text, s) {
			return true
		}
	}
	return false
}

// Same reports whether the text is that of another box, an earlier state of this
// one, untouched since. It costs nothing.
func (b Box) Same(was Box) bool {
	return len(b.pieces) == len(was.pieces) && (len(b.pieces) == 0 || &b.pieces[0] == &was.pieces[0])
}

// AtStart reports whether the caret is before everything.
func (b Box) AtStart() bool { return b.at == 0 }

// Ends reports whether the text before the caret ends in s.
func (b Box) Ends(s string) bool {
	i := b.at
	for s != "" && i > 0 {
		rest, ok := strings.CutSuffix(s, b.pieces[i-1].text)
		if !ok {
			return false
		}
		s = rest
		i--
	}
	return s == ""
}

// Swap puts s in the place of the n bytes before the caret, whole pieces; ok is
// false if a piece would have to be parted.
func (b Box) Swap(n int, s string) (next Box, ok bool) {
	i := b.at
	for ; n > 0 && i > 0; i-- {
		n -= len(b.pieces[i-1].text)
	}
	if n != 0 {
		return b, false
	}
	b = b.mark()
	added := split(s)
	return b.replace(i, b.at, added), true
}

// Drop takes the bytes from i up to j out of the text, whole pieces; the caret
// stays where it was in what is left.
func (b Box) Drop(from, to int) (next Box, ok bool) {
	i, n := 0, 0
	for i < len(b.pieces) && n < from {
		n += len(b.pieces[i].text)
		i++
	}
	j := i
	for end := n; j < len(b.pieces) && end < to; j++ {
		end += len(b.pieces[j].text)
		n = end
	}
	if i == j || n != to || b.offset(i) != from {
		return b, false
	}
	at := b.at
	switch {
	case at >= j:
		at -= j - i
	case at > i:
		at = i
	}
	b = b.remove(i, j)
	b.at = at
	return b, true
}

// offset is the number of bytes before piece i.
func (b Box) offset(i int) int {
	n := 0
	for _, p := range b.pieces[:i] {
		n += len(p.text)
	}
	return n
}

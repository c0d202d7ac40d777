package compose

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
)

// chunkMax bounds what is parted into words at a time on either side of a place,
// in pieces.
const chunkMax = 256

// wordEnd is the end of the word at or after a place, or the end of the text.
func (b Box) wordEnd(at int) int {
	for at < len(b.pieces) {
		p := b.pieces[at]
		switch {
		case p.fold:
			return at + 1
		case p.space():
			at++
			continue
		}
		from, to := b.chunk(at)
		for _, w := range b.words(from, to) {
			if w[1] > at {
				return w[1]
			}
		}
		at = max(to, at+1)
	}
	return at
}

// wordStart is the start of the word before a place, or that of the text.
func (b Box) wordStart(at int) int {
	for at > 0 {
		p := b.pieces[at-1]
		switch {
		case p.fold:
			return at - 1
		case p.space():
			at--
			continue
		}
		from, to := b.chunk(at - 1)
		all := b.words(from, to)
		for i := len(all) - 1; i >= 0; i-- {
			if all[i][0] < at {
				return all[i][0]
			}
		}
		at = min(from, at-1)
	}
	return at
}

// chunk is the text without white space around a piece.
func (b Box) chunk(at int) (from, to int) {
	solid := func(i int) bool { return i >= 0 && i < len(b.pieces) && !b.pieces[i].fold && !b.pieces[i].space() }
	for from = at; solid(from-1) && at-from < chunkMax; from-- {
	}
	for to = at; solid(to) && to-at < chunkMax; to++ {
	}
	return from, to
}

// words are the words, as Unicode parts them, of the pieces from one up to
// another: where each begins and ends.
func (b Box) words(from, to int) [][2]int {
	var s strings.Builder
	ends := make([]int, 0, to-from) // of each piece, in bytes
	for _, p := range b.pieces[from:to] {
		s.WriteString(p.text)
		ends = append(ends, s.Len())
	}
	var found [][2]int
	at, read := 0, 0
	for all := words.FromString(s.String()); all.Next(); {
		w := all.Value()
		start := at
		for read += len(w); at < len(ends) && ends[at] <= read; at++ {
		}
		if at < len(ends) && (at == 0 && read > 0 || at > 0 && ends[at-1] < read) { // never within a character
			at++
		}
		if strings.IndexFunc(w, inWord) >= 0 && at > start {
			found = append(found, [2]int{from + start, from + at})
		}
	}
	return found
}

// inWord reports whether a character makes a word of what it stands in.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r >= 0x1f000 || r >= 0x2600 && r <= 0x27bf
}

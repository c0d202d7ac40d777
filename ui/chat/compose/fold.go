package compose

import (
	"slices"
	"strings"
)

const (
	// knownMax and knownBytes bound the folded texts that are known again.
	knownMax   = 16
	knownBytes = 16 << 20
	// leadMax is how long the first line of a text may be that is shown before the
	// fold of the others, in bytes.
	leadMax = 200
)

// Bare returns the box as one that folds only what is too large to be edited in it,
// if on.
func (b Box) Bare(on bool) Box {
	b.bare = on
	return b
}

// Paste puts s at the caret, folded if it is long; the same paste once more, right
// behind its fold, opens that. CRLF and CR become LF. Every other character stays,
// to be sent as it came: newlines at the end and controls too.
func (b Box) Paste(s string) Box {
	s = LineEnds(s)
	if !b.folds(s) {
		return b.rest().Insert(s).rest()
	}
	if i := b.at - 1; i >= 0 && b.pieces[i].fold && len(s) <= unfoldMax && b.pieces[i].text == s {
		return b.open(i)
	}
	return b.Know(s).mark().put([]piece{{text: s, fold: true}})
}

// folds reports whether a paste is long enough to be folded.
func (b Box) folds(s string) bool {
	if b.bare {
		return len(s) > unfoldMax
	}
	return len(s) > foldBytes || strings.Count(s, "\n") > foldLines
}

// Know has a text be folded where it comes back: from the history of prompts, the
// queue or the editor.
func (b Box) Know(s string) Box {
	if s == "" || slices.Contains(b.known, s) {
		return b
	}
	b.known = append(b.known[:len(b.known):len(b.known)], s)
	size := 0
	for i := len(b.known) - 1; i >= 0; i-- {
		if size += len(b.known[i]); len(b.known)-i > knownMax || size > knownBytes && i < len(b.known)-1 {
			b.known = b.known[i+1:]
			break
		}
	}
	return b
}

// LineEnds is a text as [Box.Paste] takes it.
func LineEnds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// SetText replaces everything by s, with the caret at its end. The text that
// was there comes back by undo. What was folded in the box before is folded in s,
// and of a very long text all but a short first line.
func (b Box) SetText(s string) Box { return b.set(s, b.FoldsOf(s)) }

// Restore is SetText with the folds that [Box.Folds] told of the same text.
func (b Box) Restore(s string, folds [][2]int) Box {
	if !sound(s, folds) {
		folds = nil
	}
	return b.Knows(s, folds).set(s, folds)
}

// Knows is [Box.Know] of parts of a text, in bytes.
func (b Box) Knows(s string, folds [][2]int) Box {
	if !sound(s, folds) {
		return b
	}
	for _, f := range folds {
		b = b.Know(s[f[0]:f[1]])
	}
	return b
}

func (b Box) set(s string, folds [][2]int) Box {
	b = b.mark()
	b.pieces, b.last, b.goal = nil, deedNone, 0
	at := 0
	for _, f := range folds {
		b.pieces = append(append(b.pieces, loaded(s[at:f[0]])...), piece{text: s[f[0]:f[1]], fold: true})
		at = f[1]
	}
	b.pieces = append(b.pieces, loaded(s[at:])...)
	b.at = len(b.pieces)
	return b
}

// loaded makes pieces of a text that was not pasted here.
func loaded(s string) []piece {
	if len(s) <= foldLoaded {
		return split(s)
	}
	if i := strings.IndexByte(s, '\n'); i > 0 && i <= leadMax && i+1 < len(s) {
		return append(split(s[:i+1]), piece{text: s[i+1:], fold: true})
	}
	return []piece{{text: s, fold: true}}
}

// sound reports whether folds are parts of a text, one behind the other.
func sound(s string, folds [][2]int) bool {
	at := 0
	for _, f := range folds {
		if f[0] < at || f[1] <= f[0] || f[1] > len(s) {
			return false
		}
		at = f[1]
	}
	return true
}

// Folds are the parts of the text that are folded, in bytes.
func (b Box) Folds() [][2]int {
	var folds [][2]int
	n := 0
	for _, p := range b.pieces {
		if p.fold {
			folds = append(folds, [2]int{n, n + len(p.text)})
		}
		n += len(p.text)
	}
	return folds
}

// FoldsOf are the parts of a text that were folded in this box, in bytes.
func (b Box) FoldsOf(s string) [][2]int {
	var folds [][2]int
	next := make([]int, len(b.known)) // where each is from at on, -1 for nowhere
	for i, k := range b.known {
		next[i] = strings.Index(s, k)
	}
	for at := 0; ; {
		from, size := -1, 0
		for i, k := range b.known {
			if next[i] >= 0 && next[i] < at {
				if next[i] = strings.Index(s[at:], k); next[i] >= 0 {
					next[i] += at
				}
			}
			if n := next[i]; n >= 0 && (from < 0 || n < from || n == from && len(k) > size) {
				from, size = n, len(k)
			}
		}
		if from < 0 {
			return folds
		}
		at = from + size
		folds = append(folds, [2]int{from, at})
	}
}

// Unfold opens the fold at or before the caret for editing; ok is false if
// there is none or it is too large.
func (b Box) Unfold() (next Box, ok bool) {
	for _, i := range []int{b.at, b.at - 1} {
		if i >= 0 && i < len(b.pieces) && b.pieces[i].fold && len(b.pieces[i].text) <= unfoldMax {
			return b.open(i), true
		}
	}
	return b, false
}

// open makes characters of a fold, with the caret behind them.
func (b Box) open(i int) Box {
	b = b.mark()
	was := b.pieces[i].text
	b.known = slices.DeleteFunc(slices.Clone(b.known), func(k string) bool { return k == was })
	return b.replace(i, i+1, split(was))
}

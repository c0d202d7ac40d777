// Package compose is the text box of the chat: a value that is edited by named
// actions and laid out for a width.
//
// The one thing to know: the text is a list of pieces, each a grapheme cluster
// or a folded paste, and an edit makes a new list. So the caret never stands
// inside a character, a paste of a megabyte costs one piece, and undo is the
// list of before. Folding is for the eye only: Text returns every byte.
package compose

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
)

const (
	// foldBytes and foldLines are the sizes above which a paste is folded.
	foldBytes = 2 << 10
	foldLines = 20
	// foldLoaded is the size above which a text that is put into the box as a
	// whole is folded: editing it character by character would be slow.
	foldLoaded = 16 << 10
	// unfoldMax is the size up to which a fold may be opened for editing.
	unfoldMax = 64 << 10
	// undoPieces bounds what the undo list keeps, in pieces over all steps.
	undoPieces = 100_000
)

// piece is one grapheme cluster, a newline, or a folded paste.
type piece struct {
	text string
	fold bool
}

// step is the box before an edit.
type step struct {
	pieces []piece
	at     int
}

// deed says what the last edit was, to join like with like.
type deed int

const (
	deedNone deed = iota
	deedTyped
	deedCut
	deedYank
)

// Box is the text with its caret. The zero value is an empty box.
type Box struct {
	pieces []piece
	at     int // the caret stands before this piece
	goal   int // 1 + the column that moves up and down aim at; 0 is none
	undo   []step
	redo   []step
	ring   [][]piece // what was cut, the newest last
	yank   yank
	last   deed
	// known are the texts that were folded here, the newest last: where one of
	// them comes back it is folded again.
	known []string
	// bare says that what can be edited is not folded.
	bare bool
}

// Text returns the whole text with every fold expanded.
func (b Box) Text() string {
	if len(b.pieces) == 1 {
		return b.pieces[0].text
	}
	var s strings.Builder
	for _, p := range b.pieces {
		s.WriteString(p.text)
	}
	return s.String()
}

// Empty reports whether nothing is in the box.
func (b Box) Empty() bool { return len(b.pieces) == 0 }

// Blank reports whether nothing but white space is in the box.
func (b Box) Blank() bool {
	for _, p := range b.pieces {
		if strings.TrimSpace(p.text) != "" {
			return false
		}
	}
	return true
}

// Starts reports whether the text starts with prefix.
func (b Box) Starts(prefix string) bool {
	for _, p := range b.pieces {
		if len(prefix) <= len(p.text) {
			return strings.HasPrefix(p.text, prefix)
		}
		if !strings.HasPrefix(prefix, p.text) {
			return false
		}
		prefix = prefix[len(p.text):]
	}
	return prefix == ""
}

// Insert puts typed text at the caret.
func (b Box) Insert(s string) Box {
	if s == "" {
		return b
	}
	typed := !strings.Contains(s, "\n")
	if !typed || b.last != deedTyped {
		b = b.mark()
	}
	before, after := b.pieces[:b.at], b.pieces[b.at:]
	// A combining mark joins what stands before it.
	if n := len(before); n > 0 && !before[n-1].fold && before[n-1].text != "\n" {
		s = before[n-1].text + s
		before = before[:n-1]
	}
	added := split(s)
	b.at = len(before) + len(added)
	b.pieces = join(before, added, after)
	b = b.seam(b.at).rest()
	if typed {
		b.last = deedTyped
	}
	return b
}

// Continued replaces a backslash before the caret by a newline; ok says
// whether there was one.
func (b Box) Continued() (next Box, ok bool) {
	if b.at == 0 || b.pieces[b.at-1].text != `\` {
		return b, false
	}
	b = b.mark()
	b.pieces = join(b.pieces[:b.at-1], []piece{{text: "\n"}}, b.pieces[b.at:])
	return b.rest(), true
}

// put inserts pieces at the caret.
func (b Box) put(add []piece) Box {
	i := b.at
	b.pieces = join(b.pieces[:i], add, b.pieces[i:])
	b.at += len(add)
	b = b.seam(i)
	return b.seam(b.at).rest()
}

// remove deletes the pieces from i up to j and leaves the caret there.
func (b Box) remove(i, j int) Box {
	if i >= j {
		return b
	}
	b = b.mark()
	b.pieces, b.at = join(b.pieces[:i], b.pieces[j:]), i
	return b.seam(i).rest()
}

// rest ends a group of like edits.
func (b Box) rest() Box {
	b.last, b.goal = deedNone, 0
	return b
}

// mark notes the box for undo, and forgets the oldest beyond the bound.
func (b Box) mark() Box {
	kept := append(b.undo[:len(b.undo):len(b.undo)], step{b.pieces, b.at})
	total := 0
	for i := len(kept) - 1; i >= 0; i-- {
		total += len(kept[i].pieces) + 1
		if total > undoPieces {
			kept = kept[i+1:]
			break
		}
	}
	b.undo, b.redo = kept, nil
	return b
}

// seamPieces bounds what is looked at on either side of a place where two texts
// were put together, in pieces.
const seamPieces = 64

// seam makes whole characters of the pieces around a place where two texts were put
// together: a mark joins what it now stands behind. The caret stays behind what it
// stood behind.
func (b Box) seam(at int) Box {
	loose := func(p piece) bool { return !p.fold && p.text[0] >= utf8.RuneSelf }
	i, j := at, at
	if at >= len(b.pieces) || !loose(b.pieces[at]) {
		return b // nothing but a mark joins what stands before it
	}
	for i > 0 && at-i < seamPieces && loose(b.pieces[i-1]) {
		i--
	}
	if i > 0 && !b.pieces[i-1].fold && b.pieces[i-1].text >= " " {
		i--
	}
	for j < len(b.pieces) && j-at < seamPieces && loose(b.pieces[j]) {
		j++
	}
	var s strings.Builder
	caret := 0
	for k, p := range b.pieces[i:j] {
		if i+k < b.at {
			caret += len(p.text)
		}
		s.WriteString(p.text)
	}
	whole := split(s.String())
	if slices.Equal(whole, b.pieces[i:j]) {
		return b
	}
	b.pieces = join(b.pieces[:i], whole, b.pieces[j:])
	switch {
	case b.at >= j:
		b.at += len(whole) - (j - i)
	case b.at > i:
		for b.at = i; caret > 0; b.at++ {
			caret -= len(whole[b.at-i].text)
		}
	}
	return b
}

// join makes one new list.
func join(parts ...[]piece) []piece {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n == 0 {
		return nil
	}
	all := make([]piece, 0, n)
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// split parts text into grapheme clusters.
func split(s string) []piece {
	pieces := make([]piece, 0, len(s))
	for len(s) > 0 {
		n := 1
		if s[0] >= utf8.RuneSelf || len(s) > 1 && s[1] >= utf8.RuneSelf && s[0] >= ' ' {
			g, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			n = max(len(g), 1)
		}
		pieces = append(pieces, piece{text: s[:n]})
		s = s[n:]
	}
	return pieces
}

// label is what a folded paste looks like.
func (p piece) label() string {
	lines := strings.Count(p.text, "\n")
	if !strings.HasSuffix(p.text, "\n") {
		lines++
	}
	unit := " lines"
	if lines == 1 {
		unit = " line"
	}
	return "[pasted " + Size(len(p.text)) + ", " + harness.Grouped(lines) + unit + "]"
}

// Size says a number of bytes in words, such as "1.0 MB".
func Size(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n) + " B"
	case n < 999_950:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	default:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
}

// space reports whether the piece is white space.
func (p piece) space() bool { return !p.fold && strings.TrimSpace(p.text) == "" }

// Package compose is the text box of the chat: a value that is edited by named
// actions and laid out for a width.
//
// The one thing to know: the text is a list of pieces, each a grapheme cluster
// or a folded paste, and an edit makes a new list. So the caret never stands
// inside a character, a paste of a megabyte costs one piece, and undo is the
// list of before. Folding is for the eye only: Text returns every byte.
package compose

import (
	"strconv"
	"strings"
	"unicode"
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
)

// Box is the text with its caret. The zero value is an empty box.
type Box struct {
	pieces []piece
	at     int // the caret stands before this piece
	goal   int // 1 + the column that moves up and down aim at; 0 is none
	undo   []step
	cut    []piece
	last   deed
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
	b.last, b.goal = deedNone, 0
	if typed {
		b.last = deedTyped
	}
	return b
}

// Paste puts s at the caret, folded if it is long. CRLF and CR become LF;
// every other character stays, to be sent as it came.
func (b Box) Paste(s string) Box {
	s = LineEnds(s)
	if len(s) > foldBytes || strings.Count(s, "\n") > foldLines {
		return b.mark().put([]piece{{text: s, fold: true}})
	}
	return b.mark().Insert(s).rest()
}

// LineEnds is a text as [Box.Paste] takes it.
func LineEnds(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// SetText replaces everything by s, with the caret at its end. The text that
// was there comes back by undo.
func (b Box) SetText(s string) Box {
	b = b.mark()
	b.pieces, b.last, b.goal = nil, deedNone, 0
	switch {
	case len(s) > foldLoaded:
		b.pieces = []piece{{text: s, fold: true}}
	case s != "":
		b.pieces = split(s)
	}
	b.at = len(b.pieces)
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

// Unfold opens the fold at or before the caret for editing; ok is false if
// there is none or it is too large.
func (b Box) Unfold() (next Box, ok bool) {
	for _, i := range []int{b.at, b.at - 1} {
		if i < 0 || i >= len(b.pieces) || !b.pieces[i].fold || len(b.pieces[i].text) > unfoldMax {
			continue
		}
		b = b.mark()
		open := split(b.pieces[i].text)
		b.pieces = join(b.pieces[:i], open, b.pieces[i+1:])
		b.at = i + len(open)
		return b.rest(), true
	}
	return b, false
}

// put inserts pieces at the caret.
func (b Box) put(add []piece) Box {
	b.pieces = join(b.pieces[:b.at], add, b.pieces[b.at:])
	b.at += len(add)
	return b.rest()
}

// remove deletes the pieces from i up to j and leaves the caret there.
func (b Box) remove(i, j int) Box {
	if i >= j {
		return b
	}
	b = b.mark()
	b.pieces, b.at = join(b.pieces[:i], b.pieces[j:]), i
	return b.rest()
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
	b.undo = kept
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

// word reports whether the piece is part of a word.
func (p piece) word() bool {
	if p.fold {
		return true
	}
	r, _ := utf8.DecodeRuneInString(p.text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// space reports whether the piece is white space.
func (p piece) space() bool { return !p.fold && strings.TrimSpace(p.text) == "" }

package compose

import (
	"strings"

	"cairn/ui/widget"
)

// ringMax is how many cuts are kept to be pasted again.
const ringMax = 16

// yank is where the last paste of a cut went, and how many cuts back it was.
type yank struct{ from, to, back int }

// keep notes what is cut. Cuts in a row are one; before says that this one was
// made towards the start of the text.
func (b Box) keep(gone []piece, before bool) Box {
	n := len(b.ring)
	switch {
	case b.last != deedCut || n == 0:
		b.ring = append(b.ring[max(n-ringMax+1, 0):n:n], join(gone))
		return b
	case before:
		gone = join(gone, b.ring[n-1])
	default:
		gone = join(b.ring[n-1], gone)
	}
	b.ring = append(b.ring[:n-1:n-1], gone)
	return b
}

// yanked puts what was cut last at the caret.
func (b Box) yanked() (Box, bool) {
	if len(b.ring) == 0 {
		return b, false
	}
	return b.mark().pull(0), true
}

// yankedOlder puts what was cut before in the place of what was just put there.
func (b Box) yankedOlder() (Box, bool) {
	if b.last != deedYank || len(b.ring) < 2 {
		return b, false
	}
	back := (b.yank.back + 1) % len(b.ring)
	b.pieces, b.at = join(b.pieces[:b.yank.from], b.pieces[b.yank.to:]), b.yank.from
	return b.pull(back), true
}

// pull puts the cut that is so many back at the caret.
func (b Box) pull(back int) Box {
	size, from, cut := len(b.pieces), b.at, b.ring[len(b.ring)-1-back]
	b = b.put(cut)
	b.yank = yank{from: from, to: b.at, back: back}
	// Where it made one character with what stands around it no other cut can take
	// its place.
	if b.at == from+len(cut) && len(b.pieces) == size+len(cut) {
		b.last = deedYank
	}
	return b
}

// revert takes the last edit back.
func (b Box) revert() (Box, bool) {
	n := len(b.undo)
	if n == 0 {
		return b, false
	}
	was := b.undo[n-1]
	b.redo = append(b.redo[:len(b.redo):len(b.redo)], step{b.pieces, b.at})
	b.pieces, b.at, b.undo = was.pieces, was.at, b.undo[:n-1]
	return b.rest(), true
}

// again does what was taken back last.
func (b Box) again() (Box, bool) {
	n := len(b.redo)
	if n == 0 {
		return b, false
	}
	next, left := b.redo[n-1], b.redo[:n-1]
	b = b.mark()
	b.pieces, b.at, b.redo = next.pieces, next.at, left
	return b.rest(), true
}

// recase writes the rest of the word after the caret in other letters, and goes
// behind it. A folded paste stays as it is.
func (b Box) recase(action string) (Box, bool) {
	to := b.wordEnd(b.at)
	if to == b.at {
		return b, false
	}
	var s strings.Builder
	for _, p := range b.pieces[b.at:to] {
		if p.fold {
			return b.travel(to, false)
		}
		s.WriteString(p.text)
	}
	text := s.String()
	switch action {
	case "edit.upper":
		text = strings.ToUpper(text)
	case "edit.lower":
		text = strings.ToLower(text)
	default:
		text = widget.Capital(text)
	}
	return b.mark().replace(b.at, to, split(text)), true
}

// swapped swaps the characters around the caret and goes behind them; at the end
// of a line, the two before it.
func (b Box) swapped() (Box, bool) {
	at := b.at
	if at == b.lineEnd() {
		at--
	}
	if at-1 < b.lineStart() || at >= len(b.pieces) {
		return b, false
	}
	return b.mark().replace(at-1, at+1, whole([]piece{b.pieces[at], b.pieces[at-1]})), true
}

// swappedWords swaps the word before the caret and the one after it; at the end of
// the text, the last two.
func (b Box) swappedWords() (Box, bool) {
	end := b.wordEnd(b.at)
	second := b.wordStart(end)
	if second == end || second < b.at && end == b.at { // no word after the caret
		end = b.wordEnd(b.wordStart(b.at))
		second = b.wordStart(end)
	}
	first := b.wordStart(second)
	between := b.wordEnd(first)
	if first >= between || between > second || second >= end {
		return b, false
	}
	return b.mark().replace(first, end, whole(join(b.pieces[second:end], b.pieces[between:second], b.pieces[first:between]))), true
}

// whole makes whole characters of pieces in a new order.
func whole(pieces []piece) []piece {
	var out []piece
	var s strings.Builder
	for _, p := range pieces {
		if p.fold {
			out = append(append(out, split(s.String())...), p)
			s.Reset()
			continue
		}
		s.WriteString(p.text)
	}
	return append(out, split(s.String())...)
}

// replace puts pieces in the place of those from i up to j and goes behind them.
func (b Box) replace(i, j int, with []piece) Box {
	b.pieces, b.at = join(b.pieces[:i], b.pieces[j:]), i
	return b.put(with)
}

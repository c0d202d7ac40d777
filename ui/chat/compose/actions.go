package compose

import "cairn/ui/render"

// The group of the box's keys in the help overlay.
const group = "Editing"

// Bindings are the keys of the box, as readline has them. Up and down are the
// box's own as long as there is a line to go to.
func Bindings() []render.Binding {
	return []render.Binding{
		{Action: "edit.start", Keys: []string{"ctrl+a", "home"}, Help: "start of line", Group: group},
		{Action: "edit.end", Keys: []string{"ctrl+e", "end"}, Help: "end of line", Group: group},
		{Action: "edit.left", Keys: []string{"ctrl+b", "left"}, Help: "left", Group: group},
		{Action: "edit.right", Keys: []string{"ctrl+f", "right"}, Help: "right", Group: group},
		{Action: "edit.word-left", Keys: []string{"alt+b", "ctrl+left", "alt+left"}, Help: "word left", Group: group},
		{Action: "edit.word-right", Keys: []string{"alt+f", "ctrl+right", "alt+right"}, Help: "word right", Group: group},
		{Action: "edit.top", Keys: []string{"ctrl+home", "alt+<"}, Help: "start of text", Group: group},
		{Action: "edit.bottom", Keys: []string{"ctrl+end", "alt+>"}, Help: "end of text", Group: group},
		{Action: "edit.backspace", Keys: []string{"backspace", "ctrl+h"}, Help: "delete before", Group: group},
		{Action: "edit.delete", Keys: []string{"delete", "ctrl+d"}, Help: "delete at the caret", Group: group},
		{Action: "edit.cut-word", Keys: []string{"ctrl+w"}, Help: "cut back to a space", Group: group},
		{Action: "edit.cut-word-left", Keys: []string{"alt+backspace"}, Help: "cut the word before", Group: group},
		{Action: "edit.cut-word-right", Keys: []string{"alt+d", "alt+delete"}, Help: "cut the word after", Group: group},
		{Action: "edit.cut-start", Keys: []string{"ctrl+u"}, Help: "cut to the start of line", Group: group},
		{Action: "edit.cut-end", Keys: []string{"ctrl+k"}, Help: "cut to the end of line", Group: group},
		{Action: "edit.yank", Keys: []string{"ctrl+y"}, Help: "paste what was cut", Group: group},
		{Action: "edit.yank-older", Keys: []string{"alt+y"}, Help: "paste what was cut before that instead", Group: group},
		{Action: "edit.upper", Keys: []string{"alt+u"}, Help: "word in capitals", Group: group},
		{Action: "edit.lower", Keys: []string{"alt+l"}, Help: "word in small letters", Group: group},
		{Action: "edit.capital", Keys: []string{"alt+c"}, Help: "word with a capital", Group: group},
		{Action: "edit.swap-words", Keys: []string{"alt+t"}, Help: "swap two words", Group: group},
		{Action: "edit.swap", Keys: []string{"ctrl+x ctrl+t"}, Help: "swap two characters", Group: group},
		{Action: "edit.undo", Keys: []string{"ctrl+_", "ctrl+x ctrl+u"}, Help: "undo", Group: group},
		{Action: "edit.redo", Keys: []string{"alt+_", "ctrl+x ctrl+_"}, Help: "redo", Group: group},
		{Action: "edit.up", Keys: []string{"up"}, Help: "line up, then earlier prompts", Group: group},
		{Action: "edit.down", Keys: []string{"down"}, Help: "line down, then later prompts", Group: group},
	}
}

// Do carries out an action of [Bindings] in a box that is width cells wide. Ok
// is false if the action is unknown or has nothing to do.
func (b Box) Do(action string, width int) (next Box, ok bool) {
	switch action {
	case "edit.up", "edit.down":
		return b.vertical(action == "edit.down", width)
	case "edit.undo":
		return b.revert()
	case "edit.redo":
		return b.again()
	case "edit.yank":
		return b.yanked()
	case "edit.yank-older":
		return b.yankedOlder()
	case "edit.upper", "edit.lower", "edit.capital":
		return b.recase(action)
	case "edit.swap":
		return b.swapped()
	case "edit.swap-words":
		return b.swappedWords()
	case "edit.backspace":
		next = b.remove(max(b.at-1, 0), b.at)
	case "edit.delete":
		next = b.remove(b.at, min(b.at+1, len(b.pieces)))
	default:
		if to, cut, known := b.target(action); known {
			return b.travel(to, cut)
		}
		return b, false
	}
	return next, len(next.pieces) != len(b.pieces)
}

// target is where a move or a cut goes to.
func (b Box) target(action string) (to int, cut, known bool) {
	switch action {
	case "edit.start":
		return b.lineStart(), false, true
	case "edit.end":
		return b.lineEnd(), false, true
	case "edit.left":
		return max(b.at-1, 0), false, true
	case "edit.right":
		return min(b.at+1, len(b.pieces)), false, true
	case "edit.word-left":
		return b.wordStart(b.at), false, true
	case "edit.word-right":
		return b.wordEnd(b.at), false, true
	case "edit.top":
		return 0, false, true
	case "edit.bottom":
		return len(b.pieces), false, true
	case "edit.cut-word":
		return b.back(func(p piece) bool { return !p.space() }), true, true
	case "edit.cut-word-left":
		return b.wordStart(b.at), true, true
	case "edit.cut-word-right":
		return b.wordEnd(b.at), true, true
	case "edit.cut-start":
		return b.lineStart(), true, true
	case "edit.cut-end":
		to = b.lineEnd()
		if to == b.at && to < len(b.pieces) { // at the end of a line: the newline
			to++
		}
		return to, true, true
	}
	return 0, false, false
}

// travel moves the caret to a place or cuts what is between.
func (b Box) travel(to int, cut bool) (Box, bool) {
	if to == b.at {
		return b.rest(), false
	}
	if !cut {
		b.at = to
		return b.rest(), true
	}
	i, j := min(b.at, to), max(b.at, to)
	b = b.keep(b.pieces[i:j], to < b.at)
	b = b.remove(i, j)
	b.last = deedCut
	return b, true
}

func (b Box) lineStart() int {
	i := b.at
	for i > 0 && b.pieces[i-1].text != "\n" {
		i--
	}
	return i
}

func (b Box) lineEnd() int {
	i := b.at
	for i < len(b.pieces) && b.pieces[i].text != "\n" {
		i++
	}
	return i
}

// back is the start of the run of pieces before the caret that are in it.
func (b Box) back(in func(piece) bool) int {
	i := b.at
	for i > 0 && !in(b.pieces[i-1]) {
		i--
	}
	for i > 0 && in(b.pieces[i-1]) {
		i--
	}
	return i
}

// vertical moves the caret one row; ok is false at the first or last row.
func (b Box) vertical(down bool, width int) (Box, bool) {
	l := b.Layout(width)
	goal := b.goal
	if goal == 0 {
		goal = l.Col + 1
	}
	row := l.Row - 1
	if down {
		row = l.Row + 1
	}
	if row < 0 || row >= len(l.Rows) {
		return b, false
	}
	b.at = l.place(row, goal-1)
	b.last, b.goal = deedNone, goal
	return b, true
}

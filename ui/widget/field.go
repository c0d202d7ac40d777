// Package widget has the parts that several screens share: the text field, the
// filter, the window of a list, and the frame that makes lines a screen. The
// one thing to know: everything in it is a value or a pure function. A Field
// that changes gives a new one and leaves the old one as it was, so a screen
// can keep a draft by keeping the value.
package widget

import (
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// Field is a text with a cursor that always stands between two grapheme
// clusters. Text is what was typed, and what Draw returns is harmless however
// hostile the text is. The zero value is an empty field of one line.
//
// It stands in for bubbles' textinput and textarea. These move by runes, so
// their cursor gets between an e and its accent or into the middle of an emoji,
// and in every field here somebody may write prose in any script. Besides, they
// delete in memory that a copy of the value shares, the textarea cuts a paste
// of many lines, and both bring a package that looks for clipboard programs in
// PATH whenever the program starts.
type Field struct {
	text string
	at   int // byte offset of the cursor, between two clusters
	area bool

	width, height int // the size last drawn or announced, for moves by row
	top           int // area: byte offset of a row start, near the first row on screen
	goal          int // column that moves by row aim at, -1 for none

	ring    []string // what was cut, the newest last
	yank    yank     // what the last key pasted of it
	cutting bool     // the last key cut: the next cut adds to it
	typing  bool     // the last key typed: the next one belongs to the same undo
	undo    []state
	redo    []state
}

// state is what undo returns to.
type state struct {
	text string
	at   int
}

// maxUndo bounds the memory of a field's undo, in bytes of text, and undoSteps
// the number of steps.
const (
	maxUndo   = 4 << 20
	undoSteps = 500
)

// Line returns a field of one line: a newline cannot get into it.
func Line(text string) Field { return Field{goal: -1}.Set(text) }

// Area returns a field of several lines.
func Area(text string) Field { return Field{area: true, goal: -1}.Set(text) }

// Text is the whole text.
func (f Field) Text() string { return f.text }

// Empty reports whether there is no text at all.
func (f Field) Empty() bool { return f.text == "" }

// Cursor is the byte offset of the cursor in Text.
func (f Field) Cursor() int { return f.at }

// Set replaces the text, puts the cursor at its end and forgets what could be
// undone.
func (f Field) Set(text string) Field {
	f.text = f.legal(text)
	f.at, f.top = len(f.text), 0
	f.undo, f.redo, f.goal, f.cutting, f.typing = nil, nil, -1, false, false
	return f.scroll()
}

// Replace is Set that can be undone.
func (f Field) Replace(text string) Field {
	f = f.remember(false)
	f.text = f.legal(text)
	f.at, f.top, f.goal, f.cutting = len(f.text), 0, -1, false
	return f.scroll()
}

// Home puts the cursor at the start of the text.
func (f Field) Home() Field {
	f.at, f.goal, f.top = 0, -1, 0
	return f
}

// Resize announces the size the field will be drawn in. Draw does the same
// for its own call; a field needs to be told only so that moves by row and the
// scroll position fit what is on screen.
func (f Field) Resize(width, height int) Field {
	f.width, f.height = max(width, 1), max(height, 1)
	return f.scroll()
}

// Insert puts text at the cursor, as a paste does.
func (f Field) Insert(text string) Field {
	return f.insert(text, false).scroll()
}

// legal turns CRLF and CR into LF; in a field of one line what separates lines
// or columns becomes a space.
func (f Field) legal(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	if !f.area && strings.ContainsAny(text, "\n\t") {
		text = strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
	}
	return text
}

func (f Field) insert(text string, typed bool) Field {
	text = f.legal(text)
	if text == "" {
		return f
	}
	f = f.remember(typed)
	f.text = f.text[:f.at] + text + f.text[f.at:]
	f.at = f.snap(f.at + len(text))
	f.goal, f.cutting = -1, false
	return f
}

// remember makes the present text a step of undo. Keys typed one after the
// other are one step.
func (f Field) remember(typed bool) Field {
	joined := typed && f.typing
	f.typing, f.redo = typed, nil
	if joined {
		return f
	}
	f.undo = append(f.undo[:len(f.undo):len(f.undo)], state{f.text, f.at})
	size := 0
	for i := len(f.undo) - 1; i >= 0; i-- {
		size += len(f.undo[i].text)
		if len(f.undo)-i > undoSteps || size > maxUndo && i < len(f.undo)-1 {
			f.undo = f.undo[i+1:]
			break
		}
	}
	return f
}

// Undo takes the last change back. The second result is false if there is
// none.
func (f Field) Undo() (Field, bool) {
	if len(f.undo) == 0 {
		return f, false
	}
	last := f.undo[len(f.undo)-1]
	f.redo = append(f.redo[:len(f.redo):len(f.redo)], state{f.text, f.at})
	f.undo = f.undo[:len(f.undo)-1]
	f.text, f.at = last.text, last.at
	f.goal, f.cutting, f.typing = -1, false, false
	return f.scroll(), true
}

// delete removes text[from:to] and leaves the cursor at from.
func (f Field) delete(from, to int) Field {
	if from >= to {
		return f
	}
	f = f.remember(false)
	f.text = f.text[:from] + f.text[to:]
	f.at, f.goal = f.snap(from), -1
	return f
}

// snap moves an offset forward to a cluster boundary: joining two texts may
// have made one cluster of what were two.
func (f Field) snap(at int) int {
	start := f.lineStart(min(at, len(f.text)))
	for i := f.near(start, at); i < len(f.text); {
		if i >= at {
			return i
		}
		i += clusterLen(f.text[i:])
	}
	return len(f.text)
}

// Key handles one key and says whether it was the field's. Keys that the
// screen has a use for must be taken by the screen first. Enter is the field's
// only in an area.
func (f Field) Key(k tea.KeyMsg) (Field, bool) {
	g, used := f.key(k)
	if !used {
		return f, false
	}
	return g.scroll(), true
}

func (f Field) key(k tea.KeyMsg) (Field, bool) {
	switch {
	case k.Type == tea.KeyRunes && (!k.Alt || k.Paste):
		return f.insert(string(k.Runes), !k.Paste), true
	case k.Type == tea.KeySpace && !k.Alt:
		return f.insert(" ", true), true
	}
	name := k.String()
	if name != "ctrl+y" && name != "alt+y" {
		f.yank = yank{}
	}
	if g, used := f.edit(name); used {
		return g, true
	}
	if g, used := f.rework(name); used {
		g.cutting, g.typing = false, false
		return g, true
	}
	g, used := f.move(name)
	if used {
		g.cutting, g.typing = false, false
	}
	return g, used
}

// edit handles the keys that change the text.
func (f Field) edit(name string) (Field, bool) {
	switch name {
	case "enter", "ctrl+j", "alt+enter", "shift+enter":
		if !f.area {
			return f, false
		}
		return f.insert("\n", false), true
	case "backspace", "ctrl+h":
		f.cutting = false
		return f.delete(f.left(f.at), f.at), true
	case "delete", "ctrl+d":
		f.cutting = false
		return f.delete(f.at, f.right(f.at)), true
	case "ctrl+w":
		return f.kill(f.bigWordLeft(f.at), f.at, true), true
	case "alt+backspace", "ctrl+backspace":
		return f.kill(f.wordLeft(f.at), f.at, true), true
	case "alt+d", "alt+delete", "ctrl+delete":
		return f.kill(f.at, f.wordRight(f.at), false), true
	case "ctrl+u":
		return f.kill(f.lineStart(f.at), f.at, true), true
	case "ctrl+k":
		return f.killToEnd(), true
	default:
		return f, false
	}
}

// kill deletes and keeps what was deleted for ctrl+y; cuts in a row are kept
// together.
func (f Field) kill(from, to int, before bool) Field {
	if from >= to {
		return f
	}
	cut, n := f.text[from:to], len(f.ring)
	switch {
	case !f.cutting || n == 0:
		f.ring = append(f.ring[max(n-maxRing+1, 0):n:n], cut)
	case before:
		f.ring = append(f.ring[:n-1:n-1], cut+f.ring[n-1])
	default:
		f.ring = append(f.ring[:n-1:n-1], f.ring[n-1]+cut)
	}
	f = f.delete(from, to)
	f.cutting = true
	return f
}

// killToEnd cuts to the end of the line, or the line's end itself.
func (f Field) killToEnd() Field {
	end := f.lineEnd(f.at)
	if end == f.at && end < len(f.text) {
		end++
	}
	return f.kill(f.at, end, false)
}

// move handles the keys that only move the cursor.
func (f Field) move(name string) (Field, bool) {
	goal := -1
	switch name {
	case "left", "ctrl+b":
		f.at = f.left(f.at)
	case "right", "ctrl+f":
		f.at = f.right(f.at)
	case "alt+b", "alt+left", "ctrl+left":
		f.at = f.wordLeft(f.at)
	case "alt+f", "alt+right", "ctrl+right":
		f.at = f.wordRight(f.at)
	case "home", "ctrl+a":
		f.at = f.lineStart(f.at)
	case "end", "ctrl+e":
		f.at = f.lineEnd(f.at)
	case "ctrl+home", "alt+<":
		f.at = 0
	case "ctrl+end", "alt+>":
		f.at = len(f.text)
	default:
		if !f.area {
			return f, false
		}
		rows := map[string]int{
			"up": -1, "ctrl+p": -1, "down": 1, "ctrl+n": 1,
			"pgup": -max(f.height-1, 1), "pgdown": max(f.height-1, 1),
		}[name]
		if rows == 0 {
			return f, false
		}
		return f.byRows(rows), true
	}
	f.goal = goal
	return f, true
}

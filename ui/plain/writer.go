package plain

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"cairn/ui/render"
)

// writer writes text that is safe for a terminal and remembers whether the
// line is begun. After an error it writes nothing more.
type writer struct {
	to    io.Writer
	err   error
	open  bool   // the last line is not ended
	carry string // the end of a streamed piece that cannot be judged yet
}

// raw writes s as it is.
func (w *writer) raw(s string) {
	if s == "" || w.err != nil {
		return
	}
	if _, err := io.WriteString(w.to, s); err != nil {
		w.err = fmt.Errorf("write output: %w", err)
	}
	w.open = !strings.HasSuffix(s, "\n")
}

// line writes safe text on lines of its own.
func (w *writer) line(s string) {
	w.flush()
	if w.open {
		w.raw("\n")
	}
	w.raw(s + "\n")
}

// block writes a label and foreign text behind it.
func (w *writer) block(label, text string) {
	w.line(label + ": " + render.Safe(strings.TrimRight(text, "\n")))
}

// begin writes a label behind which text is to stream.
func (w *writer) begin(label string) {
	w.flush()
	if w.open {
		w.raw("\n")
	}
	w.raw(label + ": ")
}

// stream writes a piece of foreign text. What could still become part of
// something else, such as half a character, waits for the next piece.
func (w *writer) stream(piece string) {
	text := w.carry + piece
	cut := settled(text)
	w.carry = text[cut:]
	w.raw(render.Safe(text[:cut]))
}

// flush writes what waits.
func (w *writer) flush() {
	text := w.carry
	w.carry = ""
	w.raw(render.Safe(text))
}

// settled is the length of the prefix that what follows cannot change: it ends
// neither within a character, nor in a CR, nor before what joins characters.
func settled(s string) int {
	end := len(s)
	for end > 0 && len(s)-end < 64 {
		r, n := utf8.DecodeLastRuneInString(s[:end])
		if r != utf8.RuneError && r != '\r' && r < 0x300 {
			return end
		}
		end -= n
		if r != utf8.RuneError && r != '\r' {
			// A character that a joiner may follow: it waits for one more.
			return end
		}
	}
	if len(s)-end >= 64 {
		return len(s)
	}
	return end
}

package plain

import (
	"fmt"
	"io"
	"strings"

	"cairn/ui/plain/spoken"
	"cairn/ui/render"
)

// writer writes text that is safe for a terminal and remembers whether the
// line is begun. After an error it writes nothing more.
type writer struct {
	to   io.Writer
	err  error
	open bool // the last line is not ended
	n    int  // how often something was written
	said spoken.Stream
}

// raw writes s, of which only what is printable and newlines reach the terminal
// as they are.
func (w *writer) raw(s string) {
	if s == "" || w.err != nil {
		return
	}
	s = strings.ReplaceAll(render.Safe(s), "\t", "    ")
	if _, err := io.WriteString(w.to, s); err != nil {
		w.err = fmt.Errorf("write output: %w", err)
	}
	w.open = !strings.HasSuffix(s, "\n")
	w.n++
}

// ended ends the last line, if it is begun.
func (w *writer) ended() {
	if w.open {
		w.raw("\n")
	}
}

// line writes safe text on lines of its own.
func (w *writer) line(s string) {
	if w.open {
		s = "\n" + s
	}
	w.raw(s + "\n")
}

// block writes a label and foreign text behind it, as it is.
func (w *writer) block(label, text string) {
	w.line(label + ": " + render.Safe(strings.TrimRight(text, "\n")))
}

// speak writes a label and Markdown behind it, in words.
func (w *writer) speak(label, markdown string) {
	w.line(label + ": " + spoken.Text(strings.TrimRight(markdown, "\n")))
}

// begin writes a label behind which Markdown is to stream.
func (w *writer) begin(label string) {
	if w.open {
		w.raw("\n")
	}
	w.said = spoken.Stream{}
	w.raw(label + ": ")
}

// stream writes what can be said of Markdown with a further piece of it: whole
// words.
func (w *writer) stream(piece string) { w.raw(w.said.Add(piece)) }

// end writes what is left of the Markdown that streamed, and an empty line.
func (w *writer) end() {
	w.raw(w.said.End())
	w.line("")
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"cairn/ui/render"
)

// output is standard output. It keeps the first error, so that a full disk
// or a closed pipe fails the command without a check at each write.
type output struct {
	to  io.Writer
	err error
}

// outputError is a failure of standard output, which no other place for the
// store can mend.
type outputError struct{ err error }

func (e *outputError) Error() string { return "write to standard output: " + cause(e.err).Error() }
func (e *outputError) Unwrap() error { return e.err }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.err = &outputError{err}
	}
	return n, o.err
}

// text writes a string.
func (o *output) text(s string) { _, _ = io.WriteString(o, s) }

// line writes a formatted line.
func (o *output) line(format string, args ...any) { o.text(fmt.Sprintf(format, args...) + "\n") }

// encode is v as JSON in which nothing can drive a terminal or turn the
// reading direction: what JSON itself leaves alone is written as \u escapes.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return escapeControls(b.Bytes()), nil
}

// escapeControls writes DEL, C1 and bidi controls as \u escapes. They occur
// only inside strings, so the value stays the same.
func escapeControls(p []byte) []byte {
	hostile := func(r rune) bool {
		switch {
		case r >= 0x7f && r <= 0x9f, r == 0x061c, r == 0x200e, r == 0x200f,
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return true
		}
		return false
	}
	if bytes.IndexFunc(p, hostile) < 0 {
		return p
	}
	var b bytes.Buffer
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if hostile(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.Write(p[:n])
		}
		p = p[n:]
	}
	return b.Bytes()
}

// document writes v as one JSON document. A nil list is an empty one.
func (o *output) document(v any) error {
	p, err := encode(v, "  ")
	if err != nil {
		return err
	}
	_, _ = o.Write(p)
	return nil
}

// object writes v as one line of JSON.
func (o *output) object(v any) error {
	p, err := encode(v, "")
	if err != nil {
		return err
	}
	_, _ = o.Write(p)
	return nil
}

// table is aligned text. Its cells are made safe: a list is for people, and
// programs take --json.
type table struct {
	rows [][]string
}

// add adds a row.
func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = render.SafeLine(strings.TrimSpace(c))
	}
	t.rows = append(t.rows, row)
}

// write writes the rows, columns two cells apart; on a terminal each row is
// cut to its width, 0 means unknown.
func (t *table) write(o *output, width int) {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, c := range row {
			b.WriteString(c)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(c)+2))
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if width > 0 {
			text = ansi.Truncate(text, width, "…")
		}
		o.line("%s", text)
	}
}

// orEmpty is the list, never nil, so that JSON has [] for it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

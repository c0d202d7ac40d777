package near

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/tool"
)

// How texts are cut: each gets up to maxWindows windows of at most windowSize
// bytes, which end between words where they can. What is beyond, some 16,000
// characters into a message, is found by its words alone.
const (
	windowSize = 2_000
	maxWindows = 8
	// breakWithin is how far back from the end of a window a better place to end
	// is looked for, in bytes.
	breakWithin = 400
)

// Span is a piece of a text, in bytes.
type Span struct{ From, To int }

// Cut cuts a text into the windows that get a vector each. One without a letter
// or digit has none.
func Cut(text string) []Span {
	var spans []Span
	for from := 0; from < len(text) && len(spans) < maxWindows; {
		to := end(text, from)
		if strings.ContainsFunc(text[from:to], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			spans = append(spans, Span{from, to})
		}
		from = to
	}
	return spans
}

// end returns where a window that begins at from ends.
func end(text string, from int) int {
	to := from + windowSize
	if to >= len(text) {
		return len(text)
	}
	for range utf8.UTFMax { // further back there is no rune that is cut
		if utf8.RuneStart(text[to]) {
			break
		}
		to--
	}
	tail := text[to-breakWithin : to]
	for _, sep := range []string{"\n\n", "\n", ". ", " "} {
		if i := strings.LastIndex(tail, sep); i >= 0 {
			return to - breakWithin + i + len(sep)
		}
	}
	return to
}

// Guard cuts texts for sending them away: one that holds a key or a password,
// by its form or as one that the redactor knows, is not sent at all, nor found by
// anything but its words.
func Guard(r *tool.Redactor) func(text string) []Span {
	return func(text string) []Span {
		if secret(r, text) {
			return nil
		}
		return Cut(text)
	}
}

func secret(r *tool.Redactor, text string) bool {
	if _, found := harness.Secret(text); found {
		return true
	}
	_, found := r.Find(text)
	return found
}

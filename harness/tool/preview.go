package tool

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

const (
	// MaxResult is the longest result that goes into a conversation as it is,
	// in characters.
	MaxResult = 12_000
	// previewLines are taken from both ends of a longer one, previewSize
	// characters at most in all.
	previewLines = 20
	previewSize  = 3_000
	// maxWhole is the longest result of a tool that is [Tool.Whole].
	maxWhole = 52_000
	// shownSum is how many digits of a sha256 a model is shown.
	shownSum = 16
)

// ReadResult is the name of the tool that pages kept results.
const ReadResult = "read_tool_result"

// Artifacts keeps large results out of conversations.
type Artifacts interface {
	// Put stores data in the session and returns its sha256 in hexadecimal.
	Put(ctx context.Context, session harness.SessionID, data []byte) (sha256 string, err error)
}

// bound makes a result fit a conversation: without secrets, valid text, and a
// preview if it is too long, with the whole of it kept apart.
func (s *Set) bound(ctx context.Context, c Call, r harness.ToolResult, whole bool) harness.ToolResult {
	if s.Redact != nil {
		r.Text = s.Redact(r.Text)
	}
	raw := r.Text
	r.Text = strings.ToValidUTF8(raw, replacement)
	count := utf8.RuneCountInString(r.Text)
	switch {
	case count <= MaxResult, whole && count <= maxWhole:
		return r
	case whole:
		r.Text = Clip(r.Text, maxWhole) + "\n(The rest is left out.)"
		return r
	}
	size := fmt.Sprintf("%d characters in one line", count)
	if lines := strings.Count(strings.TrimSuffix(r.Text, "\n"), "\n") + 1; lines > 1 {
		size = fmt.Sprintf("%d characters in %d lines", count, lines)
	}
	if s.Artifacts == nil {
		r.Text = fmt.Sprintf("(The result was too long: %s. This is its beginning and end; the rest was not kept.)\n%s", size, bothEnds(r.Text))
		return r
	}
	// The result exists already, so a turn that is stopped now still keeps it.
	sum, err := s.Artifacts.Put(context.WithoutCancel(ctx), c.Session, []byte(raw))
	if err != nil {
		if s.Log != nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "store tool result", slog.String("call", c.Key), slog.Any("error", err))
		}
		r.Text = fmt.Sprintf("(The result was too long: %s. This is its beginning and end; the rest could not be stored and is lost.)\n%s", size, bothEnds(r.Text))
		return r
	}
	r.Artifact = sum
	r.Text = fmt.Sprintf("(The result was too long: %s. This is its beginning and end; the whole is stored%s.)\n%s", size, s.where(sum), Preview(r.Text))
	return r
}

// where says how the model gets at what is kept.
func (s *Set) where(sum string) string {
	short := sum[:min(len(sum), shownSum)]
	if _, ok := s.find(ReadResult); ok {
		return fmt.Sprintf(": read or search it with %s and the id %s", ReadResult, short)
	}
	return " as " + short
}

// Preview returns the first and last 20 lines of a text, at most 3,000
// characters, cut between grapheme clusters, and says what it leaves out.
func Preview(text string) string {
	head, tail, lines := ends(text)
	const half = previewSize / 2
	first := Clip(head, previewSize-min(half, utf8.RuneCountInString(tail)))
	last := clipTail(tail, previewSize-utf8.RuneCountInString(first))
	cut := utf8.RuneCountInString(text) - utf8.RuneCountInString(first) - utf8.RuneCountInString(last)
	if cut <= 0 {
		return text
	}
	note := fmt.Sprintf("… (%d characters left out", cut)
	if lines > 0 {
		note += fmt.Sprintf(", %d whole lines among them", lines)
	}
	return strings.TrimRight(first, "\n") + "\n" + note + ") …\n" + strings.TrimLeft(last, "\n")
}

// bothEnds returns as much of both ends of a text as a conversation takes: what
// is left out is lost.
func bothEnds(text string) string {
	const half = (MaxResult - 300) / 2
	head, tail, _ := halves(text)
	head, tail = Clip(head, half), clipTail(tail, half)
	left := utf8.RuneCountInString(text) - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return fmt.Sprintf("%s\n… (%d characters left out) …\n%s", head, left, tail)
}

// ends returns the first and the last lines of a text and counts the lines
// between. The two never overlap; a text of few lines is split in the middle.
func ends(text string) (head, tail string, between int) {
	first := 0
	for range previewLines {
		at := strings.IndexByte(text[first:], '\n')
		if at < 0 {
			return halves(text)
		}
		first += at + 1
	}
	last := len(strings.TrimSuffix(text, "\n"))
	for range previewLines {
		at := strings.LastIndexByte(text[:last], '\n')
		if at < first {
			return halves(text)
		}
		last = at
	}
	return text[:first], text[last+1:], strings.Count(text[first:last+1], "\n")
}

// halves splits a text in the middle of its bytes, between characters.
func halves(text string) (head, tail string, between int) {
	middle := len(text) / 2
	for middle < len(text) && !utf8.RuneStart(text[middle]) {
		middle++
	}
	return text[:middle], text[middle:], 0
}

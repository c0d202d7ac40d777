// Package result lets a model read what was too long for the conversation: the
// tool read_tool_result pages a stored result by lines and by characters, and
// searches it. The one thing to know: what it returns goes into the conversation
// as it is and never becomes a stored result itself, so reading comes to an end.
package result

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/tool"
)

const (
	// defaultLines and maxLines bound a page in lines, defaultChars, minChars and
	// maxChars in characters.
	defaultLines = 200
	maxLines     = 2_000
	defaultChars = 6_000
	minChars     = 200
	maxChars     = 50_000
	// maxID is how long a sha256 is in hexadecimal digits.
	maxID = 64
	// shownID is how much of it a header shows.
	shownID = 16
)

// Reader gives back what was kept; a [harness.Artifacts] is one.
type Reader interface {
	// Get returns what has this sha256, or these first digits of it, in the
	// session, else [harness.ErrNotFound].
	Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error)
}

// Register adds read_tool_result, which reads from r. Without one nothing is
// added.
func Register(set *tool.Set, r Reader) error {
	if r == nil {
		return nil
	}
	t, err := tool.New(tool.ReadResult,
		"Read or search a stored result or attachment of this conversation, one that was too long to be shown whole. A note in its place gives its id.",
		func(ctx context.Context, c tool.Call, in input) (string, error) { return read(ctx, r, c, in) },
		tool.WithPermission(tool.Allow), tool.WithReplay(tool.Safe), tool.Whole())
	if err == nil {
		err = set.Add(t)
	}
	if err != nil {
		return fmt.Errorf("register %s: %w", tool.ReadResult, err)
	}
	return nil
}

type input struct {
	ID         string `json:"id" jsonschema:"the id as the note gives it, 12 digits of it at least"`
	Offset     int    `json:"offset,omitempty" jsonschema:"the first line to read, from 1"`
	Limit      int    `json:"limit,omitempty" jsonschema:"how many lines to read, 200 if left out, at most 2000"`
	CharOffset int    `json:"char_offset,omitempty" jsonschema:"how many characters of the first line to skip, for very long lines"`
	MaxChars   int    `json:"max_chars,omitempty" jsonschema:"how many characters to read, 6000 if left out, from 200 to 50000"`
	Search     string `json:"search,omitempty" jsonschema:"show only where this text, or this regular expression (RE2), is found, from the offset on"`
}

func read(ctx context.Context, r Reader, c tool.Call, in input) (string, error) {
	id, err := digits(in.ID)
	if err != nil {
		return "", err
	}
	if in.Offset < 0 || in.Limit < 0 || in.CharOffset < 0 || in.MaxChars < 0 {
		return "", errors.New("offset, limit, char_offset and max_chars must not be negative")
	}
	data, err := r.Get(ctx, c.Session, id)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return "", fmt.Errorf("no stored result of this conversation has the id %s; take the id from the note that stands in place of the result", id)
	case err != nil:
		return "", fmt.Errorf("read the stored result %s: %w", id, err)
	case binary(data):
		return "", fmt.Errorf("%s is no text but binary data (%s, %d bytes), which cannot be read by lines", id, http.DetectContentType(data), len(data))
	}
	// The same text as the one that the preview counted.
	d := newDocument(id, strings.ToValidUTF8(string(data), "\uFFFD"))
	if in.Search != "" {
		return d.search(ctx, in)
	}
	return d.page(in)
}

// digits returns an id as artifacts are asked for.
func digits(typed string) (string, error) {
	id := strings.ToLower(strings.Trim(strings.TrimSpace(typed), "\"'`.…"))
	wrong := len(id) < harness.MinArtifact || len(id) > maxID
	for _, r := range id {
		wrong = wrong || (r < '0' || r > '9') && (r < 'a' || r > 'f')
	}
	if wrong {
		return "", fmt.Errorf("%q is no id of a stored result: that has %d to %d hexadecimal digits and is in the note that stands in place of the result",
			tool.Clip(strings.ToValidUTF8(typed, "\uFFFD"), maxID), harness.MinArtifact, maxID)
	}
	return id, nil
}

// binary reports whether data is no text: it has NUL bytes, or much of it is
// not UTF-8.
func binary(data []byte) bool {
	const share = 10
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	bad := 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		i += size
	}
	return bad*share > len(data)
}

// within is n between least and most, and def where n is 0.
func within(n, def, least, most int) int {
	if n == 0 {
		n = def
	}
	return max(least, min(n, most))
}

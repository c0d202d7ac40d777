package chat

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/harness"
)

func TestLongMessagesAreFolded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, more string }{
		{"short", strings.Repeat("line\n", 39) + "line", ""},
		{"a paste", strings.Repeat("line\n", 40) + "line", "21 lines"},
		{"many lines", strings.Repeat("line\n", 299) + "line", "280 lines"},
		{"one long line", strings.Repeat("會議", 20_000), "118.0 kB"},
		{"few long lines", strings.Repeat(strings.Repeat("x", 3000)+"\n", 20) + "y", "58.0 kB"},
		{"medium lines", strings.Repeat(strings.Repeat("x", 500)+"\n", 100) + "y", "81 lines"},
	} {
		start, more := folded(c.text)
		if more != c.more || !strings.HasPrefix(c.text, start) || !utf8.ValidString(start) || len(start) > foldedBytes {
			t.Errorf("%s: %d bytes and %q, not %q", c.name, len(start), more, c.more)
		}
	}
}

func TestToolLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, malformed, want string }{
		{`{"query":"ErrBadRow"}`, "", `"ErrBadRow"`},
		{`{}`, "", ""},
		{`{"a": 1, "b": "x"}`, "", `"a":1,"b":"x"`},
		{`{"n": 5}`, "", `"n":5`},
		{``, "not json\nat all", "malformed: not json"},
		{`[1]`, "", "[1]"},
	} {
		if got := inputWords(&harness.ToolCall{Input: []byte(c.input), Malformed: c.malformed}); got != c.want {
			t.Errorf("%q: %q, not %q", c.input, got, c.want)
		}
	}
	for text, want := range map[string]string{"": "done", "3 hits\n": "3 hits", "a\nb": "2 lines", strings.Repeat("x", 90): "90 characters"} {
		if got := summary(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

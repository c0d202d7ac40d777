package plain

import (
	"strings"
	"testing"

	"cairn/harness"
)

func TestResultsAreSaidByTheirEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    harness.ToolResult
		want string
	}{
		{harness.ToolResult{Text: "created a.txt"}, "created a.txt"},
		{harness.ToolResult{Text: "(no output)\nexit code 0"}, "(no output) exit code 0"},
		{harness.ToolResult{Text: "one\ntwo\nexit code 1\n", Failed: true}, "failed: one ... exit code 1"},
		{harness.ToolResult{Text: "one\x1b[2J\n\u202etwo"}, "one␛[2J ⟨U+202E⟩two"},
		{harness.ToolResult{Text: "x", Unknown: true}, "outcome unknown"},
		{harness.ToolResult{}, ""},
	} {
		if got := resultWords(c.r); got != c.want {
			t.Errorf("%q is said as %q, want %q", c.r.Text, got, c.want)
		}
	}
}

func TestCallsAreSaidInShort(t *testing.T) {
	t.Parallel()
	c := harness.ToolCall{Name: "write_file", Input: []byte(`{"content":"` + strings.Repeat("long ", 10_000) + `"}`)}
	if got := callWords(c); len(got) > 200 || !strings.HasPrefix(got, `write_file {"content":"long`) {
		t.Errorf("said with %d bytes: %.100s", len(got), got)
	}
}

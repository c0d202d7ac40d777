package cli

import (
	"bytes"
	"strings"
	"testing"

	"cairn/harness"
)

// What streams is printed once, piece by piece, and begins anew with each attempt.
func TestStreamedTextIsPrintedOnce(t *testing.T) {
	t.Parallel()
	partials := []*harness.Partial{
		nil,
		{Attempt: 1, Text: "one"},
		{Attempt: 1, Text: "one two"},
		{Attempt: 1, Text: "one two"},
		nil,
		{Attempt: 2, Thinking: "hm", Text: "th"},
		{Attempt: 1, Text: "late"},
		{Attempt: 2, Thinking: "hm", Text: "t"},
		{Attempt: 2, Thinking: "hm", Text: "three\x1b[2J"},
	}
	print := func(json bool) string {
		var out bytes.Buffer
		a := &app{out: &output{to: &out}}
		a.flags.json = json
		tr := trail{app: a}
		for _, p := range partials {
			if err := tr.streamed(harness.Run{ID: "r", Session: "s", Partial: p}); err != nil {
				t.Fatal(err)
			}
		}
		tr.endLine()
		return out.String()
	}
	text := print(false)
	if !strings.HasPrefix(text, "one two\nth\nthree") || strings.ContainsRune(text, 0x1b) || !strings.HasSuffix(text, "\n") {
		t.Errorf("for people: %q", text)
	}
	var got []string
	for line := range strings.Lines(print(true)) {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		_, said, _ := strings.Cut(rest, `"text":"`)
		said, _, _ = strings.Cut(said, `"`)
		got = append(got, kind+"="+said)
	}
	want := []string{
		"text_delta=one", "text_delta= two", "attempt_reset=", "thinking_delta=hm", "text_delta=th",
		"attempt_reset=", "thinking_delta=hm", "text_delta=t", `text_delta=hree\u001b[2J`,
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("for programs:\n%q, want\n%q", got, want)
	}
}

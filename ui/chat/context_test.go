package chat

import (
	"strings"
	"testing"

	"cairn/harness"
)

// What fills the window is told by kind, and what of the conversation is not in
// it, without a claim about answers that did not record it.
func TestContextTellsWhatFilledTheWindow(t *testing.T) {
	t.Parallel()
	sent := &harness.Sent{System: 100, Recalled: 50, Tools: 850, Messages: 1_000, Reply: 1_000, Count: 12, Dropped: 3, Cleared: 1}
	text := strings.Join(sentLines(sent, 6_000), "\n")
	for _, want := range []string{
		"[sttttmmmmmooooo...............]", "s      100  system", "r       50  remembered", "t      850  tools", "m    1,000  messages: 12 messages",
		"o    1,000  room for the reply", "3 older messages; they stay readable", "1 tool result of the last turn",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if got := sentLines(nil, 6_000); got != nil {
		t.Errorf("of an answer that says nothing: %q", got)
	}
	for _, window := range []int64{0, 1, 2_500} {
		for _, line := range sentLines(sent, window) {
			if i := strings.Index(line, "["); i >= 0 && strings.Index(line, "]")-i-1 != barWidth {
				t.Errorf("a window of %d has the bar %q", window, line)
			}
		}
	}
	if text := strings.Join(sentLines(&harness.Sent{Messages: 5, Count: 1}, 0), "\n"); strings.Contains(text, "[") || strings.Contains(text, "not in it") {
		t.Errorf("of an unknown window:\n%s", text)
	}
}

// Something is never told as nothing.
func TestAShareOfTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tokens, window int64
		want           string
	}{
		{0, 1_000, ", 0% of the window of 1,000"},
		{9, 1_000, ", less than 1% of the window of 1,000"},
		{10, 1_000, ", 1% of the window of 1,000"},
		{1_500, 1_000, ", 150% of the window of 1,000"},
		{9, 0, ", of a window that is not known"},
	} {
		if got := share(c.tokens, c.window); got != c.want {
			t.Errorf("%d of %d is %q, not %q", c.tokens, c.window, got, c.want)
		}
	}
}

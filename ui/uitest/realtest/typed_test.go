//go:build unix

package realtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// paste is a text as a terminal gives what is pasted.
func paste(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

// TestWhatIsPastedIsSentByTheEnterKeyAlone pastes lines that end in each way. Nothing
// is sent before the key, and what is sent has the lines that were pasted, each
// ended by a line feed, the last ones too.
func TestWhatIsPastedIsSentByTheEnterKeyAlone(t *testing.T) {
	t.Parallel()
	s := newTalker(t)
	h := keyed(t, s.URL)
	w := h.open("-s", "pasted")
	w.shows("> write a message")
	var want []string
	for i, tail := range []string{"a\r\nb\r\n", "a\rb", "a\n\n", "\r\n\r\nz\r", strings.Repeat("line\r\n", 150)} {
		w.send(paste(fmt.Sprintf("question %d\r\nfirst ", i) + tail))
		w.shows("> ")
		w.send("!") // the paste has arrived once this is seen
		w.wait("the end of the paste", func(screen string) bool {
			_, box, ok := strings.Cut(screen, "> ")
			return ok && (strings.Contains(box, "!") && (strings.Contains(box, fmt.Sprint("question ", i)) || strings.Contains(box, "[pasted")))
		})
		s.mu.Lock()
		asked := s.asked[fmt.Sprint("question ", i)]
		s.mu.Unlock()
		if asked != 0 {
			t.Fatalf("paste %d is sent before the key", i)
		}
		w.send("\x7f" + enter)
		w.shows(fmt.Sprintf("answer to question %d", i), "> write a message")
		want = append(want, fmt.Sprintf("question %d\nfirst ", i)+strings.ReplaceAll(strings.ReplaceAll(tail, "\r\n", "\n"), "\r", "\n"))
	}
	w.send(ctrlD)
	w.ends()
	var got []string
	for _, m := range h.conversation("pasted") {
		if m.role == "user" {
			got = append(got, m.text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent %q, not %q", got, want)
	}
}

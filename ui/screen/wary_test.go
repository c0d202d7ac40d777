package screen

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// A terminal that measures characters by their code points shows the rest of a line
// where it belongs all the same.
func TestTextStaysInItsColumnWhateverTheTerminalThinksOfEmoji(t *testing.T) {
	t.Parallel()
	const view = "👩‍👩‍👧‍👦|family\n❤️|heart\n🇵🇹|flag\ne\u0301|accent\n模|wide"
	for _, wary := range []bool{true, false} {
		p := newPainter("xterm-256color", 20, 5)
		p.heed(wary)
		out := string(p.paint(view, caret{}))
		if pinned := strings.Count(out, "G"); wary != (pinned == 4) {
			t.Errorf("wary %t: %d columns in %q", wary, pinned, out)
		}
		if strings.Contains(out, "e\u0301\x1b") {
			t.Errorf("an accent is placed: %q", out)
		}
		em := vt.NewEmulator(20, 5)
		if _, err := em.WriteString(out); err != nil {
			t.Fatal(err)
		}
		for y, text := range strings.Split(view, "\n") {
			_, after, _ := strings.Cut(text, "|")
			x := ansi.GraphemeWidth.StringWidth(text) - len(after) - 1
			if c := em.CellAt(x, y); c == nil || c.Content != "|" {
				t.Errorf("wary %t: row %d has %v at column %d:\n%s", wary, y, c, x, em.String())
			}
		}
	}
}

func TestWhatATerminalKnowsOfCharactersIsHeeded(t *testing.T) {
	t.Parallel()
	p := newPainter("xterm-256color", 20, 3)
	p.heed(true)
	const view = "plain\n❤️ rest\n模"
	p.paint(view, caret{})
	p.heed(false)
	out := string(p.paint(view, caret{}))
	if !strings.Contains(out, "❤️") || strings.Contains(out, "plain") || strings.Contains(out, "G") {
		t.Errorf("written is %q", out)
	}
	if again := p.paint(view, caret{}); len(again) != 0 {
		t.Errorf("and again %q", again)
	}
}

package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// TestNothingFromOutsideDrivesATerminalThatKeepsTheConversation is the siege without
// the alternate screen, where what is said goes into the scrollback.
func TestNothingFromOutsideDrivesATerminalThatKeepsTheConversation(t *testing.T) {
	t.Parallel()
	for name, bad := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in(t, func(t *testing.T, w *uitest.World) {
				deps := besieged(t, w, bad)
				deps.Inline = true
				d := w.Start(deps, 100, 30)
				d.Wait(time.Second)
				g := &glass{Driver: d, t: t, inline: true, term: vt.NewEmulator(100, 30), painter: screen.NewPainter(100, 30), size: [2]int{100, 30}}
				g.show()
				g.walk(siege(w, bad))
				var kept strings.Builder
				for _, l := range g.term.Scrollback().Lines() {
					kept.WriteString(l.String() + "\n")
				}
				kept.WriteString(g.term.String())
				for _, what := range []string{"user", "model", "says", "found", "half", "Qa"} {
					if !strings.Contains(kept.String(), what) {
						t.Errorf("%q is not in the terminal:\n%s", what, kept.String())
					}
				}
			})
		})
	}
}

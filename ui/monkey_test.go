package ui_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cairn/ui/uitest"
)

// TestRandomInputNeverBreaksAScreen presses random keys on all screens while
// answers stream and the size changes. The driver fails when a view does not
// fit.
func TestRandomInputNeverBreaksAScreen(t *testing.T) {
	keys := []string{
		"enter", "esc", "ctrl+c", "ctrl+s", "ctrl+n", "ctrl+x", "f", "t", "u", "l", "up", "down", "left", "right", "pgup", "pgdown",
		"home", "end", "ctrl+o", "ctrl+t", "ctrl+r", "ctrl+j", "alt+enter", "alt+up", "tab", "f1", "?", "/", "c", "r", "d", "backspace",
		"ctrl+w", "ctrl+k", "ctrl+y", "ctrl+_", "ctrl+pgup", "ctrl+pgdown", "alt+b", "x", "ctrl+u", "會", "é",
	}
	texts := []string{"word ", "模板 vault", "/retry\n", "/copy", "/rename x", "/remember y", "👩‍👩‍👧‍👦", strings.Repeat("line\n", 40), "a\tb", "\x1b[2J"}
	for seed := range uint64(6) {
		in(t, func(t *testing.T, w *uitest.World) {
			r := rand.New(rand.NewPCG(seed, 1))
			invoices(w)
			w.Tell("two", "Second talk", time.Now(), "hello", "hello *two*\n\n```\ncode\n```\n")
			d := w.Open("q3", 80, 24)
			for range 500 {
				switch r.IntN(12) {
				case 0:
					d.Paste(texts[r.IntN(len(texts))])
				case 1:
					d.Resize(r.IntN(130), r.IntN(45))
				case 2:
					d.Wait(time.Duration(r.IntN(800)) * time.Millisecond)
				case 3:
					d.Type(texts[r.IntN(4)])
				default:
					d.Press(keys[r.IntN(len(keys))])
				}
				if strings.ContainsAny(d.Screen(), "\x1b\t\r") {
					t.Fatalf("a control character is drawn:\n%q", d.Screen())
				}
				if d.Quit() {
					d = w.Open("q3", 80, 24)
				}
			}
		})
	}
}

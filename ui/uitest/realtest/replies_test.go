//go:build unix

package realtest

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// question finds what a program asks a terminal: its colours, the place of its
// cursor, what it is, which keys it has.
var question = regexp.MustCompile(`\x1b\](?:10|11);\?|\x1b\[\??6n|\x1b\[[>=]?c|\x1b\[\?u|\x1b\[>q`)

// lateReplies are what a terminal far away answers to them, whole and in pieces.
func lateReplies() []string {
	all := []string{
		"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:0000/0000/0000\x07", "\x1b[12;40R", "\x1b[?12;40R", "\x1b[?62;4;22c", "\x1b[>1;10;0c",
		"\x1b[?0u", "\x1bP>|far away 1.0\x1b\\", "\x1b[?2026;2$y",
	}
	return append(all, strings.Join(all, ""), strings.Join(all, "")[:40], strings.Join(all, "")[40:])
}

// TestLateRepliesOfTheTerminalAreNotTyped answers what was asked at the start long
// after it, while an answer streams, after a change of size and of the theme. None
// of it is in the box, and nothing is asked again.
func TestLateRepliesOfTheTerminalAreNotTyped(t *testing.T) {
	t.Parallel()
	s := newTalker(t)
	w := keyed(t, s.URL).open("-s", "late")
	w.shows("> write a message")
	asked := len(question.FindAllString(w.written(), -1))
	if asked == 0 {
		t.Fatal("nothing is asked at the start")
	}
	replies := func(when string) {
		t.Helper()
		time.Sleep(300 * time.Millisecond) // as late as they come from far away
		for _, r := range lateReplies() {
			w.send(r)
		}
		w.send("!") // all has arrived once this is seen
		screen := w.shows("> !")
		if _, box, _ := strings.Cut(screen, "> !"); strings.TrimSpace(strings.SplitN(box, "\n", 2)[0]) != "" {
			t.Errorf("%s the box holds more than what was typed:\n%s", when, screen)
		}
		for _, piece := range []string{"rgb:", "40R", "22c", "far away", "$y"} {
			if strings.Contains(screen, piece) {
				t.Errorf("%s %q is shown:\n%s", when, piece, screen)
			}
		}
		w.send("\x7f")
		w.hides("> !")
	}
	replies("at the start")
	w.send("question slow" + enter)
	w.shows("half of question slow")
	replies("while an answer streams")
	w.stops()
	w.shows("> write a message")

	w.mu.Lock()
	w.seen.Resize(100, 30)
	w.mu.Unlock()
	if err := pty.Setsize(w.tty, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	replies("after a change of size")
	w.send("/theme high-contrast" + enter)
	w.shows("high-contrast")
	replies("after a change of the theme")
	if now := question.FindAllString(w.written(), -1); len(now) != asked {
		t.Errorf("it asks again: %q", now[asked:])
	}
	w.send(ctrlD)
	w.ends()
}

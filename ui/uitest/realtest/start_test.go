//go:build unix

package realtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	enter   = "\r"
	ctrlD   = "\x04"
	homeKey = "\x1b[H"
)

func TestTheFirstFrameComesOnATerminalThatNeverAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	w := h.open()
	w.shows("Welcome to cairn", "enter start", "Model     offline/cairn")
	w.send("typed")
	w.shows("New chat · offline/cairn", "> typed")
	w.send("\x15" + ctrlD)
	w.ends()
	w = h.open()
	w.shows("New chat · offline/cairn", "> write a message", "? help")
	w.hides("Welcome")
}

func TestTheFirstStartWithAnEmptyHomeAnswersAndSaysHowToComeBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	w := h.open()
	w.send("typed ahead, ") // before the first frame
	w.shows("> typed ahead,")
	w.send("\x15hello" + enter)
	w.shows("hello · offline/cairn", "cairn without a language model", "saved")
	w.hides("esc esc stop")
	w.send(ctrlD)
	w.ends()
	screen := w.shows("To come back: cairn -r ")
	_, id, _ := strings.Cut(screen, "To come back: cairn -r ")
	id, _, _ = strings.Cut(id, "\n")
	w = h.open("-r", strings.TrimSpace(id))
	w.shows("hello · offline/cairn", "start cairn again")
}

func TestAnAnswerThatWasKilledGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	w := h.open("-s", "Long Walk")
	w.shows(`"Long Walk" is session long-walk`)
	w.send("long markdown 1200 words" + enter)
	w.shows("Stones along the way")
	early, second := w.writes(1)
	w.writes(second + 3)
	w.kill()

	w = h.open("-c")
	w.shows("an answer was interrupted", "c continue", "r retry", "d drop")
	w.send(homeKey)
	w.shows("you ·", "Stones along the way", "End to follow")
	w.send("c")
	w.shows("● ")
	w.hides("● ")
	w.send(ctrlD)
	w.ends()

	said := h.tells("sessions", "show", "long-walk")
	if !strings.Contains(said, "interrupted") || strings.Count(said, "assistant (") != 2 {
		t.Errorf("the half answer and its rest are not both kept:\n%s", said)
	}
	for _, line := range prose.FindAllString(early, -1) {
		if !strings.Contains(said, line) {
			t.Errorf("a line that stood there seconds before the kill is lost: %q\n%s", line, said)
		}
	}
}

// seconds is how long an answer is being written, as the screen says it.
var seconds = regexp.MustCompile(`● writing… (\d+)s`)

// writes waits until an answer has been written for some seconds at least, and returns
// how many they are: a busy machine leaves some out.
func (w *window) writes(least int) (screen string, n int) {
	w.t.Helper()
	screen = w.wait(fmt.Sprintf("an answer of %d seconds", least), func(screen string) bool {
		m := seconds.FindStringSubmatch(screen)
		if m == nil {
			return false
		}
		var err error
		n, err = strconv.Atoi(m[1])
		return err == nil && n >= least
	})
	return screen, n
}

// prose finds whole lines of words without any markup.
var prose = regexp.MustCompile(`(?m)^[A-Za-z;,. ]{60,80}\b`)

//go:build unix

package realtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// asker asks its questions one by one, each in a process of its own, and again
// as long as the session is somebody else's. It returns the questions and how
// often it had to wait.
func (h home) asker(name, session string, n int) (asked []string, waits int) {
	h.t.Helper()
	for i := range n {
		question := fmt.Sprintf("question %d of %s", i, name)
		for {
			out, errs, code := h.answered("-q", "-p", "-s", session, question)
			if code == 0 {
				if strings.TrimSpace(out) != answerTo(question) {
					h.t.Errorf("%q: answered %q", question, out)
				}
				break
			}
			if code != 6 || !strings.Contains(errs, "pid ") || waits > 1000*n {
				h.t.Errorf("%q: exit code %d after %d waits: %s", question, code, waits, errs)
				return asked, waits
			}
			waits++
		}
		asked = append(asked, question)
	}
	return asked, waits
}

// sideBySide lets two askers ask at the same time.
func (h home) sideBySide(n int, sessions [2]string) (asked [2][]string, waits int) {
	var wait sync.WaitGroup
	var waited [2]int
	for i, session := range sessions {
		wait.Go(func() { asked[i], waited[i] = h.asker(string(rune('A'+i)), session, n) })
	}
	wait.Wait()
	return asked, waited[0] + waited[1]
}

// TestTwoProcessesShareOneSession lets two of them ask in one session as fast
// as they can.
func TestTwoProcessesShareOneSession(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	n := times(t, turnsEnv, 5)
	asked, waits := h.sideBySide(n, [2]string{"shared", "shared"})
	nothingLost(t, h.conversation("shared"), asked[0], asked[1])
	t.Logf("%d turns each, %d times the other one had the session", n, waits)
	h.tells("db", "check")
}

// TestTwoProcessesShareOneDirectory lets each ask in a session of its own.
func TestTwoProcessesShareOneDirectory(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	n := times(t, turnsEnv, 5)
	asked, waits := h.sideBySide(n, [2]string{"one", "other"})
	if waits != 0 {
		t.Errorf("a session of its own was somebody else's %d times", waits)
	}
	nothingLost(t, h.conversation("one"), asked[0])
	nothingLost(t, h.conversation("other"), asked[1])
	h.tells("db", "check")
}

// TestTwoWindowsTakeASessionOver lets two windows take one session from each
// other, turn by turn, and every third time in the middle of an answer.
func TestTwoWindowsTakeASessionOver(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	h.tells("-q", "-p", "-s", "shared", "question first")
	windows := [2]*window{h.open("-s", "shared"), nil}
	windows[0].shows("answer to question first", "> write a message")
	windows[1] = h.open("-s", "shared")
	windows[1].shows("answer to question first", "read-only")
	asked := [2][]string{{"question first"}, nil}
	for i := range 2 * times(t, turnsEnv, 3) {
		mine, other := windows[i%2], windows[(i+1)%2]
		mine.deadline.Reset(patience)
		other.deadline.Reset(patience)
		if i > 0 {
			mine.send("\x18w")
			mine.shows("owns the session now")
			other.shows("read-only")
		}
		question := fmt.Sprintf("question %d", i)
		if i%3 == 2 {
			question += " slow"
			mine.send(question + enter)
			mine.shows("half of " + question)
			other.send("\x18w")
			other.shows("owns the session now", "an answer is paused")
			other.send("c")
			other.shows(answerTo(question))
			other.hides("esc esc stop")
			mine.shows("read-only", answerTo(question))
			mine.send("\x18w")
			mine.shows("owns the session now")
		} else {
			mine.send(question + enter)
			mine.shows(answerTo(question))
			mine.hides("esc esc stop")
			other.shows(answerTo(question)) // a reader looks on
		}
		asked[i%2] = append(asked[i%2], question)
	}
	for _, w := range windows {
		w.send(ctrlD)
		w.ends()
	}
	nothingLost(t, h.conversation("shared"), asked[0], asked[1])
	h.tells("db", "check")
}

//go:build unix

package cli

import (
	"bufio"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// What was typed before a question appeared is gone, whether its line was ended
// or not, and what is typed after it is read.
func TestWhatWasTypedBeforeIsDiscarded(t *testing.T) {
	t.Parallel()
	keyboard, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() {
		_ = terminal.Close()
		_ = keyboard.Close()
	})
	// The terminal echoes a line once it has taken it in.
	echo := bufio.NewReader(keyboard)
	taken := func(text string) {
		t.Helper()
		if _, err := keyboard.WriteString(text); err != nil {
			t.Fatal(err)
		}
		for range strings.ReplaceAll(text, "\n", "\r\n") {
			if _, err := echo.ReadByte(); err != nil {
				t.Fatal(err)
			}
		}
	}
	taken("y\ny")
	if err := discard(terminal); err != nil {
		t.Fatal(err)
	}
	taken("no\n")
	if line, err := bufio.NewReader(terminal).ReadString('\n'); err != nil || line != "no\n" {
		t.Errorf("%q was read, %v", line, err)
	}
}

//go:build unix

package realtest

import (
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// modeSet finds modes that are set and undone.
var modeSet = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)

func TestWhatAKilledChatLeftInTheTerminalIsUndone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	w := h.open("-s", "killed")
	w.send(enter)
	w.shows("> write a message")
	w.kill()
	stty := func() string {
		cmd := exec.Command("stty", "-a")
		cmd.Stdin = w.tty
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("stty -a: %v\n%s", err, out)
		}
		return string(out)
	}
	other := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.seen.IsAltScreen()
	}
	if !strings.Contains(stty(), "-icanon") || !other() {
		t.Fatal("it left nothing behind")
	}
	before := len(modesOn(w.written()))

	reset := h.command("doctor", "--reset-terminal")
	reset.Stdin, reset.Stdout, reset.Stderr = w.tty, w.tty, w.tty
	reset.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := reset.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tty.WriteString("as before"); err != nil {
		t.Fatal(err)
	}
	w.shows("as before")
	if on := modesOn(w.written()); before == 0 || len(on) > 0 {
		t.Errorf("%d modes were on, and %q are", before, on)
	}
	if other() {
		t.Error("the other screen is shown")
	}
	if s := stty(); strings.Contains(s, "-icanon") || strings.Contains(s, "-echo ") || strings.Contains(s, "-opost") {
		t.Errorf("lines are not edited as before:\n%s", s)
	}
}

// modesOn are the private modes of a terminal that a text sets, or undoes, and does
// not put back. What is on by itself is the cursor and the wrapping of lines.
func modesOn(written string) []string {
	on := map[string]bool{"25": true, "7": true}
	for _, m := range modeSet.FindAllStringSubmatch(written, -1) {
		for name := range strings.SplitSeq(m[1], ";") {
			on[name] = m[2] == "h"
		}
	}
	var odd []string
	for name, set := range on {
		if usual := name == "25" || name == "7"; set != usual {
			odd = append(odd, name)
		}
	}
	return odd
}

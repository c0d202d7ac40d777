//go:build unix

package realtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAnApprovalWaitsForAnAnswerThroughAKill(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	touched := func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "P"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	w := h.open("-s", "work")
	w.shows("> write a message")
	w.send("run: touch P" + enter + "yes, ")
	w.shows("approval needed", "run_command wants to run", "> n  refuse", "> yes,")
	w.send("a 1 p" + enter + paste("y\n"))
	w.shows("approval needed", "> yes, a 1 py")
	w.shows("esc decides later") // it is awake, and was answered by nothing
	if touched() {
		t.Fatal("typing approved the command")
	}
	w.kill()

	w = h.open("-c")
	w.shows("approval needed", "touch P", "esc decides later")
	if touched() {
		t.Fatal("the command ran without consent")
	}
	w.send("y")
	w.shows("approved by", "exit code 0")
	w.hides("approval needed")
	if !touched() {
		t.Error("the command was approved and did not run")
	}
	w.send("\x15\x7f\x15" + ctrlD) // what was pasted ended a line, if that was saved in time
	w.ends()
}

//go:build unix

package sqlite_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cairn/harness"
)

// A driver that is stopped keeps its lock, so only force takes its run; woken, it
// writes nothing more.
func TestStoppedDriverIsFencedByForce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	_, err := q.Submit(t.Context(), submission("r"), harness.Holder{})
	must(t, err)
	// Stopped within a transaction a driver holds the file itself, which is not
	// what is tested: it is woken and stopped again then.
	driver := start(t, "drive", path)
	driver.until(t, "stored")
	signal := func(s syscall.Signal) {
		t.Helper()
		must(t, driver.cmd.Process.Signal(s))
	}
	signal(syscall.SIGSTOP)
	if _, err := q.Claim(t.Context(), "r", harness.Holder{PID: 1}); err == nil {
		t.Fatal("the run of a living driver was claimed")
	} else if h, ok := harness.AsHeld(err); ok && h.PID != driver.cmd.Process.Pid {
		t.Fatalf("it is held by %v, want pid %d", h, driver.cmd.Process.Pid)
	}
	c, err := q.Force(t.Context(), "r", harness.Holder{PID: 1})
	for range 50 {
		if !errors.Is(err, harness.ErrLocked) {
			break
		}
		signal(syscall.SIGCONT)
		driver.until(t, "stored")
		signal(syscall.SIGSTOP)
		c, err = q.Force(t.Context(), "r", harness.Holder{PID: 1})
	}
	must(t, err)
	if !c.Broken || c.Generation < 2 {
		t.Fatalf("claim %+v", c)
	}
	j, err := q.Get(t.Context(), "r")
	must(t, err)
	if j.Run.Worker == nil || j.Run.Worker.PID != 1 {
		t.Fatalf("run %+v", j.Run)
	}
	signal(syscall.SIGCONT)
	reason := ""
	for driver.lines.Scan() {
		if word, rest, _ := strings.Cut(driver.lines.Text(), " "); word == "error" {
			reason = rest
		}
	}
	if !strings.Contains(reason, "taken over by another driver") {
		t.Fatalf("the woken driver ended with %q", reason)
	}
	after, err := q.Get(t.Context(), "r")
	must(t, err)
	if after.Run.Cursor != j.Run.Cursor || after.Run.Worker == nil || after.Run.Worker.PID != 1 {
		t.Fatalf("the woken driver changed the run from %+v to %+v", j.Run, after.Run)
	}
	_, err = q.Append(t.Context(), c, j.Run.Cursor, nil, said(0))
	must(t, err)
}

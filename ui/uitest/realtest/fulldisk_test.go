//go:build linux

package realtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// disk is a small file system for the data of a home.
type disk struct {
	t   *testing.T
	dir string
}

// smallDisk mounts one, which only root may do.
func smallDisk(t *testing.T, h home) disk {
	t.Helper()
	d := disk{t, filepath.Join(h.dir, ".local", "share", "cairn")}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=8m,mode=700"); err != nil {
		t.Skip("no small file system without the right to mount one:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// leave fills the disk until so many bytes are free. A program that writes at the
// same time may take some of them first.
func (d disk) leave(free int64) {
	d.t.Helper()
	for !d.fill(free) {
	}
}

// fill is one try of leave.
func (d disk) fill(free int64) bool {
	d.t.Helper()
	d.empty()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		d.t.Fatal(err)
	}
	fill := int64(s.Bavail)*s.Bsize - free //nolint:gosec // a small file system
	if fill < 0 {
		d.t.Fatalf("only %d bytes are free", fill+free)
	}
	switch err := os.WriteFile(d.ballast(), make([]byte, fill), 0o600); {
	case err == nil, free == 0 && errors.Is(err, syscall.ENOSPC): // full is full
		return true
	case errors.Is(err, syscall.ENOSPC):
		return false
	default:
		d.t.Fatal(err)
		return false
	}
}

// empty gives the space back.
func (d disk) empty() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
}

// fullTurn asks a question while so little is free, and makes space once the
// program complains. It says how that went.
func (h home) fullTurn(d disk, s *talker, free int64, question string) (how string) {
	h.t.Helper()
	if !strings.Contains(question, "held") {
		d.leave(free)
	}
	cmd := h.command("-p", "-s", "full", question)
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	how = "there was room"
	if strings.Contains(question, "held") { // it fills once the question is saved
		select {
		case <-s.arrived:
		case <-time.After(patience):
			h.t.Fatalf("%q does not arrive", question)
		}
		d.leave(free)
		<-s.released
	}
	lines := bufio.NewScanner(stderr)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "no space left") && how == "there was room" {
			how = "waited for space"
			d.empty()
		}
	}
	var exit *exec.ExitError
	switch err := cmd.Wait(); {
	case err == nil && strings.TrimSpace(out.String()) == answerTo(question):
		return how
	case !errors.As(err, &exit) || exit.ExitCode() != 1 || how == "there was room" || out.Len() > 0:
		h.t.Errorf("%d bytes free: %v: %.100q, %q", free, err, out.String(), said)
	}
	d.empty()
	// What was refused is not stored, and is not said to be.
	for _, m := range h.conversation("full") {
		if m.text == question {
			h.t.Errorf("%d bytes free: the turn was refused and its question is stored: %q", free, said)
		}
	}
	if out, errs, code := h.answered("-q", "-p", "-s", "full", question); code != 0 || strings.TrimSpace(out) != answerTo(question) {
		h.t.Errorf("%d bytes free: with space again: exit code %d: %.100q, %s", free, code, out, errs)
	}
	return "was refused"
}

// TestADiskThatIsFullAtAnyWriteLosesNothing lets the disk fill at each write of a
// turn: one page more is free each time.
func TestADiskThatIsFullAtAnyWriteLosesNothing(t *testing.T) {
	t.Parallel()
	s := newTalker(t)
	h := keyed(t, s.URL)
	d := smallDisk(t, h)
	h.tells("-q", "-p", "-s", "full", "question first")
	asked := []string{"question first"}
	hows := map[string]int{}
	n := times(t, spacesEnv, 6)
	for i := range n {
		free := int64(i) * 24 / int64(n) * 4096
		for _, when := range []string{"", " held"} {
			question := fmt.Sprintf("question %d%s long 12000", i, when)
			how := h.fullTurn(d, s, free, question)
			hows[how+when]++
			t.Logf("%d bytes free%s: %s", free, when, how)
			asked = append(asked, question)
			d.empty()
		}
	}
	nothingLost(t, h.conversation("full"), asked)
	h.tells("db", "check")
	if hows["was refused"] == 0 || hows["waited for space held"] == 0 || hows["there was room"] == 0 {
		t.Errorf("the turns went %v: the disk was never full, or always", hows)
	}
	t.Logf("%v", hows)
}

// complains reports whether a chat says that it cannot save.
func complains(screen string) bool {
	return strings.Contains(screen, "space") || strings.Contains(screen, "disk is full")
}

// TestAChatOnAFullDiskSaysSoAndGoesOn fills the disk under an open chat.
func TestAChatOnAFullDiskSaysSoAndGoesOn(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	d := smallDisk(t, h)
	w := h.open("-s", "full")
	w.shows("> write a message")
	w.send("question first" + enter)
	w.shows(answerTo("question first"))
	asked := []string{"question first"}
	for i := range times(t, spacesEnv, 3) {
		w.deadline.Reset(patience)
		free := int64(i) * 16 << 10
		d.leave(free)
		question := fmt.Sprintf("question %d long 3000", i)
		w.send(question + enter)
		full := false
		w.wait("an answer or a complaint", func(screen string) bool {
			full = complains(screen)
			return full || strings.Contains(screen, "done: "+question) && !strings.Contains(screen, "esc esc stop")
		})
		t.Logf("%d bytes free: complained %t", free, full)
		d.empty()
		if full {
			w.wait("the end of the turn", func(screen string) bool {
				return !complains(screen) && !strings.Contains(screen, "esc esc stop")
			})
		}
		asked = append(asked, question)
	}
	w.send(ctrlD)
	w.ends()
	w.shows("To come back: cairn -r full")
	nothingLost(t, h.conversation("full"), asked)
	h.tells("db", "check")
}

// TestNoWayBackIsOfferedToWhatIsNotSaved leaves a chat whose first message found
// the disk full.
func TestNoWayBackIsOfferedToWhatIsNotSaved(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	d := smallDisk(t, h)
	h.tells("-q", "-p", "-s", "other", "question first")
	d.leave(0)
	w := h.open("-s", "fresh")
	w.shows("> write a message")
	w.send("question lost" + enter)
	w.wait("a complaint", complains)
	w.send("\x15" + ctrlD)
	_ = w.cmd.Wait() // it may say that the draft is not saved
	w.wait("the end", func(screen string) bool { return !strings.Contains(screen, "New chat") })
	w.mu.Lock()
	screen := w.seen.String()
	w.mu.Unlock()
	if strings.Contains(screen, "come back") {
		t.Errorf("it says how to come back to what is not saved:\n%s", screen)
	}
	d.empty()
	if out := h.tells("sessions", "list"); strings.Contains(out, "fresh") {
		t.Errorf("%s", out)
	}
}

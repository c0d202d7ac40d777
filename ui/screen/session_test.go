//go:build unix

package screen

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// patience bounds waiting for a program that hangs; it is not a measurement.
const patience = 5 * time.Minute

// session is a program of this test binary in a pseudo terminal.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	ptmx   *os.File
	tty    *os.File
	before *term.State
	log    string

	mu   sync.Mutex
	more *sync.Cond
	out  bytes.Buffer
	over bool // the deadline has passed
}

// openPty is a terminal whose other side can be closed while it is read.
func openPty(t *testing.T) (ptmx, tty *os.File) {
	t.Helper()
	blocking, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err := errors.Join(err, unix.SetNonblock(fd, true), blocking.Close()); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "ptmx"), tty
}

// start runs helper program name in a terminal of 40x10.
func start(t *testing.T, name string, env ...string) *session {
	t.Helper()
	ptmx, tty := openPty(t)
	s := &session{t: t, ptmx: ptmx, tty: tty, log: filepath.Join(t.TempDir(), "log")}
	s.more = sync.NewCond(&s.mu)
	s.resize(40, 10)
	before, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	s.before = before
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append([]string{"TERM=xterm-256color", helperEnv + "=" + name, helperLog + "=" + s.log, "PATH=" + os.Getenv("PATH")}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read()
	}()
	deadline := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
		s.more.Broadcast()
		_ = s.cmd.Process.Kill() // it may have ended just now
	})
	t.Cleanup(func() {
		deadline.Stop()
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait() // killed: an error by design
		}
		_ = tty.Close()
		_ = ptmx.Close()
		<-read
	})
	return s
}

func (s *session) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.ptmx.Read(buf)
		s.mu.Lock()
		s.out.Write(buf[:n])
		s.more.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// resize goes through the program's side; the call makes the other block.
func (s *session) resize(width, height int) {
	s.t.Helper()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := s.ptmx.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// allQuestions are those asked of most terminals.
const allQuestions = askKitty + askName + askModify + askModes + askCapable + askEnd

// emulate is what a terminal of the given size shows of out.
func emulate(t *testing.T, out string, width, height int) string {
	t.Helper()
	em := vt.NewEmulator(width, height)
	// The emulator would wait for somebody to take its answer.
	if _, err := em.WriteString(strings.ReplaceAll(strings.ReplaceAll(out, askBackground, ""), allQuestions, "")); err != nil {
		t.Error(err)
	}
	return em.String()
}

// screen is what the terminal shows.
func (s *session) screen(width, height int) string {
	s.t.Helper()
	return emulate(s.t, s.written(), width, height)
}

// waitShown waits until the terminal of 40x10 shows text, which may have been
// written in pieces.
func (s *session) waitShown(text string) {
	s.t.Helper()
	s.wait(text+" on the screen", func(out string) bool { return strings.Contains(emulate(s.t, out, 40, 10), text) })
}

// wait waits until what was written satisfies ok.
func (s *session) wait(what string, ok func(out string) bool) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !ok(s.out.String()) {
		if s.over {
			s.t.Fatalf("waited in vain for %s; written: %q", what, s.out.String())
		}
		s.more.Wait()
	}
}

func (s *session) waitFor(text string) {
	s.t.Helper()
	s.wait(text, func(out string) bool { return strings.Contains(out, text) })
}

// written is all output so far.
func (s *session) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// end waits for the program's end and returns its exit status.
func (s *session) end() int {
	s.t.Helper()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	s.waitFor(helperBye)
	return s.cmd.ProcessState.ExitCode()
}

// restored checks that the terminal is as it was before the program.
func (s *session) restored() {
	s.t.Helper()
	after, err := term.GetState(s.tty.Fd())
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(after, s.before) {
		s.t.Errorf("the terminal's mode is %+v, was %+v", after, s.before)
	}
	out := s.written()
	at := strings.LastIndex(out, leaveModes)
	if at < 0 {
		s.t.Fatalf("the modes were not undone: %q", out)
	}
	if rest := out[at+len(leaveModes):]; strings.Contains(rest, "\x1b") {
		s.t.Errorf("after the modes were undone came %q", rest)
	}
}

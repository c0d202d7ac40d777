//go:build unix

package screen

import (
	"bytes"
	"errors"
	"fmt"
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
const patience = 60 * time.Second

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

func TestTheTerminalIsRestoredHoweverTheProgramEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, keys string
		signal     os.Signal
		exit       int
		logged     string
	}{
		{name: "quit", keys: "q"},
		{name: "panic in Update", keys: "U", exit: 1, logged: "helperModel).Update"},
		{name: "panic in View", keys: "V", exit: 1, logged: "helperModel).View"},
		{name: "panic in a command", keys: "C", exit: 1, logged: "panicky"},
		{name: "panic in a sequence", keys: "S", exit: 1, logged: "panicky"},
		{name: "panic in a batch", keys: "B", exit: 1, logged: "panicky"},
		{name: "panic in a goroutine", keys: "G", exit: 1, logged: "panicky"},
		{name: "closed from elsewhere", keys: "X"},
		{name: "SIGTERM", signal: syscall.SIGTERM, exit: 1},
		{name: "SIGHUP", signal: syscall.SIGHUP, exit: 1},
		{name: "SIGQUIT", signal: syscall.SIGQUIT, exit: 1, logged: "goroutine"},
		{name: "SIGINT", signal: syscall.SIGINT, exit: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "chat", helperMouse+"=1")
			s.waitFor("ready")
			if tc.signal != nil {
				if err := s.cmd.Process.Signal(tc.signal); err != nil {
					t.Fatal(err)
				}
			}
			s.send(tc.keys)
			if got := s.end(); got != tc.exit {
				t.Errorf("exit status %d, want %d; written %q", got, tc.exit, s.written())
			}
			s.restored()
			if !strings.Contains(s.written(), mouseOff+keysOff+leaveModes) {
				t.Error("reports of the mouse are still on")
			}
			log, err := os.ReadFile(s.log)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(log), tc.logged) {
				t.Errorf("the log has no %q: %s", tc.logged, log)
			}
		})
	}
}

func TestAPanicBeforeTheProgramRunsIsCaught(t *testing.T) {
	t.Parallel()
	s := start(t, "chat", helperEarly+"=1")
	if got := s.end(); got != 1 {
		t.Errorf("exit status %d", got)
	}
	s.restored()
	log, err := os.ReadFile(s.log)
	if err != nil || !strings.Contains(string(log), "panicky") {
		t.Errorf("the log is %q, %v", log, err)
	}
}

func TestTheMouseIsReportedOnRequest(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	if strings.Contains(s.written(), mouseOn) {
		t.Error("it is reported without a request")
	}
	s.send("M")
	s.waitFor(mouseOn)
	s.send("\x1b[<65;10;5M")
	s.waitShown("wheel down at 9,4")
	s.send("q")
	s.end()
	s.restored()
}

func TestRedrawWritesEverything(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("R")
	s.wait("a second frame with everything", func(out string) bool { return strings.Count(out, "ready") == 2 })
	s.send("q")
	s.end()
}

func TestATerminalThatNeverAnswersGetsItsFirstFrame(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("hello")
	s.waitShown("hello")
	s.send("q")
	s.end()
	out := s.written()
	const questions = askBackground + allQuestions
	asked := strings.Index(out, questions)
	if asked < 0 || asked > strings.Index(out, syncBegin) || strings.Count(out, questions) != 1 {
		t.Errorf("the terminal is asked once, before the first frame: %q", out)
	}
	out = strings.Replace(out, questions, "", 1)
	for _, query := range []string{askBackground, "\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b[?u", "$p", "\x1b]10;?", "\x1b[18t", "\x1bP"} {
		if strings.Contains(out, query) {
			t.Errorf("%q was asked", query)
		}
	}
}

func TestTheBackgroundIsToldInTimeAndLateRepliesVanish(t *testing.T) {
	t.Parallel()
	const answer = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
	for _, tc := range []struct{ name, env, want string }{
		{"answered", "", "[light]"},
		{"late", helperLate + "=1", "[]"},
		{"dark by the environment", "COLORFGBG=15;0", "[dark]"},
		{"light by the environment", "COLORFGBG=0;default;15", "[light]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "chat", tc.env)
			s.waitFor("ready")
			s.send(answer + answer + "\x1b[3;1R\x1b]10;rgb:0/0/0\x07end")
			s.waitShown("end")
			out := s.screen(40, 10)
			s.send("q")
			s.end()
			if !strings.Contains(out, tc.want) || strings.Contains(out, "rgb") {
				t.Errorf("want %s and nothing typed on\n%s", tc.want, out)
			}
			if asked := strings.Contains(s.written(), askBackground); asked == strings.HasPrefix(tc.env, "COLORFGBG") {
				t.Errorf("asked: %v", asked)
			}
		})
	}
}

func TestAPasteOfAMegabyteArrivesWhole(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	text := strings.Repeat("a line of a paste, with a number of words.\r\n", 24_000)
	s.send(pasteBegin + text + pasteEnd + "after")
	s.waitShown("after")
	want := fmt.Sprintf("paste %d %08x", len(text)-24_000, sum(strings.ReplaceAll(text, "\r\n", "\n")))
	if got := s.screen(40, 10); !strings.Contains(got, want) {
		t.Errorf("the screen lacks %q:\n%s", want, got)
	}
	s.send("q")
	s.end()
}

func TestAStormOfSizesLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	for i := range 40 {
		s.resize(1+(i*37)%150, 1+(i*23)%60)
		s.send("x")
	}
	s.resize(0, 0)
	s.resize(53, 13)
	s.wait("the last size", func(out string) bool { return strings.Contains(emulate(t, out, 53, 13), "53x13") })
	s.send("end")
	s.wait("the last size and key", func(out string) bool { return strings.Contains(emulate(t, out, 53, 13), "xend") })
	m := &helperModel{width: 53, height: 13, input: strings.Repeat("x", 40) + "end", seen: "[]"}
	fresh := newGlass(53, 13)
	fresh.show(t, m.View(), caret{})
	if got, want := s.screen(53, 13), fresh.String(); got != want {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
	s.send("q")
	s.end()
}

func TestACommandGetsTheTerminalAndGivesItBack(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("E")
	s.waitFor("child speaks: canonical")
	s.send("typed to the child\n")
	s.waitFor("child heard typed to the child")
	s.waitShown("exec done: <nil>")
	s.send("back")
	s.waitShown("back")
	out := s.written()
	if strings.Count(out, enterModes) != 2 || strings.Count(out, leaveModes) != 1 {
		t.Errorf("modes were set and undone %d and %d times", strings.Count(out, enterModes), strings.Count(out, leaveModes))
	}
	if strings.Count(out, askBackground) != 1 {
		t.Error("the background was asked for again")
	}
	s.send("q")
	s.end()
	s.restored()
}

func TestAnInterruptIsForWhoeverHasTheTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("I")
	s.waitFor("child waits")
	s.send("\x03")
	s.waitShown("child has ended")
	s.send("q")
	if got := s.end(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	s.restored()
}

func TestControlSequencesGoBetweenFrames(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("K")
	s.waitFor("\x1b]52;c;aGk=\x07")
	out := s.written()
	before := out[:strings.Index(out, "\x1b]52;")]
	if strings.Count(before, syncBegin) != strings.Count(before, syncEnd) {
		t.Errorf("it was written within a frame: %q", out)
	}
	s.send("q")
	s.end()
}

// TestStoppingHandsTheTerminalBack has a leader of the session as a shell
// between us and the program, since the system stops only programs that
// somebody can continue.
func TestStoppingHandsTheTerminalBack(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"key", "signal", "surprise"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := start(t, "shell", helperStop+"="+how)
			s.waitFor("ready")
			if how == "key" {
				s.send("\x1a")
			}
			if how != "surprise" { // then nobody asked us
				s.waitFor("stopped: terminal restored")
			}
			s.waitFor("continued")
			s.wait("a fresh frame", func(out string) bool {
				_, after, ok := strings.Cut(out, "continued")
				return ok && strings.Contains(emulate(t, after, 40, 10), "resumed")
			})
			s.send("again")
			s.waitShown("again")
			s.send("q")
			if got := s.end(); got != 0 {
				t.Errorf("exit status %d", got)
			}
			s.restored()
		})
	}
}

// TestStoppingWithoutAShellGoesOn: nobody could continue us, so we must not
// wait for it for ever.
func TestStoppingWithoutAShellGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("\x1a")
	s.waitShown("resumed")
	s.send("q")
	if got := s.end(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	s.restored()
}

// TestNothingIsLeftForTheShell: reports of the mouse and replies that come with
// the last key are not for the next program.
func TestNothingIsLeftForTheShell(t *testing.T) {
	t.Parallel()
	s := start(t, "chat", helperMouse+"=1")
	s.waitFor("ready")
	s.send("D")
	s.waitShown("deaf")
	s.send("\x1b[<64;10;5M\x1b]11;rgb:0/0/0\x1b\\")
	s.end()
	s.restored()
	if _, err := term.MakeRaw(s.tty.Fd()); err != nil { // else only whole lines count
		t.Fatal(err)
	}
	n, err := 0, error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(s.tty.Fd()), Events: unix.POLLIN}}, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		b := make([]byte, 64)
		n, err := s.tty.Read(b)
		t.Errorf("the shell would read %q... (%v)", b[:n], err)
	}
}

func TestATerminalThatGoesAwayEndsTheProgram(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	if err := errors.Join(s.tty.Close(), s.ptmx.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err == nil {
		t.Error("exit status 0")
	}
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), ErrHangup.Error()) && !strings.Contains(string(log), "hangup") {
		t.Errorf("the log has no %q: %s", ErrHangup, log)
	}
}

func TestPlainOutputIsNeededWithoutATerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	ptmx, tty := openPty(t)
	t.Cleanup(func() { _, _ = ptmx.Close(), tty.Close() })
	for _, tc := range []struct {
		name    string
		in, out *os.File
		kind    string
		want    error
	}{
		{"output to a file", tty, file, "xterm", ErrNotTerminal},
		{"input from a file", file, tty, "xterm", ErrNotTerminal},
		{"dumb", tty, tty, "dumb", ErrDumb},
		{"unset", tty, tty, "", ErrDumb},
	} {
		getenv := func(name string) string { return map[string]string{"TERM": tc.kind}[name] }
		if _, err := Open(tc.in, tc.out, Options{Getenv: getenv}); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		}
	}
}

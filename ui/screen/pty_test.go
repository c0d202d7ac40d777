//go:build unix

package screen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

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
	const questions = askBackground + askGraphics + askCells + allQuestions
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
		{"answered", helperClock + "=10ms", "[light]"},
		{"late", helperClock + "=" + (2 * backgroundWait).String(), "[]"},
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

//go:build unix

// Package realtest runs the program itself in a pseudo terminal, built as it
// is shipped, with a home directory of its own and no key.
//
// The one thing to know: nothing in it answers for the terminal, and all
// waiting is for text on the emulated screen, bounded by patience alone.
package realtest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
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

const (
	// patience bounds waiting for a program that hangs; it is not a measurement.
	patience = 5 * time.Minute

	width, height = 80, 24
)

// binaryEnv names the built program for the tests.
const binaryEnv = "CAIRN_REALTEST_BINARY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(towerEnv); dir != "" {
		if err := serveTower(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("the program itself is not built and tried under -short")
		os.Exit(0)
	}
	os.Exit(run(m))
}

// run builds the program once for all tests.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cairn-realtest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	binary := filepath.Join(dir, "cairn")
	build := exec.Command("go", "build", "-o", binary, "cairn")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv(binaryEnv, binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// home is a person with nothing set up.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T) home {
	t.Helper()
	return home{t, t.TempDir()}
}

// command is the program with this home and nothing else in its environment.
func (h home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv(binaryEnv), args...)
	cmd.Dir = h.dir
	cmd.Env = []string{"HOME=" + h.dir, "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "OLLAMA_HOST=127.0.0.1:1"}
	return cmd
}

// tells runs the program to its end without a terminal.
func (h home) tells(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("cairn %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// window is the program in a terminal.
type window struct {
	t      *testing.T
	cmd    *exec.Cmd
	ptmx   *os.File
	tty    *os.File
	before *term.State

	mu   sync.Mutex
	more *sync.Cond
	seen *vt.Emulator
	raw  []byte // all that was written
	over bool   // patience is at its end
	dead bool   // it was killed, maybe in the middle of a frame

	// deadline is when it is. Who makes progress may set it anew.
	deadline *time.Timer
}

// open starts the program in a terminal that never answers.
func (h home) open(args ...string) *window {
	h.t.Helper()
	ptmx, tty := openPty(h.t)
	before, err := term.GetState(tty.Fd())
	if err != nil {
		h.t.Fatal(err)
	}
	w := &window{t: h.t, cmd: h.command(args...), ptmx: ptmx, tty: tty, before: before, seen: vt.NewEmulator(width, height)}
	w.more = sync.NewCond(&w.mu)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = tty, tty, tty
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	var drawn, answered sync.WaitGroup
	drawn.Go(w.read)
	// What the emulator would answer. Closing the emulator itself would race
	// with its reader.
	answered.Go(func() { _, _ = io.Copy(io.Discard, w.seen) })
	w.deadline = time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
		w.more.Broadcast()
		_ = w.cmd.Process.Kill() // it may have ended just now
	})
	h.t.Cleanup(func() {
		w.deadline.Stop()
		w.kill()
		err := errors.Join(tty.Close(), ptmx.Close())
		drawn.Wait()
		if err := errors.Join(err, w.seen.InputPipe().(io.Closer).Close()); err != nil {
			h.t.Error(err)
		}
		answered.Wait()
	})
	return w
}

// openPty is a terminal whose other side can be closed while it is read.
func openPty(t *testing.T) (ptmx, tty *os.File) {
	t.Helper()
	blocking, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err := errors.Join(err, unix.SetNonblock(fd, true), blocking.Close()); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "ptmx"), tty
}

// read draws what the program writes on the emulated screen.
func (w *window) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.ptmx.Read(buf)
		w.mu.Lock()
		w.raw = append(w.raw, buf[:n]...)
		if _, err := w.seen.Write(buf[:n]); err != nil {
			w.t.Error(err)
		}
		w.more.Broadcast()
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// What is around each frame.
const frameBegin, frameEnd = "\x1b[?2026h", "\x1b[?2026l"

// whole says that the screen is not drawn by half. The caller holds mu.
func (w *window) whole() bool {
	return w.dead || bytes.LastIndex(w.raw, []byte(frameBegin)) <= bytes.LastIndex(w.raw, []byte(frameEnd))
}

// wait waits for a screen that is as wanted, and returns it.
func (w *window) wait(what string, ok func(screen string) bool) string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		screen := w.seen.String()
		switch {
		case w.whole() && ok(screen):
			return screen
		case w.over:
			w.t.Fatalf("waited in vain for %s; the screen is:\n%s", what, screen)
		}
		w.more.Wait()
	}
}

// shows waits until the screen shows all of want.
func (w *window) shows(want ...string) string {
	w.t.Helper()
	return w.wait(fmt.Sprintf("%q", want), func(screen string) bool {
		for _, s := range want {
			if !strings.Contains(screen, s) {
				return false
			}
		}
		return true
	})
}

// hides waits until the screen does not show unwanted, and returns it.
func (w *window) hides(unwanted string) string {
	w.t.Helper()
	return w.wait("no "+unwanted, func(screen string) bool { return !strings.Contains(screen, unwanted) })
}

// send types s.
func (w *window) send(s string) {
	w.t.Helper()
	if _, err := w.ptmx.WriteString(s); err != nil {
		w.t.Fatal(err)
	}
}

// written is all that the program wrote.
func (w *window) written() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.raw)
}

// stops ends an answer that streams: by esc, and soon enough by another one.
func (w *window) stops() {
	w.t.Helper()
	for running := true; running; {
		w.send("\x1b")
		w.shows("esc again")
		w.send("\x1b")
		running = strings.Contains(w.hides("esc again"), "esc esc stop") // it came too late
	}
}

// kill ends the program as a crash does. It may have ended already.
func (w *window) kill() {
	w.mu.Lock()
	w.dead = true
	w.mu.Unlock()
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait() // killed: an error by design
	}
}

// lastWords come behind all that a program wrote, and show nothing.
const lastWords = "\x1b]7777;over\x07"

// ends waits for the program's own end, after which the terminal is as before, and
// until all that it wrote is read.
func (w *window) ends() {
	w.t.Helper()
	if err := w.cmd.Wait(); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.tty.WriteString(lastWords); err != nil {
		w.t.Fatal(err)
	}
	w.wait("its last words", func(string) bool { return bytes.HasSuffix(w.raw, []byte(lastWords)) })
	after, err := term.GetState(w.tty.Fd())
	if err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(after, w.before) {
		w.t.Errorf("the terminal's mode is %+v, was %+v", after, w.before)
	}
}

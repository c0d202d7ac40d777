//go:build unix

package screen

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// drainMax bounds how often drain reads: somebody may keep typing.
const drainMax = 64

// tty is the terminal as the operating system has it: line discipline, size,
// and reads that can be called off.
type tty struct {
	in, out *os.File
	state   *term.State // as found; nil while it is in force
	wake    [2]int      // a pipe: a byte in it calls off a wait
	early   int         // bytes still to be read that came before raw mode
}

// openTTY checks that in and out are a terminal and prepares waking.
func openTTY(in, out *os.File) (*tty, error) {
	t := &tty{in: in, out: out}
	if !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return nil, ErrNotTerminal
	}
	if err := unix.Pipe(t.wake[:]); err != nil {
		return nil, fmt.Errorf("pipe to call off reads: %w", err)
	}
	for _, fd := range t.wake {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("pipe to call off reads: %w", errors.Join(err, t.close()))
		}
	}
	if t.wake[0] >= unix.FD_SETSIZE || max(in.Fd(), out.Fd()) >= unix.FD_SETSIZE {
		return nil, fmt.Errorf("wait for keys: %w", errors.Join(syscall.EMFILE, t.close()))
	}
	return t, nil
}

// raw takes the terminal out of line mode, once.
func (t *tty) raw() error {
	if t.state != nil {
		return nil
	}
	state, err := term.MakeRaw(t.in.Fd())
	if err != nil {
		return fmt.Errorf("set raw mode: %w", err)
	}
	t.state = state
	// What was typed before went through the terminal's line editing, which
	// makes a new line of enter.
	if n, err := unix.IoctlGetInt(int(t.in.Fd()), pendingRequest); err == nil {
		t.early = n
	}
	return nil
}

// typed gives enter back to what was typed before raw mode.
func (t *tty) typed(b []byte) []byte {
	n := min(t.early, len(b))
	t.early -= n
	for i := range b[:n] {
		if b[i] == '\n' {
			b[i] = '\r'
		}
	}
	return b
}

// again repeats raw after somebody else has set a mode.
func (t *tty) again() error {
	if t.state == nil {
		return nil
	}
	if _, err := term.MakeRaw(t.in.Fd()); err != nil {
		return fmt.Errorf("set raw mode: %w", err)
	}
	return nil
}

// cooked puts the terminal back as raw found it.
func (t *tty) cooked() error {
	if t.state == nil {
		return nil
	}
	state := t.state
	t.state = nil
	if err := term.Restore(t.in.Fd(), state); err != nil {
		return fmt.Errorf("restore terminal mode: %w", err)
	}
	return nil
}

// close releases the pipe. No read may be under way.
func (t *tty) close() error {
	return errors.Join(unix.Close(t.wake[0]), unix.Close(t.wake[1]))
}

// read waits for input, at most for d if d is not 0, and reads some. No bytes
// and no error mean that the time is over. It returns errCalledOff after
// callOff and io.EOF when the terminal has gone.
func (t *tty) read(b []byte, d time.Duration) (int, error) {
	in := int(t.in.Fd())
	for {
		var set unix.FdSet
		set.Set(in)
		set.Set(t.wake[0])
		var limit *unix.Timeval
		if d > 0 {
			tv := unix.NsecToTimeval(int64(d))
			limit = &tv
		}
		n, err := unix.Select(max(in, t.wake[0])+1, &set, nil, nil, limit)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for keys: %w", err)
		case n == 0:
			return 0, nil
		case set.IsSet(t.wake[0]):
			return 0, t.calledOff()
		}
		n, err = unix.Read(in, b)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.EIO), err == nil && n == 0:
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("read keys: %w", err)
		}
		return n, nil
	}
}

// Write writes all of b. A program that had the terminal before may have left
// it unwilling to wait.
func (t *tty) Write(b []byte) (int, error) {
	done := 0
	for {
		n, err := t.out.Write(b[done:])
		done += n
		if !errors.Is(err, unix.EAGAIN) {
			return done, err
		}
		var set unix.FdSet
		set.Set(int(t.out.Fd()))
		if _, err := unix.Select(int(t.out.Fd())+1, nil, &set, nil, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return done, fmt.Errorf("wait to write: %w", err)
		}
	}
}

// drain reads what there is and drops it, waiting at most d for the first of
// it. A reader that still runs may take it instead.
func (t *tty) drain(d time.Duration) error {
	in := int(t.in.Fd())
	var b [4096]byte
	for range drainMax {
		var set unix.FdSet
		set.Set(in)
		limit := unix.NsecToTimeval(int64(d))
		n, err := unix.Select(in+1, &set, nil, nil, &limit)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for the terminal's last words: %w", err)
		case n == 0:
			return nil
		}
		n, err = unix.Read(in, b[:])
		if err != nil || n == 0 { // taken by the reader, or the terminal has gone
			return nil //nolint:nilerr // there is nothing left to read
		}
		d = 0
	}
	return nil
}

// callOff ends the read under way, or the next one.
func (t *tty) callOff() error {
	_, err := unix.Write(t.wake[1], []byte{0})
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("call off read: %w", err)
	}
	return nil
}

func (t *tty) calledOff() error {
	var b [16]byte
	if _, err := unix.Read(t.wake[0], b[:]); err != nil && !errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("call off read: %w", err)
	}
	return errCalledOff
}

// size is the terminal's size in cells, zeros if it does not know.
func (t *tty) size() (width, height int, err error) {
	width, height, err = term.GetSize(t.out.Fd())
	if err != nil {
		return 0, 0, fmt.Errorf("terminal size: %w", err)
	}
	return width, height, nil
}

// watch starts to follow changes of size, requests to stop for a while, and
// requests to end, until done is closed.
func (s *Screen) watch(done <-chan struct{}) {
	size, pause := make(chan os.Signal, 1), make(chan os.Signal, 1)
	again, quit := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	signal.Notify(size, syscall.SIGWINCH)
	signal.Notify(pause, syscall.SIGTSTP)
	signal.Notify(quit, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	s.Go(func() {
		defer signal.Stop(size)
		defer signal.Stop(pause)
		defer signal.Stop(again)
		defer signal.Stop(quit)
		for {
			select {
			case <-done:
				return
			case <-size:
				s.resized()
			case <-pause:
				signal.Stop(pause) // stopping sends it to our group, us included
				s.paused()
				signal.Notify(pause, syscall.SIGTSTP)
				select {
				case <-again:
				default:
				}
			case <-again:
				s.continued()
			case sig := <-quit:
				if s.ends(sig) {
					signal.Stop(quit) // a second one ends the process at once
					if sig == syscall.SIGQUIT {
						s.log.Error("stacks on request", slog.String("stacks", stacks()))
					}
					s.fail(&SignalError{sig})
				}
			}
		}
	})
}

// stacks is what every goroutine is doing.
func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// askStop has watch see the signal that a shell would send to stop us.
func askStop() error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTSTP); err != nil {
		return fmt.Errorf("stop for a while: %w", err)
	}
	return nil
}

// stopSelf stops the process group, as ctrl+z does to other programs, and
// returns once it is continued; at once if nobody could continue it.
//
// The group gets the signal that asks for it. We ourselves need the one that
// cannot be caught: Go keeps its handler of the former once it was caught.
func stopSelf() error {
	orphan, err := orphaned()
	if err != nil || orphan {
		return err
	}
	// The threads of a process do not stop at the same instant.
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return fmt.Errorf("stop process group: %w", err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop process: %w", err)
	}
	<-continued
	return nil
}

// orphaned tells whether no shell watches over our process group: then its
// parent is of another session. With a parent in our own group, a script for
// one, what counts is whether the leader of the session is in it too.
func orphaned() (bool, error) {
	session, err := unix.Getsid(0)
	if err != nil {
		return false, fmt.Errorf("find our session: %w", err)
	}
	group := unix.Getpgrp()
	parents, err := unix.Getpgid(os.Getppid())
	if err == nil && parents == group {
		return session == group, nil
	}
	theirs, err := unix.Getsid(os.Getppid())
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ESRCH) { // of another session, or gone
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("find our parent's session: %w", err)
	}
	return theirs != session, nil
}

package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

// sizeEvery is how often the size is looked up: the console sends no signal.
const sizeEvery = 250 * time.Millisecond

const ctrlZ = 0x1a

// tty is the console: its modes, size, and reads that can be called off. Keys
// come as the same sequences as on other systems.
type tty struct {
	in, out         *os.File
	inMode, outMode *uint32 // as found; nil while they are in force
	wake            windows.Handle
}

// openTTY checks that in and out are a console and prepares waking.
func openTTY(in, out *os.File) (*tty, error) {
	if !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return nil, ErrNotTerminal
	}
	wake, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("event to call off reads: %w", err)
	}
	return &tty{in: in, out: out, wake: wake}, nil
}

// raw takes the console out of line mode, once.
func (t *tty) raw() error {
	if t.inMode != nil {
		return nil
	}
	var in, out uint32
	if err := windows.GetConsoleMode(windows.Handle(t.in.Fd()), &in); err != nil {
		return fmt.Errorf("read console mode: %w", err)
	}
	if err := windows.GetConsoleMode(windows.Handle(t.out.Fd()), &out); err != nil {
		return fmt.Errorf("read console mode: %w", err)
	}
	raw := in &^ (windows.ENABLE_ECHO_INPUT | windows.ENABLE_PROCESSED_INPUT | windows.ENABLE_LINE_INPUT)
	if err := windows.SetConsoleMode(windows.Handle(t.in.Fd()), raw|windows.ENABLE_VIRTUAL_TERMINAL_INPUT); err != nil {
		return fmt.Errorf("set raw mode: %w", err)
	}
	t.inMode = &in
	virtual := uint32(windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING | windows.DISABLE_NEWLINE_AUTO_RETURN)
	if err := windows.SetConsoleMode(windows.Handle(t.out.Fd()), out|virtual); err != nil {
		return fmt.Errorf("set terminal output: %w", errors.Join(err, t.cooked()))
	}
	t.outMode = &out
	return nil
}

// again does nothing: nobody stops a program here and uses its console.
func (t *tty) again() error { return nil }

// cooked puts the console back as raw found it.
func (t *tty) cooked() error {
	var err error
	if t.inMode != nil {
		err = windows.SetConsoleMode(windows.Handle(t.in.Fd()), *t.inMode)
		t.inMode = nil
	}
	if t.outMode != nil {
		err = errors.Join(err, windows.SetConsoleMode(windows.Handle(t.out.Fd()), *t.outMode))
		t.outMode = nil
	}
	if err != nil {
		return fmt.Errorf("restore console mode: %w", err)
	}
	return nil
}

// close releases the event. No read may be under way.
func (t *tty) close() error { return windows.CloseHandle(t.wake) }

// read waits for input, at most for d if d is not 0, and reads some. No bytes
// and no error mean that the time is over. It returns errCalledOff after
// callOff. An event that is no key lets it wait for the next one without a
// limit.
func (t *tty) read(b []byte, d time.Duration) (int, error) {
	limit := uint32(windows.INFINITE)
	if d > 0 {
		limit = uint32(d.Milliseconds())
	}
	event, err := windows.WaitForMultipleObjects([]windows.Handle{t.wake, windows.Handle(t.in.Fd())}, false, limit)
	switch {
	case err != nil:
		return 0, fmt.Errorf("wait for keys: %w", err)
	case event == uint32(windows.WAIT_TIMEOUT):
		return 0, nil
	case event == windows.WAIT_OBJECT_0:
		return 0, errCalledOff
	}
	n, err := t.in.Read(b)
	if errors.Is(err, io.EOF) { // how the os package reports ctrl+z
		b[0] = ctrlZ
		return 1, nil
	}
	if err != nil {
		return n, fmt.Errorf("read keys: %w", err)
	}
	return n, nil
}

// Write writes all of b.
func (t *tty) Write(b []byte) (int, error) { return t.out.Write(b) }

// drain drops what there is.
func (t *tty) drain(time.Duration) error {
	if err := windows.FlushConsoleInputBuffer(windows.Handle(t.in.Fd())); err != nil {
		return fmt.Errorf("drop pending input: %w", err)
	}
	return nil
}

// callOff ends the wait under way, or the next one.
func (t *tty) callOff() error {
	if err := windows.SetEvent(t.wake); err != nil {
		return fmt.Errorf("call off read: %w", err)
	}
	return nil
}

// size is the console's size in cells.
func (t *tty) size() (width, height int, err error) {
	width, height, err = term.GetSize(t.out.Fd())
	if err != nil {
		return 0, 0, fmt.Errorf("terminal size: %w", err)
	}
	return width, height, nil
}

// watch starts to look at the size now and then and to follow requests to end,
// until done is closed. Nothing stops a program for a while here.
func (s *Screen) watch(done <-chan struct{}) {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, os.Interrupt, syscall.SIGTERM)
	s.Go(func() {
		defer signal.Stop(quit)
		tick := time.NewTicker(sizeEvery)
		defer tick.Stop()
		last := s.look()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if size := s.look(); size != last {
					last = size
					s.resized()
				}
			case sig := <-quit:
				if s.ends(sig) {
					signal.Stop(quit)
					s.fail(&SignalError{sig})
				}
			}
		}
	})
}

// askStop does nothing: there is no job control.
func askStop() error { return nil }

// stopSelf does nothing: there is no job control.
func stopSelf() error { return nil }

// typed is what was read: a console gives keys as they are.
func (t *tty) typed(b []byte) []byte { return b }

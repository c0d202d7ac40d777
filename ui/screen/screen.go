// Package screen is what reaches the terminal.
//
// The one thing to know: a Screen owns the terminal alone. It reads every
// byte that the terminal sends and writes every byte that it gets, one write
// a frame, and whatever ends the program, it leaves the terminal as it found
// it. Bubble Tea runs the model's loop and neither reads nor draws.
//
// The model's View is called only when a frame is really drawn, so Update may
// run as often as it likes. Each line of a view is drawn by its differences to
// what is shown. Views must fit the size told by tea.WindowSizeMsg, which
// comes before the first View.
package screen

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/screen/background"
)

var (
	// ErrNotTerminal is returned by Open if input or output is a file or a pipe.
	ErrNotTerminal = errors.New("input and output are not a terminal")
	// ErrDumb is returned by Open if TERM says that the terminal cannot place
	// the cursor.
	ErrDumb = errors.New("the terminal cannot draw a full screen (TERM is unset or dumb)")
	// ErrHangup is returned by Run if the terminal has gone.
	ErrHangup = errors.New("the terminal has gone")

	errCalledOff = errors.New("read called off")
)

const (
	// backgroundWait is how long after the start an answer about the
	// background is passed on, and answers are owed at all.
	backgroundWait = time.Second
	// answerWait is how long an end within that time waits for the answer, so
	// that it does not reach the shell.
	answerWait = 50 * time.Millisecond
	// The size assumed of a terminal that does not know its own.
	fallbackWidth, fallbackHeight = 80, 24
)

// Options for Open. The zero value is usable.
type Options struct {
	Inline bool                // no alternate screen while the model is an [Inliner] that says so
	Images string              // how images are shown; empty is ImagesAuto
	Mouse  MouseMode           // what is reported of the mouse; see Mouse
	Log    *slog.Logger        // for panics and what cannot be returned; nil discards
	Getenv func(string) string // nil is os.Getenv
	Now    func() time.Time    // nil is time.Now
}

// Screen is a terminal in use. Its methods may be called from any goroutine.
type Screen struct {
	log    *slog.Logger
	now    func() time.Time
	tty    *tty
	out    io.Writer                             // the tty, but in tests
	size   func() (width, height int, err error) // the tty's, but in tests
	cell   func() (width, height int)            // the tty's: of a cell in pixels
	opened time.Time
	keysOn string         // what makes keys unambiguous on this terminal
	done   chan struct{}  // closed by Close
	known  *BackgroundMsg // what the environment says of the background

	mu       sync.Mutex // guards what follows and every write
	paint    *painter
	line     *region // without the alternate screen, nil with it
	alt      bool    // which is open for a while none the less
	active   bool    // our modes are in force: frames may be written
	closed   bool
	mouse    MouseMode
	failure  error // why the program has to end
	program  *tea.Program
	early    []tea.Msg // sent before the program ran
	asked    bool      // what the terminal is
	answered bool      // all that was asked
	lit      bool      // the background was told
	follow   following // what may have become of it
	able     Abilities // what the terminal said so far
	told     Abilities // and what of it was passed on
	returned time.Time // when others last gave the terminal back
	images   imaging

	heard  atomic.Bool // somebody wants to know what keys send
	borrow sync.Mutex  // held by whoever has handed the terminal to others
	reader reader
}

// Open takes the terminal: raw mode, alternate screen, pastes and focus
// reported. Close, which Run calls too, gives it back. The errors
// ErrNotTerminal and ErrDumb mean that plain output is to be used.
func Open(in, out *os.File, o Options) (*Screen, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default clock
	}
	kind := o.Getenv("TERM")
	if kind == "" {
		kind = defaultTerm
	}
	if kind == "" || kind == "dumb" {
		return nil, ErrDumb
	}
	t, err := openTTY(in, out)
	if err != nil {
		return nil, err
	}
	s := &Screen{log: o.Log, now: o.Now, tty: t, out: t, size: t.size, cell: t.cell, opened: o.Now(), done: make(chan struct{}), mouse: o.Mouse}
	s.paint = newPainter(kind, fallbackWidth, fallbackHeight)
	s.paint.heed(true)
	if o.Inline {
		s.line = newRegion(kind, fallbackWidth, fallbackHeight)
		s.line.wary = true
	}
	ask := s.prepareImages(o, kind, questions(kind, o.Getenv))
	s.asked = ask != ""
	if dark, known := background.FromEnv(o.Getenv("COLORFGBG")); known {
		s.known = &BackgroundMsg{Dark: dark}
	} else if s.asked {
		ask = askBackground + ask
	}
	if kind != "linux" {
		s.keysOn = keysOn
	}
	s.watch(s.done)
	if err := s.enter(ask); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// enter puts our modes in force and has the next frame draw everything.
func (s *Screen) enter(more string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.active || s.failure != nil {
		return nil
	}
	if err := s.tty.raw(); err != nil {
		return err
	}
	s.active = true
	s.paint.invalidate()
	return s.write([]byte(s.modesOn(s.keysOn) + more))
}

// leave undoes enter. At the last time it also takes what the terminal has
// still to say, which the shell would show as typed.
func (s *Screen) leave(last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return nil
	}
	s.active = false
	err := s.write([]byte(s.images.clear() + s.modesOff()))
	if last {
		err = errors.Join(err, s.tty.drain(s.owed()))
	}
	return errors.Join(err, s.tty.cooked())
}

// owed is how long to wait for an answer that the terminal still owes us. The
// caller holds mu.
func (s *Screen) owed() time.Duration {
	if s.follow.waiting && s.now().Sub(s.follow.asked) <= backgroundWait {
		return answerWait
	}
	if !s.asked || s.answered || s.now().Sub(s.opened) > backgroundWait {
		return 0
	}
	return answerWait
}

// write sends b in one write. The caller holds mu.
func (s *Screen) write(b []byte) error {
	if _, err := s.out.Write(b); err != nil {
		return fmt.Errorf("write to terminal: %w", err)
	}
	return nil
}

// Close gives the terminal back as it was found. It may be called at any time
// and more than once; a program that runs is ended.
func (s *Screen) Close() error {
	err := s.leave(true)
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	p := s.program
	s.mu.Unlock()
	if p != nil {
		p.Kill()
	}
	if !first {
		return err
	}
	close(s.done)
	s.reader.stop()
	return errors.Join(err, s.tty.close())
}

// WriteControl writes a control sequence between two frames; see Control. It
// is dropped while others have the terminal.
func (s *Screen) WriteControl(sequence []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return nil
	}
	return s.write(sequence)
}

// setMouse has the mouse reported in a mode.
func (s *Screen) setMouse(mode MouseMode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mode == s.mouse {
		return nil
	}
	s.mouse = mode
	if !s.active || s.line != nil && !s.alt {
		return nil
	}
	return s.write([]byte(mode.sequence()))
}

// mouseOn is what has the mouse reported, if that is wanted.
func (s *Screen) mouseOn() string {
	switch s.mouse {
	case MouseButtons:
		return mouseOn
	case MouseDrag:
		return mouseDrag
	default:
		return ""
	}
}

// look is the terminal's size as it is now. One that does not know its own
// keeps the last.
func (s *Screen) look() tea.WindowSizeMsg {
	width, height, err := s.size()
	s.report(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if width <= 0 || height <= 0 {
		width, height = s.paint.width, s.paint.height
	}
	s.measureCell()
	return tea.WindowSizeMsg{Width: width, Height: height}
}

// resize has the next frame draw everything at size. It follows the model,
// which has to be told first: a view of another size would be cut.
func (s *Screen) resize(size tea.WindowSizeMsg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paint.resize(size.Width, size.Height)
	if s.line != nil {
		s.line.resize(size.Width, size.Height)
	}
}

// drawable tells whether frames may be written.
func (s *Screen) drawable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

package screen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// SignalError is returned by Run when a signal ended the program.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// Is makes a signal one more way to be cancelled: whoever sees the signal first,
// the program ends the same.
func (e *SignalError) Is(target error) bool { return target == context.Canceled }

// Run runs m until it quits or the screen is closed, gives the terminal back
// and returns the last model. Other ends are errors: a *SignalError, a
// *PanicError, ErrHangup, or the cause of ctx.
func (s *Screen) Run(ctx context.Context, m tea.Model) (tea.Model, error) {
	s.tell()
	s.reader.start(s)
	m, err := s.loop(ctx, m)
	return m, errors.Join(err, s.Close())
}

// loop runs the model until it ends, drawing it.
func (s *Screen) loop(ctx context.Context, m tea.Model) (tea.Model, error) {
	r := &root{screen: s, model: m, dirty: true, urgent: true}
	p := tea.NewProgram(r, tea.WithContext(ctx), tea.WithoutRenderer(), tea.WithInput(nil),
		tea.WithOutput(s.out), tea.WithoutSignalHandler(), tea.WithFilter(filter))
	s.mu.Lock()
	s.program = p
	early, over := s.early, s.closed || s.failure != nil
	s.early = nil
	s.mu.Unlock()
	if over {
		p.Kill()
	}
	s.Go(func() {
		for _, msg := range early {
			p.Send(msg)
		}
	})
	_, err := p.Run()
	r.stop()
	return r.model, s.verdict(ctx, err)
}

// verdict is the error that the end of the program amounts to.
func (s *Screen) verdict(ctx context.Context, err error) error {
	failure, closed := s.failed()
	switch {
	case failure != nil:
		return failure
	case closed:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("run the screen: %w", err)
	}
	return nil
}

// Send gives the model a message. It waits until the loop takes it, and drops
// it once the program has ended. Messages sent before Run are kept for it.
func (s *Screen) Send(msg tea.Msg) {
	s.mu.Lock()
	p := s.program
	if p == nil && !s.closed {
		s.early = append(s.early, msg)
	}
	s.mu.Unlock()
	if p != nil {
		p.Send(msg)
	}
}

// report logs an error that has no other way out.
func (s *Screen) report(err error) {
	if err != nil {
		s.log.Warn("screen", slog.Any("error", err))
	}
}

// filter keeps from Bubble Tea what it would do to the terminal itself.
func filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return suspendMsg{}
	}
	return msg
}

// Pressing is a message that may not wait for the next frame of a stream, such as
// one with an answer's end.
type Pressing interface{ Pressing() bool }

// root stands between Bubble Tea's loop and the model: its View draws, when a
// frame is due, instead of returning text. All of it runs in the loop.
type root struct {
	screen *Screen
	model  tea.Model
	pace   pacer
	dirty  bool // something may have changed since the last frame
	urgent bool // and the person waits for it
	timer  *time.Timer
	due    time.Time // when timer fires; zero if it does not
}

// Init tells the model the size, and the background if it is known, before the
// first frame.
func (r *root) Init() (cmd tea.Cmd) {
	defer r.screen.Recover()
	cmds := []tea.Cmd{r.screen.guard(r.model.Init()), r.update(r.screen.look())}
	if known := r.screen.known; known != nil {
		cmds = append(cmds, r.update(*known))
	}
	return tea.Batch(cmds...)
}

// Update does what concerns the terminal and passes on the rest.
func (r *root) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	m = r //nolint:wastedassign // also after a panic
	defer r.screen.Recover()
	switch msg := msg.(type) {
	case frameMsg:
		r.due = time.Time{}
		return r, nil
	case redrawMsg:
		r.screen.redraw()
		r.dirty, r.urgent = true, true
		return r, nil
	case controlMsg:
		r.screen.report(r.screen.WriteControl(msg))
		return r, nil
	case transmitMsg:
		return r, r.sends(r.screen.transmit(Graphic(msg)))
	case pumpMsg:
		return r, r.pumped()
	case mouseMsg:
		r.screen.report(r.screen.setMouse(MouseMode(msg)))
		return r, nil
	case listenMsg:
		r.screen.heard.Store(bool(msg))
		return r, nil
	case suspendMsg:
		r.screen.report(askStop())
		return r, nil
	case execMsg:
		return r, r.screen.guard(func() tea.Msg { return r.screen.exec(msg) })
	case execDoneMsg:
		cmd = r.update(r.screen.look())
		if msg.done == nil {
			return r, cmd
		}
		return r, tea.Batch(cmd, r.screen.guard(func() tea.Msg { return msg.done(msg.err) }))
	}
	return r, r.update(msg)
}

// redraw has the next frame draw everything.
func (s *Screen) redraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paint.invalidate()
	if s.line != nil {
		s.line.stale = true
	}
}

// update passes msg to the model.
func (r *root) update(msg tea.Msg) tea.Cmd {
	r.dirty = true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.screen.resize(msg)
		r.urgent = true
	case Pressing:
		r.urgent = r.urgent || msg.Pressing()
	case tea.KeyMsg, PasteMsg, tea.MouseMsg, tea.ResumeMsg, BackgroundMsg:
		r.urgent = true
	}
	var cmd tea.Cmd
	r.model, cmd = r.model.Update(msg)
	return r.screen.guard(cmd)
}

// View is called after every Update. It draws if a frame is due, and else sees
// to it that it is called again when one is.
func (r *root) View() string {
	defer r.screen.Recover()
	if !r.dirty || !r.screen.drawable() {
		return ""
	}
	now := r.screen.now()
	if d := r.pace.delay(now, r.urgent); d > 0 {
		r.arm(now, d)
		return ""
	}
	if err := r.draw(); err != nil {
		r.screen.fail(err)
	}
	r.pace.drawn(now, r.urgent)
	r.dirty, r.urgent = false, false
	r.stop()
	return ""
}

// draw draws a frame of the model.
func (r *root) draw() error {
	var above Above
	inline := false
	if m, ok := r.model.(Inliner); ok && r.screen.line != nil {
		above, inline = m.Inline()
	}
	var at caret
	view := r.model.View()
	if c, ok := r.model.(Cursorer); ok {
		at.x, at.y, at.visible = c.Cursor()
	}
	if inline {
		return r.screen.drawInline(above, view, at)
	}
	var over Picture
	if p, ok := r.model.(Pictured); ok {
		over = p.Picture()
	}
	return r.screen.draw(view, at, over)
}

// arm asks for a frame in d, unless one is to come by then.
func (r *root) arm(now time.Time, d time.Duration) {
	due := now.Add(d)
	if !r.due.IsZero() && !due.Before(r.due) {
		return
	}
	r.stop()
	r.due = due
	r.timer = time.AfterFunc(d, func() { r.screen.Send(frameMsg{}) })
}

// stop calls off the frame to come.
func (r *root) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
	r.due = time.Time{}
}

package screen

import (
	"errors"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// interruptWait is how long after others had the terminal an interrupt may
// still be theirs.
const interruptWait = time.Second

// lend gives the terminal to others while use runs, and takes it back. Only
// one use at a time.
func (s *Screen) lend(use func() error) error {
	s.borrow.Lock()
	defer s.borrow.Unlock()
	s.reader.stop()
	s.report(s.leave(false))
	err := use()
	if back := s.enter(""); back != nil {
		return errors.Join(err, back)
	}
	s.reader.start(s)
	s.mu.Lock()
	s.returned = s.now()
	s.mu.Unlock()
	s.tellGone()
	return err
}

// lent tells whether others have the terminal.
func (s *Screen) lent() bool {
	if !s.borrow.TryLock() {
		return true
	}
	s.borrow.Unlock()
	return false
}

// exec runs a command that has the terminal meanwhile.
func (s *Screen) exec(msg execMsg) tea.Msg {
	c := msg.cmd
	if c.Stdin == nil {
		c.Stdin = s.tty.in
	}
	if c.Stdout == nil {
		c.Stdout = s.tty.out
	}
	if c.Stderr == nil {
		c.Stderr = s.tty.out
	}
	return execDoneMsg{s.lend(c.Run), msg.done}
}

// paused stops the program as a shell asks it to. While others have the
// terminal there is nothing to hand over.
func (s *Screen) paused() {
	if s.lent() {
		s.report(stopSelf())
		return
	}
	s.report(s.lend(stopSelf))
	s.resumed()
}

// continued takes the terminal again after a stop that nobody asked us for:
// the shell has used it meanwhile.
func (s *Screen) continued() {
	if s.lent() {
		return
	}
	s.report(s.retake())
	s.tellGone()
	s.resumed()
}

// retake puts our modes in force again.
func (s *Screen) retake() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return nil
	}
	if err := s.tty.again(); err != nil {
		return err
	}
	s.paint.invalidate()
	keys := ""
	if s.keysOn != "" {
		keys = keysAgain
	}
	return s.write([]byte(s.images.clear() + s.modesOn(keys)))
}

// resumed tells the model that the terminal is ours again.
func (s *Screen) resumed() {
	s.Send(s.look())
	s.Send(tea.ResumeMsg{})
}

// resized passes on the size after a change. Also one that is back where it
// was needs a new frame: the terminal has cut what it showed.
func (s *Screen) resized() {
	s.Send(s.look())
	s.tell() // cells may have another size, too
}

// ends tells whether a signal ends the program. An interrupt is for whoever
// has the terminal, and it may have ended that one before we see it.
func (s *Screen) ends(sig os.Signal) bool {
	if sig != os.Interrupt {
		return true
	}
	if s.lent() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now().Sub(s.returned) > interruptWait
}

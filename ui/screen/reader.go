package screen

import (
	"bytes"
	"errors"
	"io"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
)

// reader is the goroutine that reads keys, at most one at a time.
type reader struct {
	mu   sync.Mutex
	tty  *tty
	done chan struct{} // closed when it has ended; nil if none runs
}

// start begins reading for s, unless it is under way.
func (r *reader) start(s *Screen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil || !s.drawable() {
		return
	}
	done := make(chan struct{})
	r.tty, r.done = s.tty, done
	s.Go(func() {
		defer close(done)
		s.read()
	})
}

// stop ends reading and waits for its end. The program's loop must be free to
// take the messages read so far.
func (r *reader) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		return
	}
	if err := r.tty.callOff(); err == nil {
		<-r.done
	}
	r.done = nil
}

// readSize is as much as is read at once; a paste comes in many such portions.
const readSize = 64 << 10

// read passes on what the terminal sends until it is called off.
func (s *Screen) read() {
	buf := make([]byte, readSize)
	var d decoder
	for {
		n, err := s.tty.read(buf, d.wait())
		d.note = s.ear()
		switch {
		case errors.Is(err, errCalledOff):
			return
		case errors.Is(err, io.EOF):
			s.fail(ErrHangup)
			return
		case err != nil:
			s.fail(err)
			return
		case n == 0:
			d.expire(s.take)
		default:
			d.feed(s.tty.typed(buf[:n]), s.take)
		}
		s.tell()
	}
}

// take passes on one message from the terminal.
func (s *Screen) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case answer:
		s.learn(msg)
	case scheme:
		s.Send(BackgroundMsg{Dark: msg.dark})
	case reply:
		if s.lighted() {
			s.Send(BackgroundMsg{Dark: msg.dark})
		}
	case FocusMsg:
		if msg.In {
			s.askAgain()
		}
		s.Send(msg)
	default:
		s.typing()
		s.Send(msg)
	}
}

// ear is who is told of the bytes of keys, nil if nobody wants to know.
func (s *Screen) ear() func(b []byte, msg tea.Msg) {
	if !s.heard.Load() {
		return nil
	}
	return func(b []byte, msg tea.Msg) {
		key, ok := msg.(tea.KeyMsg)
		if ok || msg == nil {
			s.Send(HeardMsg{Bytes: bytes.Clone(b), Key: key, Known: ok})
		}
	}
}

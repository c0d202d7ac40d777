package screen

import "time"

const (
	// askAgainAfter is how long the background is taken to stay as it was: a person
	// who goes back and forth between windows causes no questions.
	askAgainAfter = 5 * time.Second
	// typingFor is how long after a key a person may still be typing.
	typingFor = time.Second
)

// following is what is known of a background that may change. The screen's mu
// guards it.
type following struct {
	asked   time.Time // when it was asked for the last time
	waiting bool      // for that answer
	typed   time.Time // when the last key came
}

// typing notes that a key came.
func (s *Screen) typing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow.typed = s.now()
}

// askAgain asks for the background when the person comes back to the terminal:
// while they were away, its colours may have changed. It is only asked of those
// that have answered before and do not tell of changes by themselves.
func (s *Screen) askAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	since := s.follow.asked
	if since.IsZero() {
		since = s.opened
	}
	if !s.active || !s.lit || s.able.Scheme || s.known != nil || now.Sub(since) < askAgainAfter || now.Sub(s.follow.typed) < typingFor {
		return
	}
	if _, err := s.out.Write([]byte(askBackground)); err != nil {
		return // the next frame tells what is wrong with the terminal
	}
	s.follow.asked, s.follow.waiting = now, true
}

// lighted takes an answer about the background and reports whether it is to be
// passed on: the first one in time after each question. Later ones are no news:
// nobody knows what they are about.
func (s *Screen) lighted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.follow.waiting {
		s.follow.waiting = false
		return now.Sub(s.follow.asked) <= backgroundWait
	}
	late := s.lit || s.known != nil || now.Sub(s.opened) > backgroundWait
	s.lit = true
	return !late
}

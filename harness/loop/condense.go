package loop

import (
	"cairn/harness"
)

// condensing is what is known of condensings in the run.
type condensing struct {
	last *harness.Condensed
	goes int
	// more says that the last go is not over, spent that there is no other.
	more, spent bool
}

// Condensed returns what the run condensed last, nil if it did not.
func (s State) Condensed() *harness.Condensed {
	if s.last == nil {
		return nil
	}
	c := *s.last
	return &c
}

// mayCondense reports whether old messages may be condensed before the next
// answer.
func (c condensing) mayCondense() bool { return !c.spent && (c.more || c.goes < MaxCondense) }

// condense takes a condensing in. A piece that took nothing out ends its go,
// so that no go lasts for ever.
func (s *State) condense(r Condensed) {
	s.last = &r.Condensed
	if !s.more {
		s.goes++
	}
	s.more = r.More && !r.Fruitless && r.Condensed.Dropped+r.Condensed.Cleared > 0
	s.spent = s.spent || r.Fruitless
	s.messages = s.messages[max(0, min(r.Turn, len(s.messages)-MinKept)):]
}

package loop

import (
	"strings"

	"cairn/harness"
)

// between stands between two answers of which both count.
const between = "\n\n"

// speech is the text of the turn's last answer, which may be in several pieces.
type speech struct {
	said string
	// lead is what the next message goes on with, base what even words before a
	// tool call do not replace.
	lead, base string
}

// Answer returns the text of the turn's last answer: that of its last assistant
// message, behind the pieces that it goes on with.
func (s State) Answer() string { return s.said }

// say takes an assistant message in.
func (s *speech) say(m harness.Message) {
	if text := m.Text(); text != "" {
		s.said = s.lead + text
	} else {
		s.said = strings.TrimSuffix(s.lead, between)
	}
	s.lead = s.base
}

// goOn takes in what the loop said for a reason, which may be that the next
// message goes on with the answer so far or adds to it.
func (s *speech) goOn(reason string) {
	switch reason {
	case ReasonText:
		s.lead = s.said
	case ReasonPlan:
		if s.said != "" {
			s.base = s.said + between
		}
		s.lead = s.base
	default:
	}
}

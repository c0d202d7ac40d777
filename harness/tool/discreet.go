package tool

import (
	"context"
	"fmt"

	"cairn/harness"
)

// redactedError is an error with another text.
type redactedError struct {
	error

	text string
}

func (e redactedError) Error() string { return e.text }

func (e redactedError) Unwrap() error { return e.error }

// discreet returns the tool with reasons and diffs that hold no secret: what it
// has against a call is read by the model, and both may quote a file.
func (s *Set) discreet(t Tool) Tool {
	if s.Redact == nil {
		return t
	}
	if judge := t.Judge; judge != nil {
		t.Judge = func(c Call) (Permission, string) {
			p, why := judge(c)
			return p, s.Redact(why)
		}
	}
	if touches := t.Touches; touches != nil {
		t.Touches = func(c Call) (all []Access, err error) {
			defer s.hush(&err)
			return touches(c)
		}
	}
	if propose := t.Propose; propose != nil {
		t.Propose = func(ctx context.Context, c Call) (p harness.Proposal, err error) {
			defer s.hush(&err)
			p, err = propose(ctx, c)
			p.Diff = s.Redact(p.Diff) // it quotes the file and is kept with the run
			return p, err
		}
	}
	return t
}

// hush takes secrets out of an error, also out of that which a panic becomes.
func (s *Set) hush(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the tool broke: %v", p)
	}
	if *err == nil {
		return
	}
	was := (*err).Error()
	if text := s.Redact(was); text != was {
		*err = redactedError{*err, text}
	}
}

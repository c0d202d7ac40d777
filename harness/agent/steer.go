package agent

import (
	"context"
	"errors"

	"cairn/harness/loop"
)

// ErrSteered means that a turn cannot end yet, because somebody said something into
// it meanwhile.
var ErrSteered = errors.New("somebody said something into the turn")

// Hearing is a [Sink] of a run into which people may say something while the turn
// goes on. Its Put stores no record that ends the run while something that was said
// is not delivered: it returns [ErrSteered].
type Hearing interface {
	// Heard returns what was said since the last time and is stored, oldest first.
	Heard(ctx context.Context) []loop.Record
}

// heed takes in what was said into the turn where that may change what comes next,
// and returns what that is.
func (t *Turn) heed(ctx context.Context, cmd loop.Command) loop.Command {
	switch cmd.(type) {
	case loop.CallModel, loop.Rest:
	default:
		return cmd
	}
	h, ok := t.Sink.(Hearing)
	if !ok {
		return cmd
	}
	heard := h.Heard(ctx)
	if len(heard) == 0 {
		return cmd
	}
	for _, r := range heard {
		t.state, _ = loop.Step(t.state, r)
	}
	return t.state.Next()
}

// spokenTo is what an end comes to: one that somebody forestalled is none, and what
// they said is heard next.
func spokenTo(err error) error {
	if errors.Is(err, ErrSteered) {
		return nil
	}
	return err
}

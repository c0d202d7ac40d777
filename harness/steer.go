package harness

import (
	"context"
	"errors"
)

// ErrEnded means that a run is over, so that nothing can be said into it any more.
// What was to be said is the next message then.
var ErrEnded = errors.New("the run has ended")

// Steer is what a person says into a turn that is under way. The model is told it
// before its next request: behind the results of the tools that run, and never in
// the middle of them. A turn that would end goes on for it.
type Steer struct {
	// ID makes it idempotent: said twice with the same ID it is heard once.
	ID string `json:"id"`
	// Message is a user's message of words alone.
	Message Message `json:"message"`
}

// Steerer is an [Engine] of which the runs can be steered while they go on.
type Steerer interface {
	// Steer says something into a run. It is on disk when Steer returns nil, and is
	// heard exactly once whatever happens to the process that drives the run; of
	// several each is heard, in their order. No lease is needed: the run is changed
	// by whoever drives it. A run that rests hears it once it goes on; one that is
	// ended while something waits has it in its conversation. [ErrEnded] if the run
	// is over, [ErrNotFound] if there is none, [errors.ErrUnsupported] if whoever
	// keeps or drives the run is of a version that cannot be steered.
	Steer(ctx context.Context, id RunID, s Steer) error
}

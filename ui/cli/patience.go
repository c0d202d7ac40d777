package cli

import (
	"time"

	"cairn/harness"
)

// storePatience is how long a run waits for a store that takes nothing, such as
// one on a full disk, before it is cancelled.
const storePatience = 30 * time.Second

// patience measures how long the store of a run has taken nothing.
type patience struct{ c <-chan time.Time }

// heed takes an event in: any but another complaint of the store says that the
// run goes on.
func (p *patience) heed(e harness.Event) {
	switch {
	case !takesNothing(e):
		p.c = nil
	case p.c == nil:
		p.c = time.After(storePatience)
	}
}

// stop ends the measuring.
func (p *patience) stop() { p.c = nil }

// over receives once the patience is at its end.
func (p *patience) over() <-chan time.Time { return p.c }

// stopping is the stopping of a run from outside. That it could not be recorded
// is an error of the run as well, whose result says more: it is given time to
// come.
type stopping struct{ errs chan error }

// with stops the run in the background.
func (h *stopping) with(stop func() error) {
	if h.errs == nil {
		h.errs = make(chan error, 3)
	}
	go func() {
		if err := stop(); err != nil {
			time.AfterFunc(closePatience, func() { h.errs <- err })
		}
	}()
}

// failed receives why the run was not stopped.
func (h *stopping) failed() <-chan error { return h.errs }

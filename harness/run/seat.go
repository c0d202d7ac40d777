package run

import (
	"context"
	"fmt"

	"cairn/harness"
)

// seat is the one place for a run in a session, so that two starts at the same
// time cannot close each other's run. Close waits until it is left.
type seat struct {
	request string
	// settled closes when the start is over; run is its run if it got one.
	settled chan struct{}
	run     *active
}

// take takes the session's seat. If the one who sits there was asked for by the
// same request, its run is returned instead, once there is one.
func (l *Local) take(ctx context.Context, id harness.SessionID, request string) (*seat, *active, error) {
	for {
		l.mu.Lock()
		have := l.seats[id]
		switch {
		case l.closed:
			l.mu.Unlock()
			return nil, nil, harness.ErrClosed
		case have == nil:
			s := &seat{request: request, settled: make(chan struct{})}
			l.seats[id] = s
			l.wg.Add(1)
			l.mu.Unlock()
			return s, nil, nil
		}
		same := request != "" && have.request == request
		l.mu.Unlock()
		if !same {
			return nil, nil, fmt.Errorf("session %s: %w", id, harness.ErrBusy)
		}
		select {
		case <-have.settled:
			if have.run != nil {
				return nil, have.run, nil
			}
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// giveUp leaves a seat that got no run.
func (l *Local) giveUp(id harness.SessionID, s *seat) {
	l.mu.Lock()
	delete(l.seats, id)
	l.mu.Unlock()
	close(s.settled)
	l.wg.Done()
}

// begin starts the stretch on a context of its own: whoever started it may
// leave. On an engine that was closed meanwhile it is paused at once.
func (l *Local) begin(ctx context.Context, s *seat, a *active) {
	hard, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	soft, stop := context.WithCancelCause(hard)
	a.cancel, a.soft, a.turn.Soft = cancel, stop, soft
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		a.soft(errPaused)
	}
	l.active[a.info.ID] = a
	s.run, s.request = a, a.info.Request
	close(s.settled)
	go a.drive(hard)
}

// leave takes the stretch, which is over, from its seat: before anybody is told,
// so that whoever was told finds the session free. err says that the end could
// not be stored.
func (l *Local) leave(a *active, err error) {
	a.cancel(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.active, a.info.ID)
	delete(l.seats, a.info.Session)
	if err != nil {
		l.broken[a.info.ID] = a.lease.Generation
	}
}

package model

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The times of the watches.
const (
	// IdleLimit is how long a stream may be silent before it is given up.
	IdleLimit = 180 * time.Second
	// WaitingFirst and WaitingNext are the silences after which a waiting
	// notice is given.
	WaitingFirst = 10 * time.Second
	WaitingNext  = 15 * time.Second
)

// Idle gives an attempt up when nothing has come for Limit, counted from the
// request on and from each delta.
type Idle struct {
	Next Model
	// Limit is 0 for [IdleLimit].
	Limit time.Duration
	// Provider is named in the error.
	Provider string
}

// Stream implements [Model].
func (i Idle) Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error) {
	limit := i.Limit
	if limit == 0 {
		limit = IdleLimit
	}
	idle := &Error{
		Kind: KindIdle, Provider: i.Provider, Retry: true,
		Message: fmt.Sprintf("nothing came for %g seconds, the idle limit", limit.Seconds()),
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(idle) })
	defer timer.Stop()
	reply, err := i.Next.Stream(inner, req, func(d Delta) {
		timer.Reset(limit)
		emit(d)
	})
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(inner), idle) {
		return Reply{}, idle
	}
	return reply, err
}

// Waiting emits DeltaWaiting when nothing of the reply has come for a while:
// after [WaitingFirst], then every [WaitingNext]. Nothing is cancelled.
type Waiting struct{ Next Model }

// notices emits waiting notices beside a stream, never at the same time as the
// stream emits.
type notices struct {
	mu     sync.Mutex
	emit   func(Delta)
	timer  *time.Timer
	waited time.Duration
	next   time.Duration
	// late says that a notice is due and waits for a piece to be passed on,
	// which makes it void.
	late bool
	over bool
}

// Stream implements [Model]. Notices come from another goroutine than the
// reply, which costs the stream nothing; emit is never called twice at a time.
func (w Waiting) Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error) {
	n := &notices{emit: emit, next: WaitingFirst}
	n.mu.Lock()
	n.timer = time.AfterFunc(n.next, n.due)
	n.mu.Unlock()
	defer n.stop()
	return w.Next.Stream(ctx, req, n.pass)
}

// pass emits a piece of the reply: the wait begins anew.
func (n *notices) pass(d Delta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d.Kind == DeltaAlive {
		return
	}
	n.late = !n.timer.Stop()
	n.emit(d)
	n.waited, n.next = 0, WaitingFirst
	n.timer.Reset(n.next)
}

// due emits a notice.
func (n *notices) due() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || n.late {
		n.late = false
		return
	}
	n.waited += n.next
	n.emit(Delta{Kind: DeltaWaiting, Wait: n.waited})
	n.next = WaitingNext
	n.timer.Reset(n.next)
}

// stop ends the notices: none comes after it has returned.
func (n *notices) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	n.timer.Stop()
}

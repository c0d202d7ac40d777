package model

import (
	"context"
	"errors"
	"fmt"
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

// outcome is what a call in the background ended with.
type outcome struct {
	reply Reply
	err   error
	// panicked is the value of a panic, nil if there was none.
	panicked any
}

// Stream implements [Model]. The model below runs on a goroutine of its own,
// so that notices can be emitted on the calling one; it has ended when Stream
// returns.
func (w Waiting) Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error) {
	deltas := make(chan Delta)
	done := make(chan outcome, 1)
	// Should emit panic, nobody takes deltas any more.
	gone := make(chan struct{})
	defer close(gone)
	go func() {
		var o outcome
		// A panic belongs to the caller, who may know what to do about it.
		defer func() { o.panicked = recover(); done <- o }()
		o.reply, o.err = w.Next.Stream(ctx, req, func(d Delta) {
			select {
			case deltas <- d:
			case <-gone:
			}
		})
	}()
	var waited time.Duration
	next := WaitingFirst
	timer := time.NewTimer(next)
	defer timer.Stop()
	for {
		select {
		case d := <-deltas:
			if d.Kind == DeltaAlive {
				continue
			}
			emit(d)
			waited, next = 0, WaitingFirst
			timer.Reset(next)
		case <-timer.C:
			waited += next
			emit(Delta{Kind: DeltaWaiting, Wait: waited})
			next = WaitingNext
			timer.Reset(next)
		case o := <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			return o.reply, o.err
		}
	}
}

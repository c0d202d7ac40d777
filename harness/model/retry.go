package model

import (
	"context"
	"math/rand/v2"
	"time"
)

// The retry policy.
const (
	// Attempts is how often a request is tried in all.
	Attempts = 4
	// FirstWait is the wait before the second attempt; it doubles up to
	// LongestWait.
	FirstWait   = 500 * time.Millisecond
	LongestWait = 60 * time.Second
	// LongestAsked is the longest wait that a server may ask for. If it asks
	// for more, the failure is returned at once, since nobody sits that out.
	LongestAsked = 5 * time.Minute
)

// Retry makes further attempts when an attempt fails in a way that passes. It
// is the only owner of retries: adaptors make one attempt.
type Retry struct {
	Next Model
	// Random returns a number in [0, 1) for the jitter; nil means a random
	// one.
	Random func() float64
}

// Stream implements [Model]. Before another attempt it emits DeltaRetry, and
// when the wait is over DeltaReset, which voids the text of the attempt before.
func (r Retry) Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error) {
	wait, lost := FirstWait, false
	for attempt := 1; ; attempt++ {
		began := false
		reply, err := r.Next.Stream(ctx, req, func(d Delta) {
			began = began || d.Kind == DeltaText || d.Kind == DeltaThinking || d.Kind == DeltaProgress
			emit(d)
		})
		if err == nil {
			reply.Usage.Incomplete = reply.Usage.Incomplete || lost
			return reply, nil
		}
		// What a reply that broke off costs is never told.
		lost = lost || began
		e, ok := AsError(err)
		if !ok || !e.Retry || attempt == Attempts || e.RetryAfter > LongestAsked || ctx.Err() != nil {
			return Reply{}, err
		}
		pause := r.pause(wait, e.RetryAfter)
		emit(Delta{Kind: DeltaRetry, Attempt: attempt + 1, Wait: pause, Err: e, Model: r.another(req, e)})
		if err := sleep(ctx, pause); err != nil {
			return Reply{}, err
		}
		emit(Delta{Kind: DeltaReset, Attempt: attempt + 1})
		wait = min(2*wait, LongestWait)
	}
}

// another returns the model that is asked next, if it is not the one that failed.
func (r Retry) another(req Request, e *Error) string {
	chain, ok := r.Next.(interface{ Next(r Request) string })
	if !ok {
		return ""
	}
	if next := chain.Next(req); next != e.Model {
		return next
	}
	return ""
}

// pause shortens a wait by up to a quarter, so that clients that failed
// together do not come back together, but never below what the server asked.
func (r Retry) pause(wait, asked time.Duration) time.Duration {
	random := r.Random
	if random == nil {
		random = rand.Float64
	}
	return max(wait-time.Duration(random()*float64(wait)/4), asked)
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

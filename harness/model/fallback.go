package model

import (
	"context"
	"sync"
	"time"
)

// Cooldown is how long a failed member of a [Fallback] is passed over.
const Cooldown = 60 * time.Second

// Fallback asks the first of several models that does not fail in a way that
// another one may not: overload, a broken connection, a limit, used-up credit.
// A refused request is refused at once, since the next model would refuse it
// too. Each member does its own retries first.
type Fallback struct {
	// Members are asked in order.
	Members []Model
	// Now is the clock; nil means the real one.
	Now func() time.Time

	mu sync.Mutex
	// cooling is until when a member is passed over.
	cooling map[int]time.Time
}

// Stream implements [Model]. The text of a failed member is voided by
// DeltaReset. Members that failed lately are asked only if all have.
func (f *Fallback) Stream(ctx context.Context, r Request, emit func(Delta)) (Reply, error) {
	order := f.order()
	for n, i := range order {
		reply, err := f.Members[i].Stream(ctx, r, emit)
		if err == nil {
			f.rest(i, time.Time{})
			return reply, nil
		}
		e, ok := AsError(err)
		if !ok || ctx.Err() != nil || !elsewhere(e) {
			return Reply{}, err
		}
		f.rest(i, f.now().Add(max(Cooldown, e.RetryAfter)))
		if n == len(order)-1 {
			return Reply{}, err
		}
		emit(Delta{Kind: DeltaRetry, Attempt: n + 2, Err: e})
		emit(Delta{Kind: DeltaReset, Attempt: n + 2})
	}
	return Reply{}, &Error{Kind: KindConfig, Message: "no model is configured"}
}

// elsewhere reports whether another model may do better.
func elsewhere(e *Error) bool { return e.Retry || Passes(e.Kind) || e.Kind == KindQuota }

// order returns the members to ask: those not cooling, or all if all are.
func (f *Fallback) order() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	var ready, all []int
	for i := range f.Members {
		all = append(all, i)
		if !now.Before(f.cooling[i]) {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return all
	}
	return ready
}

// rest passes a member over until a time; the zero time lets it play again.
func (f *Fallback) rest(i int, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cooling == nil {
		f.cooling = map[int]time.Time{}
	}
	f.cooling[i] = until
}

func (f *Fallback) now() time.Time {
	if f.Now == nil {
		return time.Now() //nolint:forbidigo // the real clock, where none is given
	}
	return f.Now()
}

package tool

import (
	"context"
	"errors"
	"time"
)

const (
	// firstPause is the pause before the second try, unless the tool says
	// otherwise; longestPause is as far as it doubles.
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// transientError marks an error as passing.
type transientError struct{ error }

func (e transientError) Unwrap() error { return e.error }

// Transient marks an error as a passing one, such as a busy server: the call had
// no effect, and the same call may succeed later. What [Tool] says in Retry makes
// it again; without that the model reads the error and decides. Nil stays nil.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return transientError{err}
}

func transient(err error) bool {
	var t transientError
	return errors.As(err, &t)
}

// tries returns how often a call may be made. What may have taken effect and
// cannot be repeated is never repeated.
func (r Retry) tries(replay Replay) int {
	if replay != Safe && replay != Idempotent {
		return 1
	}
	return max(r.Attempts, 1)
}

// pause returns how long to wait after the n-th try, from 1.
func (r Retry) pause(n int) time.Duration {
	wait := r.Wait
	if wait == 0 {
		wait = firstPause
	}
	for range n - 1 {
		if wait >= longestPause {
			break
		}
		wait *= 2
	}
	return min(wait, longestPause)
}

// sleep waits and reports whether the context lasted.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

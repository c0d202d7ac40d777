package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errBusy = errors.New("the server is busy")

func TestPassingFailuresAreTriedAgain(t *testing.T) {
	t.Parallel()
	busy := func(int) (string, error) { return "", fmt.Errorf("fetch: %w", Transient(errBusy)) }
	for name, tc := range map[string]struct {
		replay Replay
		retry  Retry
		run    func(attempt int) (string, error)
		pauses []time.Duration
		want   string
		failed bool
	}{
		"until it works": {Safe, Retry{Attempts: 5}, func(n int) (string, error) {
			if n < 3 {
				return busy(n)
			}
			return "done", nil
		}, []time.Duration{500 * time.Millisecond, time.Second}, "done", false},
		"as often as allowed": {
			Idempotent,
			Retry{Attempts: 3, Wait: 20 * time.Second},
			busy,
			[]time.Duration{20 * time.Second, 30 * time.Second},
			"fetch: the server is busy (tried 3 times)", true,
		},
		"never longer than the longest pause apart": {
			Safe,
			Retry{Attempts: 9},
			busy,
			[]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second},
			"fetch: the server is busy (tried 9 times)", true,
		},
		"not unless the tool says so":  {Safe, Retry{}, busy, nil, "fetch: the server is busy", true},
		"not if it may have an effect": {Manual, Retry{Attempts: 5}, busy, nil, "fetch: the server is busy", true},
		"not for other failures": {Safe, Retry{Attempts: 5}, func(int) (string, error) {
			return "", errBusy
		}, nil, "the server is busy", true},
		"for results that are not ready": {Safe, Retry{Attempts: 2, If: func(r string) bool { return r == "pending" }}, func(n int) (string, error) {
			return []string{"pending", "ready"}[n-1], nil
		}, []time.Duration{500 * time.Millisecond}, "ready", false},
		"for results that never are": {Safe, Retry{Attempts: 2, If: func(r string) bool { return r == "pending" }}, func(int) (string, error) {
			return "pending", nil
		}, []time.Duration{500 * time.Millisecond}, "pending (tried 2 times)", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var attempts []int
				var pauses []time.Duration
				last := time.Now()
				made := running(func(_ context.Context, c Call) (string, error) {
					if c.Attempt > 1 {
						pauses = append(pauses, time.Since(last))
					}
					last = time.Now()
					attempts = append(attempts, c.Attempt)
					if c.Key != "id1" {
						t.Errorf("try %d has the key %q", c.Attempt, c.Key)
					}
					return tc.run(c.Attempt)
				})
				made.Replay, made.Retry = tc.replay, tc.retry
				r := setOf(t, made).Run(t.Context(), callOf("t", ""), Call{})
				if r.Text != tc.want || r.Failed != tc.failed || r.Unknown {
					t.Errorf("got %+v, want %q", r, tc.want)
				}
				if !slices.Equal(pauses, tc.pauses) || len(attempts) != len(tc.pauses)+1 || attempts[len(attempts)-1] != len(attempts) {
					t.Errorf("tries %v with pauses %v, want pauses %v", attempts, pauses, tc.pauses)
				}
			})
		})
	}
}

func TestTriesEndWithTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tries := 0
		made := running(func(context.Context, Call) (string, error) {
			tries++
			return "", Transient(errBusy)
		})
		made.Replay, made.Retry = Safe, Retry{Attempts: 100}
		time.AfterFunc(2*time.Second, cancel)
		began := time.Now()
		r := setOf(t, made).Run(ctx, callOf("t", ""), Call{})
		if !r.Failed || !r.Unknown || !strings.Contains(r.Text, "interrupted") {
			t.Errorf("got %+v", r)
		}
		if took := time.Since(began); took != 2*time.Second || tries != 3 {
			t.Errorf("%d tries in %s", tries, took)
		}
	})
}

func TestTimeoutsAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		made := running(func(ctx context.Context, _ Call) (string, error) {
			tries++
			<-ctx.Done()
			return "", Transient(ctx.Err())
		})
		made.Replay, made.Retry, made.Timeout = Safe, Retry{Attempts: 3}, time.Second
		r := setOf(t, made).Run(t.Context(), callOf("t", ""), Call{})
		if !r.Unknown || !strings.Contains(r.Text, "timed out after 1s") || tries != 1 {
			t.Errorf("%d tries: %+v", tries, r)
		}
	})
}

func TestTransientKeepsTheError(t *testing.T) {
	t.Parallel()
	if err := Transient(errBusy); !errors.Is(err, errBusy) || err.Error() != errBusy.Error() {
		t.Errorf("got %v", err)
	}
	if err := Transient(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

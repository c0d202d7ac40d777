package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// fake is a model made of a function.
type fake func(ctx context.Context, emit func(model.Delta)) (model.Reply, error)

func (f fake) Stream(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
	return f(ctx, emit)
}

var whole = model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "ok"}}, Stop: harness.StopEnd}

// failing fails with each error in turn and then answers.
func failing(calls *int, list ...error) fake {
	return func(_ context.Context, emit func(model.Delta)) (model.Reply, error) {
		*calls++
		if *calls <= len(list) {
			return model.Reply{}, list[*calls-1]
		}
		return whole, nil
	}
}

func passing(after time.Duration) *model.Error {
	return &model.Error{Kind: model.KindServer, Retry: true, RetryAfter: after, Message: "busy"}
}

func TestRetryDoublesItsWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			random float64
			errs   []error
			waits  []time.Duration
			err    string
		}{
			{0, []error{passing(0)}, []time.Duration{500 * time.Millisecond}, ""},
			{0, []error{passing(0), passing(0), passing(0)}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, ""},
			{1, []error{passing(0), passing(0)}, []time.Duration{375 * time.Millisecond, 750 * time.Millisecond}, ""},
			{1, []error{passing(9 * time.Second)}, []time.Duration{9 * time.Second}, ""},
			{0, []error{passing(0), passing(0), passing(0), passing(0)}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, "busy"},
			{0, []error{passing(time.Hour)}, nil, "busy"},
			{0, []error{&model.Error{Kind: model.KindQuota, Message: "no credit"}}, nil, "no credit"},
			{0, []error{&model.Error{Kind: model.KindOverflow, Message: "too long"}}, nil, "too long"},
			{0, []error{errors.New("bug")}, nil, "bug"},
			{0, []error{fmt.Errorf("wrapped: %w", passing(0))}, []time.Duration{500 * time.Millisecond}, ""},
		} {
			var calls int
			var waits []time.Duration
			start := time.Now()
			m := model.Retry{Next: failing(&calls, c.errs...), Random: func() float64 { return c.random }}
			reply, err := m.Stream(t.Context(), model.Request{}, func(d model.Delta) {
				if d.Kind == model.DeltaRetry {
					waits = append(waits, d.Wait)
					if d.Attempt != len(waits)+1 || d.Err == nil {
						t.Errorf("delta %+v", d)
					}
				}
			})
			var total time.Duration
			for _, w := range waits {
				total += w
			}
			if !reflect.DeepEqual(waits, c.waits) || time.Since(start) != total {
				t.Errorf("waited %v in %s, want %v", waits, time.Since(start), c.waits)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || err == nil && len(reply.Parts) != 1 {
				t.Errorf("got %v, want %q", err, c.err)
			}
		}
	})
}

func TestRetryVoidsTheTextOfTheAttemptBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := model.Retry{Next: fake(func(_ context.Context, emit func(model.Delta)) (model.Reply, error) {
			n++
			emit(model.Delta{Kind: model.DeltaText, Text: fmt.Sprint(n)})
			if n == 1 {
				return model.Reply{}, passing(0)
			}
			return whole, nil
		})}
		var kinds []model.DeltaKind
		reply, err := m.Stream(t.Context(), model.Request{}, func(d model.Delta) { kinds = append(kinds, d.Kind) })
		want := []model.DeltaKind{model.DeltaText, model.DeltaRetry, model.DeltaReset, model.DeltaText}
		if err != nil || !reflect.DeepEqual(kinds, want) || !reply.Usage.Incomplete {
			t.Fatalf("%v, %v, %+v", err, kinds, reply.Usage)
		}
	})
}

func TestRetryStopsWaitingWhenCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var calls int
		start := time.Now()
		_, err := model.Retry{Next: failing(&calls, passing(time.Minute))}.Stream(ctx, model.Request{}, func(model.Delta) {})
		if !errors.Is(err, context.DeadlineExceeded) || calls != 1 || time.Since(start) != time.Second {
			t.Fatalf("%v after %d calls and %s", err, calls, time.Since(start))
		}
	})
}

// slow emits deltas of a kind after pauses and then waits for its context.
func slow(kind model.DeltaKind, pauses ...time.Duration) fake {
	return func(ctx context.Context, emit func(model.Delta)) (model.Reply, error) {
		for _, p := range pauses {
			select {
			case <-time.After(p):
				emit(model.Delta{Kind: kind})
			case <-ctx.Done():
				return model.Reply{}, ctx.Err()
			}
		}
		return whole, nil
	}
}

func TestIdleCountsFromTheLastSignOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const minute = time.Minute
		for _, c := range []struct {
			m    fake
			idle bool
		}{
			{slow(model.DeltaText, 2*minute, 2*minute, 2*minute), false},
			{slow(model.DeltaAlive, 2*minute, 2*minute), false},
			{slow(model.DeltaProgress, minute, 4*minute), true},
			{slow(model.DeltaText, 4*minute), true},
		} {
			start := time.Now()
			_, err := model.Idle{Next: c.m, Provider: "p"}.Stream(t.Context(), model.Request{}, func(model.Delta) {})
			e, ok := model.AsError(err)
			if ok != c.idle {
				t.Fatalf("got %v after %s", err, time.Since(start))
			}
			if ok && (e.Kind != model.KindIdle || !e.Retry || !strings.Contains(e.Message, "180 seconds")) {
				t.Fatalf("%+v", e)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := model.Idle{Next: slow(model.DeltaText, minute)}.Stream(ctx, model.Request{}, func(model.Delta) {})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the caller's end became %v", err)
		}
	})
}

func TestWaitingTellsOfSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		var kinds []model.DeltaKind
		see := func(d model.Delta) {
			kinds = append(kinds, d.Kind)
			if d.Kind == model.DeltaWaiting {
				waits = append(waits, d.Wait)
			}
		}
		m := model.Waiting{Next: slow(model.DeltaText, 45*time.Second, 9*time.Second, 12*time.Second)}
		reply, err := m.Stream(t.Context(), model.Request{}, see)
		want := []time.Duration{10 * time.Second, 25 * time.Second, 40 * time.Second, 10 * time.Second}
		if err != nil || len(reply.Parts) != 1 || !reflect.DeepEqual(waits, want) {
			t.Fatalf("%v, waited %v, want %v", err, waits, want)
		}

		waits, kinds = nil, nil
		m.Next = slow(model.DeltaAlive, 6*time.Second, 6*time.Second)
		if _, err = m.Stream(t.Context(), model.Request{}, see); err != nil || !reflect.DeepEqual(kinds, []model.DeltaKind{model.DeltaWaiting}) {
			t.Fatalf("%v, deltas %v", err, kinds)
		}
	})
}

func TestWaitingPassesAPanicOn(t *testing.T) {
	t.Parallel()
	defer func() {
		if v := recover(); v != "oops" {
			t.Fatalf("recovered %v", v)
		}
	}()
	m := model.Waiting{Next: fake(func(context.Context, func(model.Delta)) (model.Reply, error) { panic("oops") })}
	_, err := m.Stream(t.Context(), model.Request{}, func(model.Delta) {})
	t.Fatalf("returned %v", err)
}

func TestNetworkErrorsNameTheHostAndTheReason(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for _, c := range []struct {
		host  string
		err   error
		says  string
		retry bool
	}{
		{"api.example.org", dial, "connection refused", true},
		{"127.0.0.1:11434", dial, "is the server running?", false},
		{"localhost:1234", dial, "is the server running?", false},
		{"api.example.org", &net.DNSError{IsNotFound: true}, "no such host", true},
		{"api.example.org", &url.Error{Op: "Post", URL: "https://api.example.org/?key=sk-secret-1", Err: io.ErrUnexpectedEOF}, "unexpected EOF", true},
		{"api.example.org", errors.New("sk-secret-1 is odd"), "[key] is odd", true},
		{"api.example.org", errors.New("Proxy Authentication Required"), "proxy refused", false},
	} {
		e := model.NetworkError("p", c.host, c.err, "sk-secret-1")
		if e.Kind != model.KindNetwork || e.Retry != c.retry || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, c.host) {
			t.Errorf("%v: %+v", c.err, e)
		}
		if strings.Contains(fmt.Sprintf("%v %v", e, e.Cause), "sk-secret-1") {
			t.Errorf("%v tells the key", e)
		}
	}
}

package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

func TestSessionIsFreeOnceTheResultIsTold(t *testing.T) {
	t.Parallel()
	yes := answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "yes"}}, Stop: harness.StopEnd}, nil
	})
	for n := range 400 {
		s := memory1()
		w := open(t, s, s.journal, yes)
		h := w.start(t, "go", "")
		if n%2 == 0 {
			if _, err := h.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			for e := range h.Events(t.Context(), 0) {
				if e.Type == harness.EventResult {
					break
				}
			}
		}
		if _, err := w.start(t, "go", "").Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameRequestWhileItRunsIsTheSameRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, words(3), func() { time.Sleep(time.Second) })
		ids := make(chan harness.RunID)
		for n := range 4 {
			go func() {
				time.Sleep(time.Duration(n) * 700 * time.Millisecond)
				h, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("go"), Request: "r1"})
				if err != nil {
					t.Error(err)
					ids <- ""
					return
				}
				ids <- h.ID()
			}()
		}
		first := <-ids
		for range 3 {
			if id := <-ids; id != first {
				t.Errorf("one request made the runs %q and %q", first, id)
			}
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOneOfTwoStartsAtOnceIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		s.transcript = &unread{Transcript: s.transcript, slow: time.Second}
		w := equip(t, s, words(3), func() { time.Sleep(time.Second) })
		first := make(chan harness.RunHandle)
		go func() { first <- w.start(t, "one", "") }()
		for range 8 {
			time.Sleep(300 * time.Millisecond)
			if _, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("two")}); !errors.Is(err, harness.ErrBusy) {
				t.Errorf("a second start gives %v", err)
			}
		}
		if res, err := (<-first).Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
			t.Errorf("the first is %+v, %v", res, err)
		}
	})
}

// unread is a transcript that is slow, or cannot be read for a while.
type unread struct {
	harness.Transcript

	broken bool
	slow   time.Duration
}

func (u *unread) Before(ctx context.Context, id harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	time.Sleep(u.slow)
	if u.broken {
		return nil, errors.New("input/output error")
	}
	return u.Transcript.Before(ctx, id, of, limit)
}

func TestRunWhoseHistoryCannotBeReadIsFailedNotStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		u := &unread{Transcript: s.transcript, broken: true}
		s.transcript = u
		w := open(t, s, s.journal, words(1))
		h := w.start(t, "one", "")
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "store" {
			t.Fatalf("result %+v, %v", res, err)
		}
		if got := w.status(t, h.ID()); got.Status != harness.RunFailed {
			t.Errorf("the journal has it as %s", got.Status)
		}
		u.broken = false
		if h, err = w.Resume(t.Context(), w.lease, h.ID(), harness.ResumeRetry); err != nil {
			t.Fatal(err)
		}
		if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
			t.Errorf("resumed it is %+v, %v", res, err)
		}
	})
}

func TestCloseWhileAStartIsUnderWayLeavesAPausedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, words(3), func() { time.Sleep(time.Second) })
		started := make(chan harness.RunHandle)
		go func() {
			h, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("go")})
			if err != nil {
				t.Error(err)
			}
			started <- h
		}()
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- w.Close(t.Context()) }()
		h := <-started
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if got := w.status(t, h.ID()); got.Status != harness.RunPaused {
			t.Errorf("the run is %s", got.Status)
		}
		if _, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("go")}); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("a start after Close gives %v", err)
		}
	})
}

func TestUnknownWayToResumeIsRefused(t *testing.T) {
	t.Parallel()
	s := memory1()
	w := open(t, s, s.journal, words(1))
	if _, err := w.Resume(t.Context(), w.lease, "x", "later"); err == nil || !strings.Contains(err.Error(), "continue, retry or drop") {
		t.Errorf("err = %v", err)
	}
	if _, err := w.Resume(t.Context(), w.lease, "x", harness.ResumeDrop); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("err = %v", err)
	}
}

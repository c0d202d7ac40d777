package parts

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// quiet is a backend of no use that counts how often it is closed.
type quiet struct {
	run.Backend
	closed *int
}

func (quiet) Get(context.Context, harness.RunID) (run.Job, error) {
	return run.Job{}, harness.ErrNotFound
}
func (q quiet) Close(context.Context) error { *q.closed++; return nil }

func TestAnEngineIsOpenedOnceAndOnlyWhenItIsAsked(t *testing.T) {
	t.Parallel()
	opened, closed := 0, 0
	l := &lazy{name: "sqlite:/runs.db", now: time.Now, open: func(context.Context) (run.Backend, error) {
		opened++
		return quiet{closed: &closed}, nil
	}}
	if events, ok := l.Live(t.Context(), "r"); ok || events != nil || opened != 0 {
		t.Fatalf("asking what is driven here opened it %d times", opened)
	}
	for range 3 {
		if _, err := l.Get(t.Context(), "r"); !errors.Is(err, harness.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if err := l.Close(t.Context()); err != nil || opened != 1 || closed != 1 {
		t.Errorf("opened %d times, closed %d times: %v", opened, closed, err)
	}
	if _, err := l.Get(t.Context(), "r"); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("after its end: %v", err)
	}
}

// hearing is a backend whose runs can be steered.
type hearing struct {
	quiet
	heard *[]string
}

func (h hearing) Steer(_ context.Context, id harness.RunID, e run.Entry) error {
	*h.heard = append(*h.heard, string(id)+" "+e.Kind)
	return nil
}

func TestARunIsSteeredThroughAllThatIsInFrontOfItsEngine(t *testing.T) {
	t.Parallel()
	var heard []string
	behind := func(b run.Backend) *lazy {
		return &lazy{name: "sqlite:/runs.db", now: time.Now, open: func(context.Context) (run.Backend, error) { return b, nil }}
	}
	for range 2 {
		if err := behind(tabled{Backend: hearing{heard: &heard}}).Steer(t.Context(), "r", run.Entry{Kind: "steered"}); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(heard, []string{"r steered", "r steered"}) {
		t.Errorf("it heard %q", heard)
	}
	if err := behind(tabled{Backend: quiet{}}).Steer(t.Context(), "r", run.Entry{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("one that cannot be steered gives %v", err)
	}
}

func TestAnEngineThatIsDownIsTriedAgainOnlyAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down, opened, closed := errors.New("nothing listens"), 0, 0
		l := &lazy{name: "postgres://db:5432/runs", now: time.Now, open: func(context.Context) (run.Backend, error) {
			if opened++; opened == 1 {
				return nil, down
			}
			return quiet{closed: &closed}, nil
		}}
		for range 20 {
			if _, err := l.Get(t.Context(), "r"); !errors.Is(err, down) {
				t.Fatal(err)
			}
		}
		if opened != 1 {
			t.Fatalf("tried %d times at once", opened)
		}
		time.Sleep(retryAfter)
		if _, err := l.Get(t.Context(), "r"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("when it is back: %v", err)
		}
	})
}

func TestWhoAsksAnEngineThatHangsWaitsNoLongerThanTheyWish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		l := &lazy{name: "temporal://box:7233/default", now: time.Now, open: func(ctx context.Context) (run.Backend, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		begun := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Get(short, "r"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		if _, err := l.List(t.Context(), run.JobFilter{}); err == nil || time.Since(begun) != openPatience {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		// What was opened too late is closed, and not left behind.
		late := &lazy{name: "x", now: time.Now, open: func(context.Context) (run.Backend, error) {
			time.Sleep(time.Second)
			return quiet{closed: &closed}, nil
		}}
		if _, err := late.Get(short, "r"); err == nil {
			t.Error("an ended wait succeeded")
		}
		if err := late.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if closed != 1 {
			t.Errorf("closed %d times", closed)
		}
	})
}

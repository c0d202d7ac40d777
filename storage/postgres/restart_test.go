package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

// many is a count that the environment may raise.
func many(tb testing.TB, env string, usual int) int {
	tb.Helper()
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil {
		return n
	}
	return usual
}

// appender adds numbered entries to its run, and each again until it is told that
// the entry is stored.
type appender struct {
	q     *postgres.Queue
	claim run.Claim
	// stored counts what was acknowledged, failed the errors.
	stored, failed int
}

func (a *appender) work(ctx context.Context) error {
	for ctx.Err() == nil {
		e := answer(fmt.Sprint("entry ", a.stored+2), "")
		added, err := a.q.Append(context.WithoutCancel(ctx), a.claim, a.stored+1, nil, e)
		switch {
		case err == nil && (len(added) != 1 || added[0].Seq != a.stored+2):
			return fmt.Errorf("added %+v after %d", added, a.stored+1)
		case err == nil:
			a.stored++
		case errors.Is(err, harness.ErrStale), errors.Is(err, harness.ErrLost), errors.Is(err, harness.ErrNotFound), errors.Is(err, harness.ErrClosed):
			return err
		default:
			a.failed++
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

func TestRestartsOfTheServerLoseNothing(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t)
	q := open(t, s.Database(t), postgres.Options{})
	const runs = 4
	appenders := make([]*appender, runs)
	for i := range appenders {
		id := fmt.Sprint("r", i)
		submit(t, q, id)
		appenders[i] = &appender{q: q, claim: claim(t, q, harness.RunID(id))}
	}
	changes, err := q.Watch(t.Context(), "r0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for _, a := range appenders {
		working.Go(func() {
			if err := a.work(ctx); err != nil {
				t.Errorf("run %s: %v", a.claim.Run, err)
			}
		})
	}
	for range many(t, "CAIRN_TEST_RESTARTS", 5) {
		before, err := untilPast(t, q, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		// It goes on once the server is back.
		if _, err := untilPast(t, q, before); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	working.Wait()
	for _, a := range appenders {
		t.Logf("run %s: %d entries acknowledged, %d appends refused", a.claim.Run, a.stored, a.failed)
		entries, err := q.Read(t.Context(), a.claim.Run, 0)
		if err != nil || len(entries) != a.stored+1 {
			t.Fatalf("run %s has %d entries of %d acknowledged ones, %v", a.claim.Run, len(entries), a.stored+1, err)
		}
		for i, e := range entries[1:] {
			if want := fmt.Sprint("entry ", i+2); e.Seq != i+2 || e.Message.Text() != want {
				t.Fatalf("run %s has %q as its entry %d, want %q", a.claim.Run, e.Message.Text(), i+2, want)
			}
		}
	}
	select {
	case <-changes:
	case <-time.After(5 * time.Minute):
		t.Error("who watched heard of nothing")
	}
}

// untilPast waits until the first run has more than so many entries, and returns
// how many.
func untilPast(t *testing.T, q *postgres.Queue, n int) (int, error) {
	t.Helper()
	var last error
	for range 6_000 { // five minutes: it measures nothing
		j, err := q.Get(t.Context(), "r0")
		if err == nil && j.Run.Cursor > n {
			return j.Run.Cursor, nil
		}
		last = err
		time.Sleep(50 * time.Millisecond)
	}
	return 0, fmt.Errorf("it never went on past entry %d: %w", n, last)
}

func TestErrorsWhileTheServerIsGoneSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t)
	q := open(t, s.Database(t), postgres.Options{})
	submit(t, q, "r")
	c := claim(t, q, "r")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err := q.Append(t.Context(), c, 1, nil, answer("a", ""))
	tells(t, err, "append to run r", "start it")
	_, err = q.Read(t.Context(), "r", 0)
	tells(t, err, "read run r", "start it")
	_, err = q.Renew(t.Context(), c)
	tells(t, err, "renew", "start it")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = q.Get(ctx, "r"); !errors.Is(err, context.Canceled) {
		t.Errorf("a read that was given up: %v", err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if _, err = q.Append(t.Context(), c, 1, nil, answer("a", "")); err != nil {
		t.Error(err)
	}
	if _, err := q.Renew(t.Context(), c); err != nil {
		t.Error(err)
	}
}

func TestConnectionsThatTheNetworkForgotAreReplaced(t *testing.T) {
	t.Parallel()
	p, q, _ := through(t)
	submit(t, q, "r")
	c := claim(t, q, "r")
	p.forget()
	time.Sleep(1100 * time.Millisecond) // only what was not used for a while is tried before
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if _, err := q.Renew(ctx, c); err != nil {
		t.Error(err)
	}
	if _, err := q.Append(ctx, c, 1, nil, answer("a", "")); err != nil {
		t.Error(err)
	}
}

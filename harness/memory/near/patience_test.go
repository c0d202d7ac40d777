package near

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness/model"
	"cairn/harness/model/embed"
)

// slow gives the vector of a question after a time.
type slow struct {
	takes time.Duration
	asked atomic.Int32
	err   error
}

func (s *slow) Embed(ctx context.Context, _ []string, _ embed.Purpose) (embed.Result, error) {
	s.asked.Add(1)
	select {
	case <-time.After(s.takes):
		return embed.Result{Vectors: [][]float32{{1}}}, s.err
	case <-ctx.Done():
		return embed.Result{}, ctx.Err()
	}
}

func (s *slow) Patiently(ctx context.Context, texts []string, p embed.Purpose) (embed.Result, error) {
	return s.Embed(ctx, texts, p)
}

func (s *slow) Info() model.Info { return model.Info{ID: "test/slow"} }

func slowly(s *slow) *Source {
	return &Source{Model: "test/slow", Now: time.Now, Log: slog.New(slog.DiscardHandler), Open: func(context.Context) (Embedder, error) { return s, nil }}
}

func TestATurnDoesNotWaitForASlowModelAndHasItsVectorNextTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &slow{takes: time.Second}
		s := slowly(m)
		start := time.Now()
		if _, err := s.Vector(t.Context(), "what is it", Haste); !errors.Is(err, errNoVector) || time.Since(start) != Haste {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		if v, err := s.Vector(t.Context(), " what  is it ", Patience); err != nil || len(v) != 1 || time.Since(start) != m.takes {
			t.Errorf("got %v, %v after %s", v, err, time.Since(start))
		}
		if _, err := s.Vector(t.Context(), "what is it", 0); err != nil && m.asked.Load() != 1 {
			t.Errorf("got %v; asked %d times", err, m.asked.Load())
		}
		if m.asked.Load() != 1 {
			t.Errorf("one question was asked %d times", m.asked.Load())
		}
	})
}

func TestASearchThatIsStoppedDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := slowly(&slow{takes: time.Second}).Vector(ctx, "what", Patience); err == nil || time.Since(start) != 10*time.Millisecond {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		time.Sleep(askFor) // the call under way ends by itself
	})
}

func TestAKeyThatIsFetchedSlowlyHoldsUpNoSearch(t *testing.T) {
	t.Parallel()
	s := slowly(&slow{})
	open := s.Open
	s.Open = func(ctx context.Context) (Embedder, error) {
		if !s.mu.TryLock() {
			t.Error("whoever asks waits for the key")
		} else {
			s.mu.Unlock()
		}
		return open(ctx)
	}
	if err := s.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFewCallsAreUnderWayAndAFailurePauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &slow{takes: time.Hour}
		s := slowly(m)
		for _, q := range []string{"a b", "c d", "e f", "g h"} {
			if _, err := s.Vector(t.Context(), q, time.Millisecond); err == nil {
				t.Error("there is a vector")
			}
		}
		if m.asked.Load() != maxCalls {
			t.Errorf("asked %d times", m.asked.Load())
		}
		time.Sleep(askFor)
		synctest.Wait()
		start := time.Now()
		if _, err := s.Vector(t.Context(), "again", Patience); err == nil || m.asked.Load() != maxCalls || time.Since(start) != 0 {
			t.Errorf("got %v after %s; asked %d times", err, time.Since(start), m.asked.Load())
		}
		time.Sleep(coolDown)
		m.takes = 0
		if v, err := s.Vector(t.Context(), "again", Patience); err != nil || len(v) != 1 {
			t.Errorf("got %v, %v", v, err)
		}
		for n := range 3 * keptVectors {
			if _, err := s.Vector(t.Context(), string(rune('a'+n%26))+string(rune('a'+n/26)), Patience); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.asks) > keptVectors || len(s.order) > keptVectors {
			t.Errorf("%d questions are kept", len(s.asks))
		}
	})
}

func TestFusedOrderIsThatOfBothRanks(t *testing.T) {
	t.Parallel()
	order := func(words, vectors []string, exact string) (out string) {
		last := 2.0
		for _, r := range fuse(words, vectors, func(s string) string { return s }, func(s string) bool { return s == exact }) {
			if r.score > last {
				t.Errorf("the score of %s rises", r.item)
			}
			last = r.score
			out += r.item
		}
		return out
	}
	for _, c := range []struct{ words, vectors, exact, want string }{
		{"abc", "", "", "abc"}, {"", "xy", "", "xy"}, {"ab", "xy", "", "axby"}, {"abc", "ca", "", "acb"}, {"abc", "xc", "b", "bcax"}, {"a", "aa", "", "a"},
	} {
		split := func(s string) (l []string) {
			for _, r := range s {
				l = append(l, string(r))
			}
			return l
		}
		if got := order(split(c.words), split(c.vectors), c.exact); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.words, c.vectors, got, c.want)
		}
	}
}

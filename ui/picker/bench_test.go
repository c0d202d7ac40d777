package picker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cairn/harness"
)

func many(n int) *store {
	f := &store{}
	for i := range n {
		f.sessions = append(f.sessions, harness.Session{
			ID: harness.SessionID(fmt.Sprintf("s%06d", i)), Title: fmt.Sprintf("Session %d about Grüße and invoices", i),
			Updated: before(time.Duration(i) * time.Minute), Messages: i % 90, Preview: "a preview", Tags: []string{[]string{"work", "home", "go"}[i%3]},
		})
	}
	return f
}

func TestOnlyVisibleRowsAreLaidOut(t *testing.T) { // counts allocations, so not in parallel
	few, lots := open(t, many(100), 80, 24), open(t, many(10_000), 80, 24)
	small := testing.AllocsPerRun(20, func() { few.View(80, 24) })
	large := testing.AllocsPerRun(20, func() { lots.View(80, 24) })
	if large > small*1.5 {
		t.Errorf("a view allocates %.0f times with 100 sessions and %.0f with 10,000", small, large)
	}
}

// frames measures steps one by one and reports the middle one and the
// twentieth slowest of a hundred, in milliseconds.
func frames(b *testing.B, step func(n int)) {
	b.Helper()
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		begun := time.Now()
		step(n)
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	ms := func(share int) float64 { return float64(took[len(took)*share/100]) / 1e6 }
	b.ReportMetric(ms(50), "p50-ms")
	b.ReportMetric(ms(95), "p95-ms")
	b.ReportMetric(ms(99), "p99-ms")
}

// BenchmarkTenThousand is one key and the frame after it, with 10,000 sessions.
func BenchmarkTenThousand(b *testing.B) {
	f := many(10_000)
	for n := range 20 {
		f.hits = append(f.hits, harness.Hit{Session: f.sessions[n*400].ID, Message: 3, Excerpt: "Grüße and the invoices of session " + fmt.Sprint(n)})
	}
	s := open(b, f, 120, 40, func(c *Config) { c.Search = f })
	press := func(m Model, key string) Model {
		m, _, _ = m.Update(keyMsg(key))
		m.View(120, 40)
		return m
	}
	b.Run("filter", func(b *testing.B) {
		typed := []rune("grusse 77")
		m := s.Model
		frames(b, func(n int) {
			if n%len(typed) == 0 {
				m = s.Model
			}
			m = press(m, string(typed[n%len(typed)]))
		})
	})
	b.Run("erase", func(b *testing.B) {
		m := s.Model
		frames(b, func(n int) {
			if n%6 == 0 {
				m, _, _ = s.Update(keyMsg("about7"))
			}
			m = press(m, "backspace")
		})
	})
	b.Run("tag", func(b *testing.B) {
		m := s.Model
		frames(b, func(n int) {
			if n%3 == 0 {
				m = s.Model
			}
			m = press(m, []string{"#", "w", "o"}[n%3])
		})
	})
	b.Run("move", func(b *testing.B) {
		m := s.Model
		frames(b, func(int) { m = press(m, "down") })
	})
	b.Run("sort", func(b *testing.B) {
		m := s.Model
		frames(b, func(int) { m = press(m, "ctrl+t") })
	})
	b.Run("hits", func(b *testing.B) {
		m := s.types("grusse").Model
		frames(b, func(int) {
			m, _, _ = m.Update(searched{n: m.found.n, hits: f.hits})
			m.View(120, 40)
		})
		s.keys("ctrl+u")
	})
	b.Run("reading", func(b *testing.B) { // outside Update
		frames(b, func(int) { newBook(f.sessions, byUse, s.list.book) })
	})
	b.Run("listed", func(b *testing.B) {
		book := newBook(f.sessions, byUse, s.list.book)
		m := s.Model
		frames(b, func(int) {
			m, _, _ = m.Update(listed{n: m.loading.n, book: book})
			m.View(120, 40)
		})
	})
}

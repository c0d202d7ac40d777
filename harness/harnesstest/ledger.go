package harnesstest

import (
	"testing"
	"time"

	"cairn/harness"
)

// TestLedger tests a [harness.Ledger].
func TestLedger(t *testing.T, open Open) {
	t.Parallel()
	run(t, "calls are booked by day, model and session", open, testBook)
	run(t, "what a session used that is gone stays paid for", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "1")
		must(t, s.Sessions.Delete(ctx(t), "a"))
		u := harness.Usage{Input: 3, Output: 1}
		must(t, s.Ledger.Book(ctx(t), "a", "p/m", u))
		must(t, s.Ledger.Book(ctx(t), "none", "p/m", u))
		days := value[[]harness.DayUsage](t)(s.Ledger.Days(ctx(t), s.Clock.Now(), s.Clock.Now()))
		if len(days) != 1 || days[0].Usage != u.Add(u) {
			t.Fatalf("days %+v", days)
		}
	})
}

func testBook(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "1")
	first := s.Clock.Now()
	cheap, dear := harness.Usage{Input: 10, Output: 2, Cost: 0.5, CostKnown: true}, harness.Usage{Input: 7, Output: 1, CacheRead: 5, Reasoning: 1}
	must(t, s.Ledger.Book(ctx(t), "a", "p/b", cheap))
	must(t, s.Ledger.Book(ctx(t), "a", "p/b", cheap))
	must(t, s.Ledger.Book(ctx(t), "a", "p/a", dear))
	must(t, s.Ledger.Book(ctx(t), "a", "p/a", harness.Usage{}))
	s.Clock.Add(48 * time.Hour)
	must(t, s.Ledger.Book(ctx(t), "a", "p/a", dear))
	s = s.Reopen()
	last := s.Clock.Now()
	day := func(at time.Time) string { return at.Local().Format(time.DateOnly) }
	one, two, three := harness.DayUsage{Day: day(first), Model: "p/a", Usage: dear}, harness.DayUsage{Day: day(first), Model: "p/b", Usage: cheap.Add(cheap)},
		harness.DayUsage{Day: day(last), Model: "p/a", Usage: dear}
	for _, c := range []struct {
		from, to time.Time
		want     []harness.DayUsage
	}{
		{first, last, []harness.DayUsage{one, two, three}},
		{first, first, []harness.DayUsage{one, two}},
		{first.Add(24 * time.Hour), last, []harness.DayUsage{three}},
		{last.Add(24 * time.Hour), last.Add(48 * time.Hour), nil},
		{last, first, nil},
	} {
		equal(t, "days", value[[]harness.DayUsage](t)(s.Ledger.Days(ctx(t), c.from, c.to)), c.want)
	}
	if got, want := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")).Usage, cheap.Add(cheap).Add(dear).Add(dear); got != want {
		t.Fatalf("the session used %+v, want %+v", got, want)
	}
}

package harnesstest

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"cairn/harness"
)

// TestSpending tests a [harness.Spending].
func TestSpending(t *testing.T, open Open) {
	t.Parallel()
	run(t, "what is held counts until it is settled", open, testHold)
	run(t, "what was booked counts in its session and on its day", open, testBooked)
	run(t, "sessions have limits of their own and share the day", open, testSpendingScopes)
	run(t, "what nobody saw stays held until its day is over and a day in the session", open, testUnseen)
	run(t, "a dead process holds until its day is over and a day in the session", open, testDeadHold)
	run(t, "a living process holds over midnight", open, testHoldOverMidnight)
	run(t, "a clock that was wrong uses up no limit", open, testWrongClock)
	run(t, "nonsense is refused and changes nothing", open, testSpendingRefused)
	run(t, "several at the same time never pass a limit together", open, testHoldTogether)
}

// hold holds an amount for session a.
func hold(t *testing.T, s Stores, amount float64, l harness.SpendingLimits) string {
	t.Helper()
	return value[string](t)(s.Spending.Hold(ctx(t), harness.Hold{Session: "a", Model: "p/m", Amount: amount}, l))
}

// wantRefused ends the test unless an amount is refused for a session as this.
func wantRefused(t *testing.T, s Stores, id harness.SessionID, l harness.SpendingLimits, want harness.SpendingError) {
	t.Helper()
	got, err := s.Spending.Hold(ctx(t), harness.Hold{Session: id, Model: "p/m", Amount: want.Needed}, l)
	var refused *harness.SpendingError
	if !errors.As(err, &refused) || got != "" {
		t.Fatalf("held %q, error %v", got, err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if refused.Scope != want.Scope || !near(refused.Limit, want.Limit) || !near(refused.Spent, want.Spent) || !near(refused.Held, want.Held) || !near(refused.Needed, want.Needed) {
		t.Fatalf("refused as %+v, want %+v", *refused, want)
	}
}

func testHold(t *testing.T, s Stores) {
	l := harness.SpendingLimits{Session: 1}
	first := hold(t, s, 0.1, l)
	second := hold(t, s, 0.2, l)
	if first == "" || first == second {
		t.Fatalf("ids %q and %q", first, second)
	}
	hold(t, s, 0.7, l) // to the last cent, though these are no round numbers
	wantRefused(t, s, "a", l, harness.SpendingError{Scope: "session", Limit: 1, Held: 1, Needed: 0.1})
	must(t, s.Spending.Settle(ctx(t), second, 0))
	wantRefused(t, s, "a", l, harness.SpendingError{Scope: "session", Limit: 1, Held: 0.8, Needed: 0.3})
	hold(t, s, 0.2, l)
	for range 2 {
		must(t, s.Spending.Settle(ctx(t), second, 0))
		must(t, s.Spending.Settle(ctx(t), "none", 5))
	}
	wantRefused(t, s, "a", l, harness.SpendingError{Scope: "session", Limit: 1, Held: 1, Needed: 0.1})
	hold(t, s, 0, l)
	hold(t, s, 7, harness.SpendingLimits{})
}

// book books a cost to session a.
func book(t *testing.T, s Stores, model string, cost float64) {
	t.Helper()
	must(t, s.Ledger.Book(ctx(t), "a", model, harness.Usage{Input: 1, Cost: cost, CostKnown: true}))
}

func testBooked(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "1")
	book(t, s, "p/m", 0.25)
	book(t, s, "p/n", 0.5)
	s = s.Reopen()
	wantRefused(t, s, "a", harness.SpendingLimits{Session: 1}, harness.SpendingError{Scope: "session", Limit: 1, Spent: 0.75, Needed: 0.3})
	wantRefused(t, s, "a", harness.SpendingLimits{Session: 9, Day: 1}, harness.SpendingError{Scope: "day", Limit: 1, Spent: 0.75, Needed: 0.3})
	s.Clock.Add(24 * time.Hour)
	wantRefused(t, s, "a", harness.SpendingLimits{Session: 1}, harness.SpendingError{Scope: "session", Limit: 1, Spent: 0.75, Needed: 0.3})
	must(t, s.Spending.Settle(ctx(t), hold(t, s, 1, harness.SpendingLimits{Day: 1}), 0))
}

func testSpendingScopes(t *testing.T, s Stores) {
	for _, id := range []harness.SessionID{"a", "b"} {
		say(t, s, acquire(t, s, id), "1")
	}
	l := harness.SpendingLimits{Session: 1, Day: 1.5}
	hold(t, s, 1, l)
	wantRefused(t, s, "b", l, harness.SpendingError{Scope: "day", Limit: 1.5, Held: 1, Needed: 0.75})
	book(t, s, "p/m", 0.25)
	wantRefused(t, s, "b", l, harness.SpendingError{Scope: "day", Limit: 1.5, Spent: 0.25, Held: 1, Needed: 0.5})
	if _, err := s.Spending.Hold(ctx(t), harness.Hold{Session: "b", Model: "p/m", Amount: 0.25}, l); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, s, "new", l, harness.SpendingError{Scope: "day", Limit: 1.5, Spent: 0.25, Held: 1.25, Needed: 0.01})
}

// midnight moves the clock to a time after the next local midnight.
func midnight(s Stores, after time.Duration) {
	now := s.Clock.Now().Local()
	next := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	s.Clock.Add(next.Sub(now) + after)
}

func testUnseen(t *testing.T, s Stores) {
	midnight(s, 12*time.Hour)
	day, session := harness.SpendingLimits{Day: 1}, harness.SpendingLimits{Session: 1}
	id := hold(t, s, 0.9, day)
	must(t, s.Spending.Settle(ctx(t), id, 0.4))
	must(t, s.Spending.Settle(ctx(t), id, 0)) // over is over
	refused := func(scope string) harness.SpendingError {
		return harness.SpendingError{Scope: scope, Limit: 1, Held: 0.4, Needed: 0.7}
	}
	wantRefused(t, s, "a", day, refused("day"))
	wantRefused(t, s, "a", session, refused("session"))
	s = s.Reopen()
	midnight(s, time.Hour)
	wantRefused(t, s, "a", session, refused("session"))
	must(t, s.Spending.Settle(ctx(t), hold(t, s, 1, day), 0))
	s.Clock.Add(12 * time.Hour)
	hold(t, s, 1, harness.SpendingLimits{Day: 1, Session: 1})
}

func testDeadHold(t *testing.T, s Stores) {
	midnight(s, 12*time.Hour)
	day, session := harness.SpendingLimits{Day: 1}, harness.SpendingLimits{Session: 1}
	hold(t, s, 0.9, day)
	s = s.Reopen()
	wantRefused(t, s, "a", day, harness.SpendingError{Scope: "day", Limit: 1, Held: 0.9, Needed: 0.2})
	midnight(s, time.Hour)
	wantRefused(t, s, "a", session, harness.SpendingError{Scope: "session", Limit: 1, Held: 0.9, Needed: 0.2})
	must(t, s.Spending.Settle(ctx(t), hold(t, s, 1, day), 0))
	s.Clock.Add(12 * time.Hour)
	hold(t, s, 1, harness.SpendingLimits{Day: 1, Session: 1})
}

func testHoldOverMidnight(t *testing.T, s Stores) {
	midnight(s, 12*time.Hour)
	day := harness.SpendingLimits{Day: 1}
	id := hold(t, s, 0.9, day)
	midnight(s, time.Minute)
	wantRefused(t, s, "a", day, harness.SpendingError{Scope: "day", Limit: 1, Held: 0.9, Needed: 0.2})
	must(t, s.Spending.Settle(ctx(t), id, 0.3))
	wantRefused(t, s, "a", day, harness.SpendingError{Scope: "day", Limit: 1, Held: 0.3, Needed: 0.8})
}

// testWrongClock spends while the clock is years ahead, and a little behind.
func testWrongClock(t *testing.T, s Stores) {
	midnight(s, 12*time.Hour)
	l := harness.SpendingLimits{Session: 1, Day: 1}
	const years = 10 * 365 * 24 * time.Hour
	s.Clock.Add(years)
	must(t, s.Spending.Settle(ctx(t), hold(t, s, 0.9, l), 0.8))
	hold(t, s, 0.1, l)
	s.Clock.Add(-years)
	must(t, s.Spending.Settle(ctx(t), hold(t, s, 0.9, l), 0.4))
	for range 2 {
		wantRefused(t, s, "a", l, harness.SpendingError{Scope: "session", Limit: 1, Held: 0.4, Needed: 0.7})
		wantRefused(t, s, "b", l, harness.SpendingError{Scope: "day", Limit: 1, Held: 0.4, Needed: 0.7})
		s.Clock.Add(-13 * time.Hour) // the day before
	}
	s.Clock.Add(26*time.Hour + years)
	wantRefused(t, s, "b", l, harness.SpendingError{Scope: "day", Limit: 1, Held: 0.9, Needed: 0.2})
}

func testSpendingRefused(t *testing.T, s Stores) {
	l := harness.SpendingLimits{Day: 1}
	id := hold(t, s, 0.5, l)
	for _, amount := range []float64{-1, math.NaN(), math.Inf(1)} {
		if got, err := s.Spending.Hold(ctx(t), harness.Hold{Session: "a", Model: "p/m", Amount: amount}, l); err == nil {
			t.Fatalf("%v was held as %s", amount, got)
		}
		if _, err := s.Spending.Hold(ctx(t), harness.Hold{Session: "a", Model: "p/m"}, harness.SpendingLimits{Day: amount}); err == nil {
			t.Fatalf("%v was taken for a limit", amount)
		}
		if err := s.Spending.Settle(ctx(t), id, amount); err == nil {
			t.Fatalf("%v was settled", amount)
		}
	}
	wantRefused(t, s, "a", l, harness.SpendingError{Scope: "day", Limit: 1, Held: 0.5, Needed: 0.6})
}

func testHoldTogether(t *testing.T, s Stores) {
	const n, each = 24, 0.125
	l := harness.SpendingLimits{Session: 1, Day: 1.25}
	var all sync.WaitGroup
	ids, errs := make([]string, n), make([]error, n)
	for i := range n {
		all.Go(func() {
			session := harness.SessionID("a")
			if i%2 == 1 {
				session = "b"
			}
			ids[i], errs[i] = s.Spending.Hold(ctx(t), harness.Hold{Session: session, Model: "p/m", Amount: each}, l)
		})
	}
	all.Wait()
	held := 0
	for i, err := range errs {
		var refused *harness.SpendingError
		switch {
		case err == nil:
			held++
			must(t, s.Spending.Settle(ctx(t), ids[i], 0))
		case !errors.As(err, &refused):
			t.Fatal(err)
		}
	}
	if held != 10 {
		t.Fatalf("%d are held at once, want 10", held)
	}
	hold(t, s, 1, l)
}

package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/storage/mem"
	"cairn/ui/account"
)

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.Local)

// ledger has the days that it is made of.
type ledger struct {
	days []harness.DayUsage
	from string
	err  error
}

func (l *ledger) Book(context.Context, harness.SessionID, string, harness.Usage) error { return nil }

func (l *ledger) Days(_ context.Context, from, _ time.Time) ([]harness.DayUsage, error) {
	l.from = from.Local().Format(time.DateOnly)
	return l.days, l.err
}

func cost(dollars float64, tokens int64) harness.Usage {
	return harness.Usage{Input: tokens, Cost: dollars, CostKnown: true}
}

func TestTheAccountHasEveryDayAndTheMostUsedModelFirst(t *testing.T) {
	t.Parallel()
	l := &ledger{days: []harness.DayUsage{
		{Day: "2026-09-05", Model: "p/cheap", Usage: cost(0.5, 10)},
		{Day: "2026-09-18", Model: "p/cheap", Usage: cost(0.25, 10)},
		{Day: "2026-09-18", Model: "p/dear", Usage: cost(2, 1)},
	}}
	a, err := account.Read(t.Context(), l, mem.New(time.Now).Sessions(), "new", noon)
	if err != nil {
		t.Fatal(err)
	}
	if l.from != "2026-09-05" || len(a.Days) != account.Days || a.Days[0].Name != "2026-09-18" || a.Days[13].Name != "2026-09-05" {
		t.Errorf("asked from %s, days %v", l.from, a.Days)
	}
	if a.Today != cost(2.25, 11) || a.Total != cost(2.75, 21) || a.Days[13].Usage != cost(0.5, 10) || a.Days[5].Usage != (harness.Usage{}) {
		t.Errorf("sums are %+v", a)
	}
	if len(a.Models) != 2 || a.Models[0].Name != "p/dear" || a.Models[1].Usage != cost(0.75, 20) {
		t.Errorf("models are %+v", a.Models)
	}
	if a.Session != (harness.Usage{}) {
		t.Errorf("a session that is not stored used %+v", a.Session)
	}
}

func TestAFailureIsToldAndNoLedgerIsNone(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	sessions := mem.New(time.Now).Sessions()
	if _, err := account.Read(t.Context(), &ledger{err: broken}, sessions, "a", noon); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if a, err := account.Read(t.Context(), nil, sessions, "a", noon); err != nil || a.Days != nil {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestAnUnknownCostIsNeverANumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		u                  harness.Usage
		cost, brief, words string
	}{
		{harness.Usage{}, "cost unknown", "nothing", "nothing"},
		{harness.Usage{Input: 1200, Output: 34}, "cost unknown", "cost unknown, 1,234 tokens", "cost unknown, 1,200 tokens in, 34 out"},
		{harness.Usage{Input: 1, Cost: 0.001}, "cost unknown", "cost unknown, 1 token", "cost unknown, 1 tokens in, 0 out"},
		{harness.Usage{Input: 1, Output: 1, Cost: 1.5}, "at least $1.50", "at least $1.50, 2 tokens", "at least $1.50, 1 tokens in, 1 out"},
		{harness.Usage{Input: 2, CostKnown: true}, "$0.00", "$0.00, 2 tokens", "$0.00, 2 tokens in, 0 out"},
		{harness.Usage{Input: 2, Cost: 0.004, CostKnown: true}, "<$0.01", "<$0.01, 2 tokens", "<$0.01, 2 tokens in, 0 out"},
		{
			harness.Usage{Input: 9, CacheRead: 4, Output: 3, Reasoning: 2, Cost: 0.5, CostKnown: true, Incomplete: true},
			"$0.50", "$0.50, 12 tokens, some not counted", "$0.50, 9 tokens in (4 cached), 3 out (2 reasoning), some not counted",
		},
	} {
		if got := account.Cost(c.u); got != c.cost {
			t.Errorf("Cost(%+v) is %q, want %q", c.u, got, c.cost)
		}
		if got := account.Brief(c.u); got != c.brief {
			t.Errorf("Brief(%+v) is %q, want %q", c.u, got, c.brief)
		}
		if got := account.Words(c.u); got != c.words {
			t.Errorf("Words(%+v) is %q, want %q", c.u, got, c.words)
		}
	}
}

func TestRowsAreComparedByCostOnlyWhereAllAreKnown(t *testing.T) {
	t.Parallel()
	known, free, none, unknown := account.Row{Usage: cost(1, 5)}, account.Row{Usage: cost(0, 9)}, account.Row{}, account.Row{Usage: harness.Usage{Output: 7}}
	for name, c := range map[string]struct {
		rows []account.Row
		want bool
	}{
		"known": {[]account.Row{known, none, free}, true}, "free": {[]account.Row{free}, false}, "nothing": {[]account.Row{none}, false},
		"unknown": {[]account.Row{known, unknown}, false}, "no rows": {nil, false},
	} {
		if got := account.ByCost(c.rows); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := account.Size(cost(1, 5), true); got != 1 {
		t.Errorf("by cost it is %v", got)
	}
	if got := account.Size(cost(1, 5), false); got != 5 {
		t.Errorf("by tokens it is %v", got)
	}
}

func TestSessionsAreThoseThatUsedAModelByTheirTitles(t *testing.T) {
	t.Parallel()
	st := mem.New(time.Now)
	for _, s := range []harness.Session{{ID: "a", Title: "Invoices"}, {ID: "b"}, {ID: "c", Title: "Quiet"}} {
		l, err := st.Owners().Acquire(t.Context(), s, harness.Holder{PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Transcript().Append(t.Context(), l, harness.Record{Kind: harness.RecordMessage, Message: &harness.Message{Role: harness.RoleUser}}); err != nil {
			t.Fatal(err)
		}
	}
	for id, u := range map[harness.SessionID]harness.Usage{"a": cost(1, 5), "b": cost(2, 1)} {
		if err := st.Ledger().Book(t.Context(), id, "p/m", u); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := account.Sessions(t.Context(), st.Sessions())
	if err != nil || len(rows) != 2 || rows[0].Name != "b" || rows[1].Name != "Invoices" {
		t.Errorf("got %+v, %v", rows, err)
	}
}

func TestDaysAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"2026-09-18", "today"}, {"2026-09-17", "Thu 17 Sep"}, {"once", "once"}} {
		if got := account.Day(c[0], "2026-09-18"); got != c[1] {
			t.Errorf("%s is %q", c[0], got)
		}
	}
}

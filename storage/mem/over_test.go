package mem_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/mem"
)

// What is allowed for a session of a store in memory ends with it; what is
// allowed always counts there, and stays elsewhere.
func TestGrantsOverKeepsAlwaysElsewhere(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	standing, st := mem.New(clock).Grants(), mem.New(clock)
	lease, err := st.Owners().Acquire(ctx, harness.Session{ID: "a"}, harness.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	hello := harness.UserText("hello")
	if _, err := st.Transcript().Append(ctx, lease, harness.Record{Message: &hello}); err != nil {
		t.Fatal(err)
	}
	grants := st.GrantsOver(standing)
	save := func(g harness.Grant) harness.Grant {
		t.Helper()
		g, err := grants.Save(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	before, err := standing.Save(ctx, harness.Grant{Rule: "before"})
	if err != nil {
		t.Fatal(err)
	}
	session := save(harness.Grant{Session: "a", Rule: "session"})
	always := save(harness.Grant{Rule: "always"})
	if session.ID == before.ID || session.ID == always.ID {
		t.Fatalf("two grants are %q", session.ID)
	}
	if again := save(harness.Grant{Session: "a", Rule: "session"}); again != session {
		t.Errorf("stored twice: %+v and %+v", session, again)
	}
	session = save(harness.Grant{ID: session.ID, Rule: "narrower"})
	always = save(harness.Grant{ID: always.ID, Rule: "rarely"})

	rules := func(g harness.Grants, id harness.SessionID) (all []string) {
		t.Helper()
		list, err := g.List(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range list {
			all = append(all, g.Rule)
		}
		return all
	}
	if got, want := rules(grants, "a"), []string{"before", "narrower", "rarely"}; !slices.Equal(got, want) {
		t.Errorf("allowed is %q, want %q", got, want)
	}
	if got, want := rules(grants, "b"), []string{"before", "rarely"}; !slices.Equal(got, want) {
		t.Errorf("allowed is %q, want %q", got, want)
	}
	if got, want := rules(standing, "a"), []string{"before", "rarely"}; !slices.Equal(got, want) {
		t.Errorf("allowed is %q, want %q", got, want)
	}

	for _, g := range []harness.Grant{session, always} {
		if err := grants.Revoke(ctx, g.ID); err != nil {
			t.Error(err)
		}
		if err := grants.Revoke(ctx, g.ID); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("%s taken back twice: %v", g.ID, err)
		}
	}
	if got, want := rules(grants, "a"), []string{"before"}; !slices.Equal(got, want) {
		t.Errorf("allowed is %q, want %q", got, want)
	}
	if got, want := rules(standing, ""), []string{"before"}; !slices.Equal(got, want) {
		t.Errorf("allowed is %q, want %q", got, want)
	}
}

// TestEphemeralChatsShareTheDay spends in a store of its own what a standing one
// has to know.
func TestEphemeralChatsShareTheDay(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	standing, own := mem.New(clock.Now), mem.New(clock.Now)
	over := own.SpendingOver(standing.Spending())
	l := harness.SpendingLimits{Session: 2, Day: 1}
	hold := func(s harness.Spending, amount float64) (string, error) {
		return s.Hold(t.Context(), harness.Hold{Session: "s", Model: "p/m", Amount: amount}, l)
	}
	refused := func(s harness.Spending, amount, held float64) {
		t.Helper()
		var no *harness.SpendingError
		if _, err := hold(s, amount); !errors.As(err, &no) || math.Abs(no.Held-held) > 1e-9 {
			t.Fatalf("%v of what is left: %v", amount, err)
		}
	}
	first, err := hold(over, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	second, err := hold(over, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	refused(standing.Spending(), 0.3, 0.75)
	book := func(cost float64) {
		t.Helper()
		if err := own.Ledger().Book(t.Context(), "s", "p/m", harness.Usage{Input: 1, Cost: cost, CostKnown: true}); err != nil {
			t.Fatal(err)
		}
	}
	book(0.125)
	for range 2 {
		if err := over.Settle(t.Context(), first, 0.0625); err != nil {
			t.Fatal(err)
		}
	}
	refused(standing.Spending(), 0.7, 0.4375)
	book(0.0625)
	if err := over.Settle(t.Context(), second, 0); err != nil {
		t.Fatal(err)
	}
	refused(standing.Spending(), 0.8, 0.25)
	refused(over, 0.8, 0.25)
	l = harness.SpendingLimits{Session: 0.2}
	refused(over, 0.15, 0.0625)
	l = harness.SpendingLimits{Day: 1}
	if _, err := hold(standing.Spending(), 0.75); err != nil {
		t.Errorf("what is left: %v", err)
	}
}

package policy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// purse is a [harness.Spending] of one day.
type purse struct {
	mu     sync.Mutex
	next   int
	holds  map[string]harness.Hold
	spent  float64
	unseen float64
	broken error
}

func (p *purse) Hold(_ context.Context, h harness.Hold, l harness.SpendingLimits) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return "", p.broken
	}
	held := p.unseen
	for _, other := range p.holds {
		held += other.Amount
	}
	if l.Day > 0 && p.spent+held+h.Amount > l.Day {
		return "", fmt.Errorf("hold in the purse: %w", &harness.SpendingError{Scope: "day", Limit: l.Day, Spent: p.spent, Held: held, Needed: h.Amount})
	}
	if p.holds == nil {
		p.holds = map[string]harness.Hold{}
	}
	p.next++
	id := fmt.Sprint("h", p.next)
	p.holds[id] = h
	return id, nil
}

func (p *purse) Settle(ctx context.Context, id string, unseen float64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return p.broken
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, ok := p.holds[id]; !ok {
		return fmt.Errorf("settle %s twice", id)
	}
	delete(p.holds, id)
	p.unseen += unseen
	return nil
}

// priced costs $1 for a million tokens in, $2 to write them to a cache, $10 out.
func priced() model.Info {
	return model.Info{ID: "openai/gpt-5", Window: 1_000_000, PriceKnown: true, InputPrice: 1, CacheWritePrice: 2, CacheReadPrice: .1, OutputPrice: 10}
}

func withFallback(i model.Info, others ...model.Info) model.Info {
	i.Fallbacks = others
	return i
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestACallIsHeldForTheMostItCanCost(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	holder := harness.Holder{PID: 7}
	dear := priced()
	dear.Fallbacks = []model.Info{{ID: "openai/dear", Window: 2_000_000, PriceKnown: true, InputPrice: 4, OutputPrice: 5}, {ID: "ollama/llama", Local: true}}
	for name, c := range map[string]struct {
		info          model.Info
		input, output int
		want          float64
	}{
		"whichever of the fallbacks answers":     {dear, 1_000_000, 1_000, 5 + .005},
		"an estimate may be short by a quarter":  {priced(), 100_000, 10_000, .25 + .1},
		"a request is no larger than the window": {priced(), 900_000, 0, 2},
		"but as large as it is known to be":      {priced(), 1_100_000, 0, 2.2},
		"nothing is no negative amount":          {priced(), -5, 1_000, .01},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &purse{}
			b := &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: 10}, Holder: holder, Now: func() time.Time { return at }}
			held, err := b.Hold(t.Context(), "one", c.info, c.input, c.output)
			if err != nil {
				t.Fatal(err)
			}
			got := p.holds["h1"]
			if !near(got.Amount, c.want) || !near(held.Amount(), c.want) {
				t.Errorf("$%v is held and $%v said, want $%v", got.Amount, held.Amount(), c.want)
			}
			if got.Session != "one" || got.Model != c.info.ID || got.Holder != holder || !got.At.Equal(at) {
				t.Errorf("the hold is %+v", got)
			}
		})
	}
}

func TestNothingIsHeldWhereThereIsNothingToBound(t *testing.T) {
	t.Parallel()
	limits := harness.SpendingLimits{Day: 1}
	local, free, unknown := model.Info{ID: "ollama/llama", Local: true}, model.Info{ID: "openrouter/x:free", PriceKnown: true}, model.Info{ID: "openai/new"}
	p := &purse{spent: 5} // all of the day's money is gone
	for name, c := range map[string]struct {
		budget *policy.Budget
		info   model.Info
	}{
		"no budget":                  {nil, priced()},
		"no store":                   {&policy.Budget{Limits: limits}, priced()},
		"no limit":                   {&policy.Budget{Spending: p}, priced()},
		"no limit, no price":         {&policy.Budget{Spending: p}, unknown},
		"a local model":              {&policy.Budget{Spending: p, Limits: limits}, local},
		"a model that costs nothing": {&policy.Budget{Spending: p, Limits: limits}, free},
		"and neither do the others":  {&policy.Budget{Spending: p, Limits: limits}, withFallback(free, local)},
	} {
		held, err := c.budget.Hold(t.Context(), "one", c.info, 1_000, 1_000)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if held.Amount() != 0 || len(p.holds) > 0 {
			t.Errorf("%s: $%v is held", name, held.Amount())
		}
		if err := held.Settle(t.Context(), 3); err != nil || p.unseen != 0 {
			t.Errorf("%s: settled %v, unseen %v", name, err, p.unseen)
		}
	}
	var none *policy.Held
	if none.Amount() != 0 || none.Cost(1, 1) != 0 || none.Settle(t.Context(), 1) != nil {
		t.Error("a nil hold does something")
	}
}

func TestAnUnknownPriceKeepsACallFromStarting(t *testing.T) {
	t.Parallel()
	b := &policy.Budget{Spending: &purse{}, Limits: harness.SpendingLimits{Session: 1}}
	unknown := model.Info{ID: "openai/new"}
	for _, info := range []model.Info{unknown, withFallback(priced(), unknown), withFallback(model.Info{ID: "ollama/llama", Local: true}, unknown)} {
		_, err := b.Hold(t.Context(), "one", info, 10, 10)
		var price *policy.PriceError
		if !errors.As(err, &price) || !policy.OverBudget(err) {
			t.Fatalf("the error is %v", err)
		}
		for _, key := range []string{`models."openai/new".input_price`, `models."openai/new".output_price`} {
			if !strings.Contains(err.Error(), key) {
				t.Errorf("%q does not name %s", err, key)
			}
		}
	}
}

func TestALimitTellsHowItStands(t *testing.T) {
	t.Parallel()
	p := &purse{spent: 4}
	b := &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: 10}}
	held, err := b.Hold(t.Context(), "one", priced(), 400_000, 50_000)
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Standing{Limit: 10, Spent: 4, Held: 1.5, Left: 4.5}
	if got, ok, err := b.Day(t.Context()); err != nil || !ok || got != want {
		t.Errorf("it stands at %+v, %t, %v", got, ok, err)
	}
	if got, ok, err := b.Session(t.Context(), "one"); err != nil || ok {
		t.Errorf("a limit that is none stands at %+v, %v", got, err)
	}
	p.spent = 11
	if got, _, err := b.Day(t.Context()); err != nil || got.Left != 0 {
		t.Errorf("a limit that was passed has %+v left, %v", got, err)
	}
	if len(p.holds) != 1 {
		t.Errorf("%d are held by looking", len(p.holds)-1)
	}
	p.broken = harness.ErrLocked
	if _, _, err := b.Day(t.Context()); !errors.Is(err, harness.ErrLocked) {
		t.Errorf("a store that is in use says %v", err)
	}
	var none *policy.Budget
	if _, ok, err := none.Day(t.Context()); ok || err != nil {
		t.Errorf("no budget stands at something: %v", err)
	}
	p.broken = nil
	if err := held.Settle(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAFailedCallCost(t *testing.T) {
	t.Parallel()
	for kind, want := range map[model.ErrorKind]float64{model.KindNetwork: .21, model.KindIdle: .21, model.KindAuth: 0, model.KindRateLimit: 0, model.KindOverflow: 0} {
		p := &purse{}
		b := &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: 10}}
		held, err := b.Hold(t.Context(), "one", priced(), 100_000, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Failed(t.Context(), fmt.Errorf("ask: %w", &model.Error{Kind: kind}), 100_000, 1_000); err != nil {
			t.Fatal(err)
		}
		if !near(p.unseen, want) || len(p.holds) > 0 {
			t.Errorf("%s: $%v is unseen, not $%v", kind, p.unseen, want)
		}
	}
}

func TestARefusalIsTheSentenceAlone(t *testing.T) {
	t.Parallel()
	b := &policy.Budget{Spending: &purse{spent: .9}, Limits: harness.SpendingLimits{Day: 1}}
	_, err := b.Hold(t.Context(), "one", priced(), 100_000, 100_000)
	if !policy.OverBudget(err) || !strings.HasPrefix(err.Error(), "the spending limit of $1.00 would be passed: $0.90 is spent today") {
		t.Errorf("the error is %v", err)
	}
	if policy.OverBudget(nil) || policy.OverBudget(harness.ErrLocked) {
		t.Error("other errors pass for one of the budget")
	}
}

func TestAStoreThatFailsIsNoRefusal(t *testing.T) {
	t.Parallel()
	p := &purse{broken: harness.ErrLocked}
	b := &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: 1}}
	_, err := b.Hold(t.Context(), "one", priced(), 10, 10)
	if !errors.Is(err, harness.ErrLocked) || policy.OverBudget(err) || !strings.Contains(err.Error(), "openai/gpt-5") {
		t.Errorf("the error is %v", err)
	}
}

func TestAHoldIsSettledOnce(t *testing.T) {
	t.Parallel()
	p := &purse{}
	b := &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: 10}}
	held, err := b.Hold(t.Context(), "one", priced(), 100_000, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if got := held.Cost(50_000, 1_000); !near(got, .11) {
		t.Errorf("what was seen of it cost $%v", got)
	}
	if got := held.Cost(100_000_000, 1_000); !near(got, held.Amount()) {
		t.Errorf("more was spent than held: $%v", got)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	p.broken = harness.ErrLocked
	if err := held.Settle(gone, .11); !errors.Is(err, harness.ErrLocked) {
		t.Errorf("a store that is in use says %v", err)
	}
	p.broken = nil
	for range 2 {
		if err := held.Settle(gone, .11); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.holds) > 0 || !near(p.unseen, .11) {
		t.Errorf("%d are held, $%v is unseen", len(p.holds), p.unseen)
	}
}

// Two windows ask at the same time, again and again, until the day's money is
// gone.
func TestWindowsShareOneBudget(t *testing.T) {
	t.Parallel()
	const limit = 1.0
	p := &purse{}
	var windows sync.WaitGroup
	for range 2 {
		windows.Go(func() {
			b := &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: limit}}
			for {
				held, err := b.Hold(context.Background(), "one", priced(), 8_000, 2_000)
				if err != nil {
					if !policy.OverBudget(err) {
						t.Error(err)
					}
					return
				}
				p.mu.Lock()
				p.spent += held.Amount()
				p.mu.Unlock()
				if err := held.Settle(context.Background(), 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	windows.Wait()
	if p.spent > limit+1e-9 || p.spent < limit-.05 {
		t.Errorf("$%v of $%v is spent", p.spent, limit)
	}
}

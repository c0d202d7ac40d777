package distill_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// purse holds until it is told not to.
type purse struct {
	err     error
	holds   []harness.Hold
	settled []float64
}

func (p *purse) Hold(_ context.Context, h harness.Hold, _ harness.SpendingLimits) (string, error) {
	p.holds = append(p.holds, h)
	return "h", p.err
}

func (p *purse) Settle(_ context.Context, _ string, unseen float64) error {
	p.settled = append(p.settled, unseen)
	return nil
}

// dear has the world's model cost something, within limits.
func (w *world) dear(p *purse) {
	w.d.Budget = &policy.Budget{Spending: p, Limits: harness.SpendingLimits{Day: 1}}
	w.d.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		return w.model, model.Info{ID: "test/model", PriceKnown: true, InputPrice: 1, OutputPrice: 10}, "test/model", nil
	}
}

func TestReadingKeepsWithinTheLimits(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t))
	p := &purse{err: &harness.SpendingError{Scope: "day", Limit: 1}}
	var log strings.Builder
	w.d.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.dear(p)
	w.say(t, "my name is Ada and I live in Bergen", "Noted.")
	if found := w.read(t); len(w.model.requests) != 0 || len(found.Suggested) != 0 || !strings.Contains(log.String(), "spending limit") {
		t.Errorf("%d calls, %+v, logged %q", len(w.model.requests), found, log.String())
	}
	if s := w.session(t); s.Distilled != 0 {
		t.Errorf("%d records count as read", s.Distilled)
	}
	// Another day there is room again, and nothing was lost.
	p.err = nil
	w.read(t)
	if s := w.session(t); len(w.model.requests) != 1 || s.Distilled == 0 {
		t.Errorf("%d calls, %d records read", len(w.model.requests), s.Distilled)
	}
	if len(p.settled) != 1 || p.settled[0] != 0 || p.holds[1].Amount < 1_500*10/1e6 || p.holds[1].Session != "s" {
		t.Errorf("held %+v, settled %v", p.holds, p.settled)
	}
}

func TestWhatAFailedReadingCostStaysHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		cost bool
	}{"broken off": {&model.Error{Kind: model.KindNetwork}, true}, "refused": {&model.Error{Kind: model.KindAuth}, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			p := &purse{}
			w.dear(p)
			w.model.err = c.err
			w.say(t, "my name is Ada and I live in Bergen", "Noted.")
			if _, err := w.d.Session(t.Context(), w.lease); !errors.Is(err, c.err) {
				t.Errorf("the failure reads %v", err)
			}
			if len(p.settled) != 1 || (p.settled[0] > 0) != c.cost {
				t.Errorf("settled %v", p.settled)
			}
		})
	}
}

func TestReadingIsBookedUnderTheModelThatDidIt(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t))
	w.d.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		info := model.Info{ID: "test/model", PriceKnown: true, Fallbacks: []model.Info{{ID: "test/dear", PriceKnown: true, OutputPrice: 1e5}}}
		return w.model, info, "test/model", nil
	}
	w.model.by = "test/dear"
	w.say(t, "my name is Ada and I live in Bergen", "Noted.")
	w.read(t)
	days, err := w.st.Ledger().Days(t.Context(), time.Time{}, time.Now().AddDate(1, 0, 0))
	if err != nil || len(days) != 1 || days[0].Model != "test/dear" || days[0].Usage.Cost != 1 {
		t.Errorf("booked %+v, %v", days, err)
	}
}

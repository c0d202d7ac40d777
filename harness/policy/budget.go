package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// estimateShare is what an estimated request may be short of, as a share of it:
// tokens are counted without the provider's own dictionary.
const estimateShare = 4

// PriceError says that a call was not made because nobody knows what it costs
// and a spending limit is set.
type PriceError struct {
	// Model is "provider/model".
	Model string
}

// Error implements error with a sentence that names the keys to set.
func (e *PriceError) Error() string {
	return fmt.Sprintf("a spending limit is set and the price of %s is not known; set models.%q.input_price and models.%q.output_price in the configuration, in USD for a million tokens", e.Model, e.Model, e.Model)
}

// OverBudget reports whether err is that of a call which the budget did not
// allow: a [*harness.SpendingError] or a [*PriceError].
func OverBudget(err error) bool {
	var spent *harness.SpendingError
	var price *PriceError
	return errors.As(err, &spent) || errors.As(err, &price)
}

// Budget keeps model calls within spending limits. Each call is held for the
// most that it can cost before it is made. A nil Budget allows everything. Its
// fields are set before the first use; its methods are safe for concurrent use.
type Budget struct {
	Spending harness.Spending
	Limits   harness.SpendingLimits
	// Holder says in which process the calls are made.
	Holder harness.Holder
	// Now is the clock; nil leaves it to that of Spending.
	Now func() time.Time
}

// Hold holds back the most that a call can cost, whichever of the model and its
// fallbacks answers, whose request is estimated at input tokens and whose reply
// has at most output tokens; output must not be 0 for an unknown limit. Where that
// would pass a limit, or a price is not known, the error fits [OverBudget], its
// sentence is for the person, and the call must not be made. Without limits, and
// for what costs nothing, the Held does nothing.
func (b *Budget) Hold(ctx context.Context, session harness.SessionID, info model.Info, input, output int) (*Held, error) {
	if b == nil || b.Spending == nil || !b.Limits.Any() {
		return &Held{info: info}, nil
	}
	if id := info.Unpriced(); id != "" {
		return nil, &PriceError{Model: id}
	}
	amount := info.Most(most(info, input), output)
	if amount == 0 {
		return &Held{info: info}, nil
	}
	id, err := b.Spending.Hold(ctx, harness.Hold{Session: session, Model: info.ID, Amount: amount, Holder: b.Holder, At: b.now()}, b.Limits)
	var over *harness.SpendingError
	if errors.As(err, &over) {
		return nil, over // alone: it is the sentence for the person
	}
	if err != nil {
		return nil, fmt.Errorf("hold %s for a call of %s: %w", harness.Dollars(amount), info.ID, err)
	}
	return &Held{spending: b.Spending, id: id, info: info, amount: amount}, nil
}

// now is when a hold begins, the zero time where Spending is to say it.
func (b *Budget) now() time.Time {
	if b.Now == nil {
		return time.Time{}
	}
	return b.Now()
}

// most is how many tokens a request may have that is estimated at input tokens: a
// quarter more, but no more than the windows hold.
func most(info model.Info, input int) int {
	more := input + input/estimateShare
	window := info.Window
	for _, f := range info.Fallbacks {
		window = max(window, f.Window)
	}
	if window > 0 {
		more = min(more, window)
	}
	return max(more, input)
}

// Held is what is held back for one call. Its methods are safe for concurrent
// use, and a nil Held does nothing.
type Held struct {
	spending harness.Spending
	info     model.Info
	amount   float64

	mu sync.Mutex
	id string
}

// Amount is what is held, in USD, 0 if nothing is.
func (h *Held) Amount() float64 {
	if h == nil {
		return 0
	}
	return h.amount
}

// Cost is what so many tokens are thought to have cost, for the part of a call
// that no usage tells of; it is at most what is held.
func (h *Held) Cost(input, output int) float64 {
	if h == nil {
		return 0
	}
	return min(h.info.Most(input, output), h.amount)
}

// Settle ends the hold once the call is over and its usage is booked. unseen is
// what it is thought to have cost that no usage tells of, see [Held.Cost]. A
// context that is cancelled does not keep it from being settled. Settling again
// does nothing, unless it went wrong before.
func (h *Held) Settle(ctx context.Context, unseen float64) error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.id == "" {
		return nil
	}
	if err := h.spending.Settle(context.WithoutCancel(ctx), h.id, max(unseen, 0)); err != nil {
		return fmt.Errorf("settle the hold %s of a call of %s: %w", h.id, h.info.ID, err)
	}
	h.id = ""
	return nil
}

// Failed settles the hold of a call that ended in err, so that its usage never
// arrives: where the provider did nothing it costs nothing, else what is thought
// to have cost that was sent and came back, see [Held.Cost].
func (h *Held) Failed(ctx context.Context, err error, input, output int) error {
	if model.Free(err) {
		return h.Settle(ctx, 0)
	}
	return h.Settle(ctx, h.Cost(input, output))
}

package policy

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
)

// Standing is how much of a spending limit is used. Amounts are in USD.
type Standing struct {
	Limit float64 `json:"limit"`
	// Spent was booked, Held is held for calls under way and for those whose cost
	// nobody saw.
	Spent float64 `json:"spent"`
	Held  float64 `json:"held"`
	// Left is what further calls may cost.
	Left float64 `json:"left"`
}

// Day tells how today's limit stands, false if there is none.
func (b *Budget) Day(ctx context.Context) (Standing, bool, error) {
	if b == nil || b.Limits.Day <= 0 {
		return Standing{}, false, nil
	}
	return b.standing(ctx, harness.NoSession, harness.SpendingLimits{Day: b.Limits.Day})
}

// Session tells how the limit of a session stands, false if there is none.
func (b *Budget) Session(ctx context.Context, id harness.SessionID) (Standing, bool, error) {
	if b == nil || b.Limits.Session <= 0 {
		return Standing{}, false, nil
	}
	return b.standing(ctx, id, harness.SpendingLimits{Session: b.Limits.Session})
}

// standing asks for more than there can be: the refusal tells what there is.
func (b *Budget) standing(ctx context.Context, id harness.SessionID, l harness.SpendingLimits) (Standing, bool, error) {
	if b.Spending == nil {
		return Standing{}, false, nil
	}
	limit := max(l.Day, l.Session)
	held, err := b.Spending.Hold(ctx, harness.Hold{Session: id, Model: "none", Amount: 2*limit + 1, Holder: b.Holder, At: b.now()}, l)
	var over *harness.SpendingError
	if errors.As(err, &over) {
		return Standing{Limit: limit, Spent: over.Spent, Held: over.Held, Left: max(limit-over.Spent-over.Held, 0)}, true, nil
	}
	if err == nil { // a store that lets a limit be passed
		err = errors.Join(fmt.Errorf("%s of %s could be held", harness.Dollars(2*limit+1), harness.Dollars(limit)), b.Spending.Settle(ctx, held, 0))
	}
	return Standing{}, false, fmt.Errorf("look at the spending limits: %w", err)
}

package harness

import (
	"context"
	"fmt"
	"time"
)

// SpendingLimits bound what model calls may cost, in USD; 0 is no limit.
type SpendingLimits struct {
	// Session bounds each session, over all days, Day all sessions of one local
	// day.
	Session float64 `json:"session,omitempty"`
	Day     float64 `json:"day,omitempty"`
}

// Any reports whether there is a limit at all.
func (l SpendingLimits) Any() bool { return l.Session > 0 || l.Day > 0 }

// Hold is money that is held back for a model call that is under way.
type Hold struct {
	// ID is assigned.
	ID      string    `json:"id"`
	Session SessionID `json:"session"`
	// Model is "provider/model".
	Model string `json:"model"`
	// Amount is the most that the call can cost, in USD; of a call that is over
	// what it is thought to have cost beyond what was booked.
	Amount float64   `json:"amount"`
	Over   bool      `json:"over,omitempty"`
	Holder Holder    `json:"holder"`
	At     time.Time `json:"at"`
}

// Spending lets windows share one budget: each holds back the most that a call
// can cost before it makes it, so that together they never pass a limit. All
// methods are safe for concurrent use, also from several processes.
type Spending interface {
	// Hold holds h.Amount back, in one transaction with the look at what was
	// spent: the booked costs of the session and of the local day and all that is
	// held. Where that and h.Amount pass a limit nothing is held and the error is
	// a [*SpendingError]. Of a call whose end nobody saw, as its process died, the
	// amount stays held until its day is over, and a day in the session.
	Hold(ctx context.Context, h Hold, l SpendingLimits) (id string, err error)
	// Settle ends a hold whose call is over and whose usage is booked. unseen is
	// what the call is thought to have cost that no usage tells of, such as one
	// that was broken off; it stays held like that of a dead process. A hold that
	// is not there any more is no error.
	Settle(ctx context.Context, id string, unseen float64) error
}

// SpendingError says that a model call would pass a limit. Amounts are in USD.
type SpendingError struct {
	// Scope is "session" or "day".
	Scope string
	Limit float64
	// Spent was booked, Held is held for other calls, Needed is the most that the
	// refused call can cost.
	Spent, Held, Needed float64
}

// Error implements error with a sentence that says what to do.
func (e *SpendingError) Error() string {
	key, of := "spending.day", "today"
	if e.Scope == "session" {
		key, of = "spending.session", "in this session"
	}
	held := ""
	if e.Held > 0 {
		held = fmt.Sprintf(", %s is held for other calls", Dollars(e.Held))
	}
	return fmt.Sprintf("the spending limit of %s would be passed: %s is spent %s%s, and this call may cost up to %s; raise %s in the configuration or choose a cheaper model",
		Dollars(e.Limit), Dollars(e.Spent), of, held, Dollars(e.Needed), key)
}

// Dollars is an amount in USD for people, such as "$5.00". What is less than a
// cent has more decimals, so that it is never told as nothing.
func Dollars(usd float64) string {
	switch {
	case usd > 0 && usd < 0.0001:
		return "less than $0.0001"
	case usd > 0 && usd < 0.01:
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

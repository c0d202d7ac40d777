package rules

import (
	"fmt"
	"math"
	"time"

	"cairn/harness"
)

const (
	// holdLife is how long money of a call whose end nobody saw is held in its
	// session.
	holdLife = 24 * time.Hour
	// rounding is what sums of money may be wrong by, in USD, because they are sums.
	rounding = 1e-9
)

// Day is the local day of a time: a person's spending limit is per day of theirs.
func Day(at time.Time) string { return at.Local().Format(time.DateOnly) }

// NewHold returns h as it is stored, or why it cannot be.
func NewHold(h harness.Hold, l harness.SpendingLimits, now time.Time) (harness.Hold, error) {
	for _, usd := range []float64{h.Amount, l.Session, l.Day} {
		if err := checkAmount(usd); err != nil {
			return h, err
		}
	}
	h.ID, h.Over = harness.NewID(), false
	if h.At.IsZero() {
		h.At = now
	}
	return h, nil
}

func checkAmount(usd float64) error {
	if math.IsNaN(usd) || math.IsInf(usd, 0) || usd < 0 {
		return fmt.Errorf("%v is no amount of money", usd)
	}
	return nil
}

// SettledHold returns what is left of a hold whose call is over, nil if that is
// nothing.
func SettledHold(h harness.Hold, unseen float64, now time.Time) (*harness.Hold, error) {
	if err := checkAmount(unseen); err != nil || unseen == 0 {
		return nil, err
	}
	h.Amount, h.Over, h.At = unseen, true, now
	return &h, nil
}

// HoldGone reports whether a hold counts nowhere any more, whoever has it.
func HoldGone(h harness.Hold, now time.Time) bool {
	return now.Sub(h.At) >= holdLife && Day(h.At) < Day(now)
}

// Spent is what a budget has been used for, in USD.
type Spent struct {
	// Session and Day are what was booked of the session and today.
	Session, Day         float64
	heldSession, heldDay float64
}

// Add counts a hold. alive tells whether its process lives: what that books when
// its call ends counts today, on whatever day the call began. One of a time that is
// far ahead counts nowhere: the clock was wrong then, and a limit would be used up
// until that time has come.
func (s *Spent) Add(h harness.Hold, session harness.SessionID, now time.Time, alive func() (bool, error)) error {
	near := now.Sub(h.At).Abs() < holdLife
	if near && h.Session == session {
		s.heldSession += h.Amount
	}
	today := Day(h.At) == Day(now) || near && Day(h.At) > Day(now)
	if !today && near && !h.Over {
		var err error
		if today, err = alive(); err != nil {
			return err
		}
	}
	if today {
		s.heldDay += h.Amount
	}
	return nil
}

// Refuse returns why a call that may cost an amount is not to be made, nil if it
// may. One that costs nothing passes no limit.
func (s *Spent) Refuse(amount float64, l harness.SpendingLimits) error {
	for _, scope := range []struct {
		name               string
		limit, spent, held float64
	}{{"session", l.Session, s.Session, s.heldSession}, {"day", l.Day, s.Day, s.heldDay}} {
		if amount > 0 && scope.limit > 0 && scope.spent+scope.held+amount > scope.limit+rounding {
			return &harness.SpendingError{Scope: scope.name, Limit: scope.limit, Spent: scope.spent, Held: scope.held, Needed: amount}
		}
	}
	return nil
}

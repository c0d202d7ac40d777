package mem

import (
	"context"
	"slices"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Spending = (*Spending)(nil)

// Spending lets the callers of a store share one budget.
type Spending struct{ st *Store }

// Spending returns the view that implements [harness.Spending].
func (st *Store) Spending() *Spending { return &Spending{st} }

// hold is money that is held, for a process that lives or not.
type hold struct {
	harness.Hold
	alive bool
}

// Hold implements [harness.Spending].
func (v *Spending) Hold(ctx context.Context, h harness.Hold, l harness.SpendingLimits) (string, error) {
	id := ""
	err := v.st.change(ctx, "hold money for a call of "+h.Model, func() error {
		now := v.st.now()
		made, err := rules.NewHold(h, l, now)
		if err != nil {
			return err
		}
		made.Holder = v.st.fill(made.Holder)
		var spent rules.Spent
		if s := v.st.sessions[made.Session]; s != nil {
			spent.Session = s.info.Usage.Cost
		}
		for _, u := range v.st.usage[rules.Day(now)] {
			spent.Day += u.Cost
		}
		for _, k := range v.st.holds {
			if err := spent.Add(k.Hold, made.Session, now, func() (bool, error) { return k.alive, nil }); err != nil {
				return err
			}
		}
		if err := spent.Refuse(made.Amount, l); err != nil {
			return err
		}
		v.st.holds = slices.DeleteFunc(v.st.holds, func(k hold) bool { return rules.HoldGone(k.Hold, now) })
		v.st.holds = append(v.st.holds, hold{made, true})
		id = made.ID
		return nil
	})
	return id, err
}

// Settle implements [harness.Spending].
func (v *Spending) Settle(ctx context.Context, id string, unseen float64) error {
	return v.st.change(ctx, "settle what was held for a call", func() error {
		at := slices.IndexFunc(v.st.holds, func(k hold) bool { return k.ID == id && !k.Over })
		if at < 0 {
			return nil
		}
		to, err := rules.SettledHold(v.st.holds[at].Hold, unseen, v.st.now())
		if err != nil {
			return err
		}
		if to == nil {
			v.st.holds = slices.Delete(v.st.holds, at, at+1)
			return nil
		}
		v.st.holds[at].Hold = *to
		return nil
	})
}

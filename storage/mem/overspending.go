package mem

import (
	"context"
	"errors"
	"sync"

	"cairn/harness"
)

var _ harness.Spending = (*OverSpending)(nil)

// SpendingOver returns the budget of this store's sessions as a part of that of
// standing: the limit of the day counts over both, though what is booked here is
// forgotten with the store. There it stays held until its day is over.
func (st *Store) SpendingOver(standing harness.Spending) *OverSpending {
	return &OverSpending{own: st.Spending(), standing: standing, ids: map[string]string{}}
}

// OverSpending is the budget of two stores; see [Store.SpendingOver].
type OverSpending struct {
	own      *Spending
	standing harness.Spending

	// mu guards what follows.
	mu sync.Mutex
	// ids are the holds in standing by those here.
	ids map[string]string
	// told is what of all that was booked here standing knows.
	told float64
}

// Hold implements [harness.Spending].
func (v *OverSpending) Hold(ctx context.Context, h harness.Hold, l harness.SpendingLimits) (string, error) {
	there, err := v.standing.Hold(ctx, h, harness.SpendingLimits{Day: l.Day})
	if err != nil {
		return "", err
	}
	id, err := v.own.Hold(ctx, h, harness.SpendingLimits{Session: l.Session})
	if err != nil {
		return "", errors.Join(err, v.standing.Settle(context.WithoutCancel(ctx), there, 0))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ids[id] = there
	return id, nil
}

// Settle implements [harness.Spending].
func (v *OverSpending) Settle(ctx context.Context, id string, unseen float64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	there, ok := v.ids[id]
	if !ok {
		return nil
	}
	if err := v.own.Settle(ctx, id, unseen); err != nil {
		return err
	}
	// What was booked and is not told yet is told by whoever comes first.
	booked := v.own.st.booked()
	if err := v.standing.Settle(ctx, there, unseen+max(0, booked-v.told)); err != nil {
		return err
	}
	v.told = booked
	delete(v.ids, id)
	return nil
}

// booked is what all calls cost that were booked.
func (st *Store) booked() (cost float64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, day := range st.usage {
		for _, u := range day {
			cost += u.Cost
		}
	}
	return cost
}

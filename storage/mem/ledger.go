package mem

import (
	"context"
	"maps"
	"slices"
	"time"

	"cairn/harness"
)

var _ harness.Ledger = (*Ledger)(nil)

// Ledger keeps account of the model calls of a store.
type Ledger struct{ st *Store }

// Ledger returns the view that implements [harness.Ledger].
func (st *Store) Ledger() *Ledger { return &Ledger{st} }

// Book implements [harness.Ledger].
func (v *Ledger) Book(ctx context.Context, id harness.SessionID, model string, u harness.Usage) error {
	return v.st.change(ctx, "book what session "+string(id)+" used", func() error {
		if s := v.st.sessions[id]; s != nil && s.info.Deleted == nil {
			s.info.Usage = s.info.Usage.Add(u)
		}
		v.st.book(model, u)
		return nil
	})
}

// Days implements [harness.Ledger].
func (v *Ledger) Days(ctx context.Context, from, to time.Time) ([]harness.DayUsage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	first, last := from.Local().Format(time.DateOnly), to.Local().Format(time.DateOnly)
	var days []harness.DayUsage
	for _, day := range slices.Sorted(maps.Keys(v.st.usage)) {
		if day < first || day > last {
			continue
		}
		for _, model := range slices.Sorted(maps.Keys(v.st.usage[day])) {
			days = append(days, harness.DayUsage{Day: day, Model: model, Usage: v.st.usage[day][model]})
		}
	}
	return days, nil
}

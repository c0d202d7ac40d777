package mem

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Limits = (*Limits)(nil)

// Limits remembers what models were seen to have.
type Limits struct{ st *Store }

// Limits returns the view that implements [harness.Limits].
func (st *Store) Limits() *Limits { return &Limits{st} }

// Get implements [harness.Limits].
func (v *Limits) Get(ctx context.Context, model string) (harness.LearnedLimits, error) {
	if err := ctx.Err(); err != nil {
		return harness.LearnedLimits{}, fmt.Errorf("read the limits of %s: %w", model, context.Cause(ctx))
	}
	if _, _, err := rules.ModelName(model); err != nil {
		return harness.LearnedLimits{}, fmt.Errorf("read limits: %w", err)
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	return v.st.limits[model], nil
}

// Learn implements [harness.Limits].
func (v *Limits) Learn(ctx context.Context, model string, l harness.LearnedLimits) error {
	return v.st.change(ctx, "learn the limits of "+model, func() error {
		if _, _, err := rules.ModelName(model); err != nil {
			return err
		}
		learned, err := rules.Learn(v.st.limits[model], l)
		if err == nil {
			v.st.limits[model] = learned
		}
		return err
	})
}

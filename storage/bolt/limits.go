package bolt

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Limits = (*Limits)(nil)

// Limits remembers what models were seen to have.
type Limits struct{ d *DB }

// Limits returns the view that implements [harness.Limits].
func (d *DB) Limits() *Limits { return &Limits{d} }

// Get implements [harness.Limits]. All models are counted, so that one that
// vanished is noticed.
func (v *Limits) Get(ctx context.Context, model string) (l harness.LearnedLimits, err error) {
	provider, name, err := rules.ModelName(model)
	if err != nil {
		return l, fmt.Errorf("read limits: %w", err)
	}
	err = v.d.view(ctx, "read the limits of "+model, func(t *tx) error {
		l = harness.LearnedLimits{}
		limits, err := t.root("limits")
		if err != nil {
			return err
		}
		if err := t.countLimits(limits); err != nil {
			return err
		}
		b, ok := limits.sub(provider)
		if !ok {
			return nil
		}
		_, err = b.get([]byte(name), &l)
		return err
	})
	return l, err
}

// Learn implements [harness.Limits].
func (v *Limits) Learn(ctx context.Context, model string, l harness.LearnedLimits) error {
	provider, name, err := rules.ModelName(model)
	if err != nil {
		return fmt.Errorf("learn limits: %w", err)
	}
	return v.d.update(ctx, "learn the limits of "+model, func(t *tx) error {
		limits, err := t.root("limits")
		if err != nil {
			return err
		}
		if err := t.countLimits(limits); err != nil {
			return err
		}
		var known harness.LearnedLimits
		b, ok := limits.sub(provider)
		if ok {
			if ok, err = b.get([]byte(name), &known); err != nil {
				return err
			}
		}
		next, err := rules.Learn(known, l)
		if err != nil || next == known {
			return err
		}
		if b, err = limits.make(provider); err != nil {
			return err
		}
		if err := b.put([]byte(name), next); err != nil || ok {
			return err
		}
		c, err := t.counters()
		if err != nil {
			return err
		}
		n, err := limits.models()
		c.Limits = n
		return err
	})
}

// models counts the models of which something was learned.
func (b bucket) models() (n int, err error) {
	err = b.each(nil, func(key, value []byte) (bool, error) {
		if value != nil {
			return false, b.t.d.damaged(place(b.path, key), "it is no provider")
		}
		provider, err := b.must(string(key))
		if err != nil {
			return false, err
		}
		return true, provider.each(nil, func([]byte, []byte) (bool, error) { n++; return true, nil })
	})
	return n, err
}

// countLimits looks whether all that was learned is there. A cairn that learns
// no limits leaves no number of them.
func (t *tx) countLimits(limits bucket) error {
	c, err := t.counters()
	if err != nil || c.Limits == 0 {
		return err
	}
	n, err := limits.models()
	if err == nil && n != c.Limits {
		err = t.d.damaged("limits", fmt.Sprintf("it has %d models of %d", n, c.Limits))
	}
	return err
}

// checkLimits reads all that was learned.
func (t *tx) checkLimits() error {
	limits, err := t.root("limits")
	if err != nil {
		return err
	}
	return t.countLimits(limits)
}

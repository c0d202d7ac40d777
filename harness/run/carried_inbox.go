package run

import (
	"context"
	"fmt"

	"cairn/harness"
)

// carriedInbox takes suggestions along.
type carriedInbox struct{ v *CarriedView }

// Put implements [harness.Inbox].
func (c carriedInbox) Put(ctx context.Context, s harness.Suggestion, key string) (stored harness.Suggestion, filed bool, err error) {
	if err := secret("suggestion", append([]string{s.Text, s.Category, s.Why}, s.Tags...)...); err != nil {
		return stored, false, err
	}
	err = c.v.change(ctx, "file a suggestion", func(call *deskCall) error {
		if id := c.v.keys[key]; key != "" && id != "" {
			s.ID, stored, filed = id, s, true
			return nil
		}
		if _, ok := c.v.facts.find(s.Fact); !ok && s.Fact != "" {
			looked(ctx)
			return fmt.Errorf("fact %s: %w", s.Fact, harness.ErrNotFound)
		}
		if _, ok := c.v.facts.same(s.Text, ""); ok && s.Kind == harness.SuggestAdd {
			return nil // it is remembered already
		}
		kept := s
		s.ID = harness.NewIDPrefix + call.add(harness.Effect{Kind: harness.EffectSuggest, Suggestion: &kept})
		c.v.remember(key, s.ID)
		stored, filed = s, true
		return nil
	})
	return stored, filed, err
}

// Deliver implements [harness.Inbox].
func (c carriedInbox) Deliver(context.Context, harness.Lease, harness.Harvest) ([]harness.Suggestion, error) {
	return nil, fmt.Errorf("file what was found: %w", errElsewhere)
}

// Get implements [harness.Inbox].
func (c carriedInbox) Get(_ context.Context, id string) (harness.Suggestion, error) {
	return harness.Suggestion{}, fmt.Errorf("read suggestion %s: %w", id, harness.ErrNotFound)
}

// List implements [harness.Inbox].
func (c carriedInbox) List(context.Context, harness.InboxFilter) ([]harness.Suggestion, error) {
	return nil, nil
}

// Accept implements [harness.Inbox].
func (c carriedInbox) Accept(_ context.Context, id string, _ harness.FactEdit) (harness.Fact, error) {
	return harness.Fact{}, fmt.Errorf("accept suggestion %s: %w", id, errElsewhere)
}

// Refuse implements [harness.Inbox].
func (c carriedInbox) Refuse(_ context.Context, id string) error {
	return fmt.Errorf("refuse suggestion %s: %w", id, errElsewhere)
}

// Reopen implements [harness.Inbox].
func (c carriedInbox) Reopen(_ context.Context, id string) (harness.Suggestion, error) {
	return harness.Suggestion{}, fmt.Errorf("reopen suggestion %s: %w", id, errElsewhere)
}

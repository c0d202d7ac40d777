package bolt

import (
	"context"
	"strconv"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Inbox = (*Inbox)(nil)

// suggestionPrefix begins the ids of suggestions.
const suggestionPrefix = "i"

// Inbox keeps the suggestions of a file.
type Inbox struct{ d *DB }

// Inbox returns the view that implements [harness.Inbox].
func (d *DB) Inbox() *Inbox { return &Inbox{d} }

// Put implements [harness.Inbox].
func (v *Inbox) Put(ctx context.Context, s harness.Suggestion, key string) (stored harness.Suggestion, filed bool, err error) {
	err = v.d.update(ctx, "file a suggestion", func(t *tx) (err error) {
		stored, filed, err = t.inbox().Put(s, key)
		return err
	})
	return stored, filed && err == nil, err
}

// Deliver implements [harness.Inbox].
func (v *Inbox) Deliver(ctx context.Context, l harness.Lease, h harness.Harvest) ([]harness.Suggestion, error) {
	var filed []harness.Suggestion
	err := v.d.update(ctx, "file what was found in session "+string(l.Session), func(t *tx) error {
		filed = nil
		s, err := t.present(l.Session)
		if err != nil {
			return err
		}
		if err := s.writableBy(l); err != nil {
			return err
		}
		if filed, err = t.inbox().Deliver(s.info.Distilled, s.info.Records, h); err != nil {
			return err
		}
		if err := t.addUsage(h.Model, h.Usage); err != nil {
			return err
		}
		s.info.Distilled = h.To
		s.info.Usage = s.info.Usage.Add(h.Usage)
		return s.save()
	})
	if err != nil {
		return nil, err
	}
	return filed, nil
}

// Get implements [harness.Inbox].
func (v *Inbox) Get(ctx context.Context, id string) (harness.Suggestion, error) {
	var s harness.Suggestion
	err := v.d.view(ctx, "read suggestion "+id, func(t *tx) (err error) {
		s, err = t.inbox().Get(id)
		return err
	})
	return s, err
}

// List implements [harness.Inbox].
func (v *Inbox) List(ctx context.Context, f harness.InboxFilter) ([]harness.Suggestion, error) {
	var list []harness.Suggestion
	err := v.d.view(ctx, "list the inbox", func(t *tx) (err error) {
		list, err = t.inbox().List(f)
		return err
	})
	return list, err
}

// Accept implements [harness.Inbox].
func (v *Inbox) Accept(ctx context.Context, id string, e harness.FactEdit) (harness.Fact, error) {
	var f harness.Fact
	err := v.d.update(ctx, "accept suggestion "+id, func(t *tx) (err error) {
		f, err = t.inbox().Accept(id, e)
		return err
	})
	return f, err
}

// Refuse implements [harness.Inbox].
func (v *Inbox) Refuse(ctx context.Context, id string) error {
	return v.d.update(ctx, "refuse suggestion "+id, func(t *tx) error { return t.inbox().Refuse(id) })
}

// Reopen implements [harness.Inbox].
func (v *Inbox) Reopen(ctx context.Context, id string) (harness.Suggestion, error) {
	var s harness.Suggestion
	err := v.d.update(ctx, "reopen suggestion "+id, func(t *tx) (err error) {
		s, err = t.inbox().Reopen(id)
		return err
	})
	return s, err
}

func (t *tx) inbox() rules.Inbox {
	return rules.Inbox{Tray: tray{t}, Facts: factShelf{txShelf[harness.Fact]{t, t.d.Facts().v}}, Now: t.now}
}

// numberOfSuggestion returns the number in an id in its only form.
func numberOfSuggestion(id string) (int, bool) {
	if len(id) < 2 || id[:1] != suggestionPrefix {
		return 0, false
	}
	n, err := strconv.Atoi(id[1:])
	return n, err == nil && n > 0 && strconv.Itoa(n) == id[1:]
}

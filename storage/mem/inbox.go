package mem

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Inbox = (*Inbox)(nil)

// Inbox keeps the suggestions of a store.
type Inbox struct{ st *Store }

// Inbox returns the view that implements [harness.Inbox].
func (st *Store) Inbox() *Inbox { return &Inbox{st} }

func (v *Inbox) rules() rules.Inbox {
	return rules.Inbox{Tray: tray{v.st}, Facts: factShelf{txShelf[harness.Fact]{v.st.Facts().v}}, Now: v.st.now()}
}

// Put implements [harness.Inbox].
func (v *Inbox) Put(ctx context.Context, s harness.Suggestion, key string) (stored harness.Suggestion, filed bool, err error) {
	err = v.st.change(ctx, "file a suggestion", func() (err error) {
		if s, err = clone(s); err == nil {
			stored, filed, err = v.rules().Put(s, key)
		}
		return err
	})
	return stored, filed, err
}

// Deliver implements [harness.Inbox].
func (v *Inbox) Deliver(ctx context.Context, l harness.Lease, h harness.Harvest) ([]harness.Suggestion, error) {
	var filed []harness.Suggestion
	err := v.st.change(ctx, "file what was found in session "+string(l.Session), func() error {
		if s := v.st.sessions[l.Session]; s == nil || s.info.Deleted != nil {
			return harness.ErrNotFound
		}
		s, err := v.st.writable(l)
		if err != nil {
			return err
		}
		if h, err = clone(h); err != nil {
			return err
		}
		if filed, err = v.rules().Deliver(s.info.Distilled, s.info.Records, h); err != nil {
			return err
		}
		s.info.Distilled = h.To
		s.info.Usage = s.info.Usage.Add(h.Usage)
		v.st.book(h.Model, h.Usage)
		return nil
	})
	return filed, err
}

// book adds tokens to the day and the model.
func (st *Store) book(model string, u harness.Usage) {
	if u == (harness.Usage{}) {
		return
	}
	day := st.now().Local().Format(time.DateOnly)
	if st.usage[day] == nil {
		st.usage[day] = map[string]harness.Usage{}
	}
	st.usage[day][model] = st.usage[day][model].Add(u)
}

// Get implements [harness.Inbox].
func (v *Inbox) Get(ctx context.Context, id string) (s harness.Suggestion, err error) {
	err = v.read(ctx, "read suggestion "+id, func() (err error) {
		s, err = v.rules().Get(id)
		return err
	})
	return s, err
}

// List implements [harness.Inbox].
func (v *Inbox) List(ctx context.Context, f harness.InboxFilter) (list []harness.Suggestion, err error) {
	err = v.read(ctx, "list the inbox", func() (err error) {
		list, err = v.rules().List(f)
		return err
	})
	return list, err
}

// read runs fn, which changes nothing.
func (v *Inbox) read(ctx context.Context, op string, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	if err := fn(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// Accept implements [harness.Inbox].
func (v *Inbox) Accept(ctx context.Context, id string, e harness.FactEdit) (f harness.Fact, err error) {
	err = v.st.change(ctx, "accept suggestion "+id, func() (err error) {
		f, err = v.rules().Accept(id, e)
		return err
	})
	return f, err
}

// Refuse implements [harness.Inbox].
func (v *Inbox) Refuse(ctx context.Context, id string) error {
	return v.st.change(ctx, "refuse suggestion "+id, func() error { return v.rules().Refuse(id) })
}

// Reopen implements [harness.Inbox].
func (v *Inbox) Reopen(ctx context.Context, id string) (s harness.Suggestion, err error) {
	err = v.st.change(ctx, "reopen suggestion "+id, func() (err error) {
		s, err = v.rules().Reopen(id)
		return err
	})
	return s, err
}

// tray are the suggestions of a store.
type tray struct{ st *Store }

// All implements [rules.Tray].
func (y tray) All() ([]rules.Kept, error) { return clone(y.st.inbox) }

// Put implements [rules.Tray].
func (y tray) Put(k rules.Kept) error {
	k, err := clone(k)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(y.st.inbox, func(have rules.Kept) bool { return have.Item.ID == k.Item.ID })
	if at < 0 {
		y.st.inbox = append(y.st.inbox, k)
	} else {
		y.st.inbox[at] = k
	}
	return nil
}

// Next implements [rules.Tray].
func (y tray) Next() (string, error) {
	y.st.lastSuggestion++
	return fmt.Sprint("i", y.st.lastSuggestion), nil
}

// Keyed implements [rules.Tray].
func (y tray) Keyed(key string) (string, bool, error) {
	id, ok := y.st.suggestionKeys[key]
	return id, ok, nil
}

// Remember implements [rules.Tray].
func (y tray) Remember(key, id string) error {
	y.st.suggestionKeys[key] = id
	return nil
}

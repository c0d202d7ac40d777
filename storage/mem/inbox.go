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
	return rules.Inbox{Tray: tray{v.st}, Facts: factShelf{v.st.Facts().v}, Now: v.st.now()}
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

// factShelf are the facts of a store whose lock is held.
type factShelf struct{ v view[harness.Fact] }

// Get implements [rules.FactShelf].
func (s factShelf) Get(id string) (harness.Fact, error) {
	have, err := s.v.find(id)
	if err != nil {
		return harness.Fact{}, err
	}
	return clone(have.item)
}

// Revision implements [rules.FactShelf].
func (s factShelf) Revision(id string, n int) (harness.Fact, error) {
	have, err := s.v.find(id)
	if err == nil && (n < 1 || n > len(have.older)) {
		err = fmt.Errorf("version %d of %s: %w", n, id, harness.ErrNotFound)
	}
	if err != nil {
		return harness.Fact{}, err
	}
	return clone(have.older[n-1])
}

// Same implements [rules.FactShelf].
func (s factShelf) Same(f harness.Fact) (string, error) {
	if have := s.v.same(f, ""); have != nil {
		return have.item.ID, nil
	}
	return "", nil
}

// Forgotten implements [rules.FactShelf].
func (s factShelf) Forgotten() (map[string]bool, error) {
	texts := map[string]bool{}
	for _, have := range s.v.shelf.items {
		if have.item.State == harness.StateTrashed {
			texts[rules.SameText(have.item.Text)] = true
		}
	}
	return texts, nil
}

// Save implements [rules.FactShelf].
func (s factShelf) Save(f harness.Fact) (harness.Fact, error) {
	have, _ := s.v.keep(f)
	return clone(have.item)
}

// Edit implements [rules.FactShelf].
func (s factShelf) Edit(id string, edit func(*harness.Fact)) (harness.Fact, error) {
	return s.v.revise(id, edit)
}

// Forget implements [rules.FactShelf].
func (s factShelf) Forget(id string) (harness.Fact, error) {
	have, err := s.v.find(id)
	if err != nil {
		return harness.Fact{}, err
	}
	s.v.discard(have)
	return clone(have.item)
}

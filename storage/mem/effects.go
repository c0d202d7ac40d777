package mem

import (
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// memory is the long-term memory for what a run with these entries did elsewhere.
func (st *Store) memory(log []run.Entry) rules.Memory {
	facts, notes := st.Facts(), st.Notes()
	return rules.Memory{
		Facts: txShelf[harness.Fact]{facts.v}, Notes: txShelf[harness.Note]{notes.v}, Inbox: st.Inbox().rules(),
		Use: func(id string) error { facts.use(id); return nil },
		Record: func(seq int) (int, error) {
			at := slices.IndexFunc(log, func(e run.Entry) bool { return e.Seq == seq })
			if at < 0 {
				return 0, nil
			}
			return log[at].Record, nil
		},
	}
}

// txShelf are facts or notes of a store whose lock is held.
type txShelf[T any] struct{ v view[T] }

// Keyed implements [rules.Shelf].
func (s txShelf[T]) Keyed(key string) (id string, ok bool, err error) {
	id, ok = s.v.shelf.keys[key]
	return id, ok, nil
}

// Get implements [rules.Shelf].
func (s txShelf[T]) Get(id string) (T, error) {
	have, err := s.v.find(id)
	if err != nil {
		var none T
		return none, err
	}
	return clone(have.item)
}

// Keep implements [rules.Shelf].
func (s txShelf[T]) Keep(item T, key string) (T, error) {
	have, _ := s.v.keepAs(item, key)
	return clone(have.item)
}

// Edit implements [rules.Shelf].
func (s txShelf[T]) Edit(id string, edit func(*T)) (T, error) { return s.v.revise(id, edit) }

// Forget implements [rules.Shelf].
func (s txShelf[T]) Forget(id string) (T, error) {
	have, err := s.v.find(id)
	if err != nil {
		var none T
		return none, err
	}
	s.v.discard(have)
	return clone(have.item)
}

// factShelf are the facts of a store whose lock is held, as the inbox needs them.
type factShelf struct{ txShelf[harness.Fact] }

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
func (s factShelf) Save(f harness.Fact) (harness.Fact, error) { return s.Keep(f, "") }

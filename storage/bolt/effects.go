package bolt

import (
	"fmt"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// memory is the long-term memory for what the run did elsewhere.
func (r *runBucket) memory() rules.Memory {
	facts, notes := r.t.d.Facts(), r.t.d.Notes()
	return rules.Memory{
		Facts: txShelf[harness.Fact]{r.t, facts.v}, Notes: txShelf[harness.Note]{r.t, notes.v}, Inbox: r.t.inbox(),
		Use: func(id string) error { return facts.use(r.t, id) },
		Record: func(seq int) (int, error) {
			if seq > r.info.Cursor {
				return 0, nil
			}
			var e run.Entry
			err := r.need(logKey(seq), &e)
			return e.Record, err
		},
	}
}

// txShelf are facts or notes in a transaction.
type txShelf[T any] struct {
	t *tx
	v shelf[T]
}

// Keyed implements [rules.Shelf].
func (s txShelf[T]) Keyed(key string) (id string, ok bool, err error) {
	keys, err := s.t.root("keys")
	if err != nil || key == "" {
		return "", false, err
	}
	ok, err = keys.get(s.v.keyOf(key), &id)
	return id, ok, err
}

// Get implements [rules.Shelf].
func (s txShelf[T]) Get(id string) (T, error) {
	f, err := s.v.find(s.t, id)
	if err != nil {
		var none T
		return none, err
	}
	return f.Item, nil
}

// Keep implements [rules.Shelf].
func (s txShelf[T]) Keep(item T, key string) (T, error) {
	kept, _, err := s.v.keepAs(s.t, item, key)
	return kept, err
}

// Edit implements [rules.Shelf].
func (s txShelf[T]) Edit(id string, edit func(*T)) (T, error) {
	return s.v.revise(s.t, id, edit)
}

// Forget implements [rules.Shelf].
func (s txShelf[T]) Forget(id string) (T, error) {
	f, err := s.v.find(s.t, id)
	if err == nil {
		err = s.v.discard(s.t, f)
	}
	if err != nil {
		var none T
		return none, err
	}
	return f.Item, nil
}

// factShelf are the facts in a transaction, as the inbox needs them.
type factShelf struct{ txShelf[harness.Fact] }

// Revision implements [rules.FactShelf].
func (s factShelf) Revision(id string, n int) (harness.Fact, error) {
	f, err := s.v.find(s.t, id)
	if err != nil {
		return harness.Fact{}, err
	}
	older, err := s.v.olderRevisions(f)
	if err == nil && (n < 1 || n > len(older)) {
		err = fmt.Errorf("version %d of %s: %w", n, id, harness.ErrNotFound)
	}
	if err != nil {
		return harness.Fact{}, err
	}
	return older[n-1], nil
}

// Same implements [rules.FactShelf].
func (s factShelf) Same(f harness.Fact) (string, error) {
	other, err := s.v.twin(s.t, f, "")
	if err != nil || other == nil {
		return "", err
	}
	return other.id, nil
}

// Forgotten implements [rules.FactShelf].
func (s factShelf) Forgotten() (map[string]bool, error) {
	trash, err := s.t.root("trash")
	if err != nil {
		return nil, err
	}
	kind, ok := trash.sub(s.v.kind.Name)
	if !ok {
		return nil, nil
	}
	texts := map[string]bool{}
	err = kind.each(nil, func(key, _ []byte) (bool, error) {
		if len(key) <= 8 {
			return false, s.t.d.damaged(place(kind.path, key), "the key is too short")
		}
		f, err := s.v.find(s.t, string(key[8:]))
		if err != nil {
			return false, err
		}
		texts[rules.SameText(f.Item.Text)] = true
		return true, nil
	})
	return texts, err
}

// Save implements [rules.FactShelf].
func (s factShelf) Save(fact harness.Fact) (harness.Fact, error) { return s.Keep(fact, "") }

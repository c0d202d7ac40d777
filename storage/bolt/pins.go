package bolt

import (
	"bytes"
	"context"
)

// markPins completes the places of items that a cairn wrote that does not tell
// there whether they are pinned, some in each transaction.
func (v shelf[T]) markPins(ctx context.Context) error {
	after := []byte(nil)
	for {
		var due [][]byte
		err := v.d.view(ctx, "look for pinned "+v.name, func(t *tx) (err error) {
			due, err = v.unmarked(t, after)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		err = v.d.update(ctx, "mark pinned "+v.name, func(t *tx) error {
			for _, key := range due {
				if err := v.markPin(t, string(key)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after = due[len(due)-1]
	}
}

// unmarked returns the next keys behind one, up to a slice, of places that do
// not tell whether the item is pinned.
func (v shelf[T]) unmarked(t *tx, after []byte) ([][]byte, error) {
	where, err := t.root("where")
	if err != nil {
		return nil, err
	}
	var due [][]byte
	err = where.each([]byte(v.kind.Prefix), func(key, value []byte) (bool, error) {
		if unpinned(value) || bytes.Compare(key, after) <= 0 {
			return true, nil
		}
		var at itemPlace
		if err := where.decode(key, value, &at); err != nil {
			return false, err
		}
		if at.Pin == 0 && !at.Gone {
			due = append(due, bytes.Clone(key))
		}
		return len(due) < purgeSlice, nil
	})
	return due, err
}

func (v shelf[T]) markPin(t *tx, id string) error {
	where, err := t.root("where")
	if err != nil {
		return err
	}
	var at itemPlace
	if ok, err := where.get([]byte(id), &at); err != nil || !ok || at.Gone || at.Pin != 0 {
		return err
	}
	f, err := v.read(t, id, at)
	if err != nil {
		return err
	}
	at.Pin = pinOf(*v.common(f).Pinned)
	return where.put([]byte(id), at)
}

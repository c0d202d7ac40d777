package bolt

import (
	"context"
	"encoding/binary"
	"fmt"

	"cairn/harness"
)

// edit makes the next revision of an item and keeps the one before.
func (v shelf[T]) edit(ctx context.Context, id string, edit func(*T)) (T, error) {
	var item T
	if err := v.kind.Refuse(v.kind.Given(edit)); err != nil {
		return item, fmt.Errorf("%s: %w", v.op("edit", id), err)
	}
	err := v.d.update(ctx, v.op("edit", id), func(t *tx) (err error) {
		item, err = v.revise(t, id, edit)
		return err
	})
	return item, err
}

// revise makes the next revision of an item.
func (v shelf[T]) revise(t *tx, id string, edit func(*T)) (T, error) {
	var none T
	f, err := v.find(t, id)
	if err != nil {
		return none, err
	}
	was, state := f.Item, *v.common(f).State
	next := v.kind.Revise(was, edit, t.now)
	nextState := *v.kind.Common(&next).State
	if state == harness.StateTrashed && nextState == harness.StateTrashed {
		return none, harness.ErrNotFound
	}
	if v.kind.Doubles(was, next) {
		if other, err := v.twin(t, next, f.id); err != nil {
			return none, err
		} else if other != nil {
			return none, v.kind.Doubled(other.id)
		}
	}
	if err := v.keepRevision(f); err != nil {
		return none, err
	}
	if err := v.unindex(t, f); err != nil {
		return none, err
	}
	if err := v.moveTrash(t, f, state, nextState); err != nil {
		return none, err
	}
	f.Item = next
	if err := v.changed(t, f); err != nil {
		return none, err
	}
	if err := v.index(t, f); err != nil {
		return none, err
	}
	return next, v.rewrite(t, f)
}

// keepRevision files the present revision with the older ones.
func (v shelf[T]) keepRevision(f *filed[T]) error {
	return v.putRevision(f, *v.common(f).Revision, f.Item)
}

func (v shelf[T]) putRevision(f *filed[T], n int, item T) error {
	all, err := f.home.make("revisions")
	if err != nil {
		return err
	}
	own, err := all.make(f.id)
	if err != nil {
		return err
	}
	return own.put(number(n), item)
}

// olderRevisions returns all revisions but the present one, oldest first.
func (v shelf[T]) olderRevisions(f *filed[T]) ([]T, error) {
	last := *v.common(f).Revision
	if last == 1 {
		return nil, nil
	}
	all, err := f.home.must("revisions")
	if err != nil {
		return nil, err
	}
	own, err := all.must(f.id)
	if err != nil {
		return nil, err
	}
	items := make([]T, last-1)
	for i := range items {
		if err := own.need(number(i+1), &items[i]); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// moveTrash keeps the list of the trash and f.Was in step with a change of
// state.
func (v shelf[T]) moveTrash(t *tx, f *filed[T], from, to harness.FactState) error {
	if (from == harness.StateTrashed) == (to == harness.StateTrashed) {
		return nil
	}
	trash, err := t.root("trash")
	if err != nil {
		return err
	}
	kind, err := trash.make(v.kind.Name)
	if err != nil {
		return err
	}
	if to == harness.StateTrashed {
		f.Was, f.Trashed = from, t.now.UnixNano()
		return kind.put(f.trashKey(), listed{})
	}
	f.Was = ""
	return kind.del(f.trashKey())
}

func (f *filed[T]) trashKey() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(f.Trashed)), f.id...)
}

func (v shelf[T]) forget(ctx context.Context, id string) error {
	return v.d.update(ctx, v.op("forget", id), func(t *tx) error {
		f, err := v.find(t, id)
		if err != nil {
			return err
		}
		return v.discard(t, f)
	})
}

// discard moves an item to the trash.
func (v shelf[T]) discard(t *tx, f *filed[T]) error {
	state := v.common(f).State
	if *state == harness.StateTrashed {
		return nil
	}
	if err := v.unindex(t, f); err != nil {
		return err
	}
	if err := v.moveTrash(t, f, *state, harness.StateTrashed); err != nil {
		return err
	}
	*state = harness.StateTrashed
	return v.rewrite(t, f)
}

func (v shelf[T]) restore(ctx context.Context, id string) (T, error) {
	var item T
	err := v.d.update(ctx, v.op("restore", id), func(t *tx) error {
		f, err := v.find(t, id)
		if err != nil {
			return err
		}
		if *v.common(f).State == harness.StateTrashed {
			if f, err = v.untrash(t, f); err != nil {
				return err
			}
		}
		item = f.Item
		return nil
	})
	return item, err
}

// untrash brings an item back as it was. If that would make two of one, it stays
// where it is and the one that is active is returned.
func (v shelf[T]) untrash(t *tx, f *filed[T]) (*filed[T], error) {
	if f.Was == harness.StateActive {
		if other, err := v.twin(t, f.Item, f.id); err != nil || other != nil {
			return other, err
		}
	}
	state, was := v.common(f).State, f.Was
	if err := v.moveTrash(t, f, *state, was); err != nil {
		return nil, err
	}
	*state = was
	if err := v.index(t, f); err != nil {
		return nil, err
	}
	return f, v.rewrite(t, f)
}

func (v shelf[T]) history(ctx context.Context, id string) ([]T, error) {
	var items []T
	err := v.d.view(ctx, v.op("read the history of", id), func(t *tx) error {
		items = nil
		f, err := v.find(t, id)
		if err != nil {
			return err
		}
		if items, err = v.olderRevisions(f); err != nil {
			return err
		}
		items = append(items, f.Item)
		return nil
	})
	return items, err
}

package mem

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var (
	_ harness.Facts = (*Facts)(nil)
	_ harness.Notes = (*Notes)(nil)
)

// shelf keeps facts or notes.
type shelf[T any] struct {
	prefix        string
	items         map[string]*shelved[T]
	keys          map[string]string
	last, changes int
}

// shelved is one item with its older revisions.
type shelved[T any] struct {
	item    T
	older   []T
	was     harness.FactState
	changed int
}

func newShelf[T any](prefix string) shelf[T] {
	return shelf[T]{prefix: prefix, items: map[string]*shelved[T]{}, keys: map[string]string{}}
}

// view is a shelf of a store with its kind.
type view[T any] struct {
	st    *Store
	shelf *shelf[T]
	kind  rules.Kind[T]
}

func (v view[T]) op(what, id string) string { return what + " " + v.kind.Name + " " + id }

func (v view[T]) save(ctx context.Context, item T, key string) (out T, created bool, err error) {
	if item, err = clone(item); err != nil {
		return out, false, err
	}
	if err := v.kind.Refuse(item); err != nil {
		return out, false, fmt.Errorf("save a %s: %w", v.kind.Name, err)
	}
	err = v.st.change(ctx, "save a "+v.kind.Name, func() error {
		var have *shelved[T]
		have, created = v.keepAs(item, key)
		out, err = clone(have.item)
		return err
	})
	return out, created, err
}

// keepAs stores an item, unless one was stored under the key or one counts as one
// with it.
func (v view[T]) keepAs(item T, key string) (have *shelved[T], created bool) {
	have = v.shelf.items[v.shelf.keys[key]]
	if key == "" || have == nil {
		have, created = v.keep(item)
	}
	if key != "" {
		v.shelf.keys[key] = *v.kind.Common(&have.item).ID
	}
	return have, created
}

// keep stores an item, unless an active one counts as one with it.
func (v view[T]) keep(item T) (have *shelved[T], created bool) {
	if have := v.same(item, ""); have != nil {
		return have, false
	}
	v.shelf.last++
	v.shelf.changes++
	id := fmt.Sprint(v.shelf.prefix, v.shelf.last)
	have = &shelved[T]{item: v.kind.New(item, id, v.st.now()), changed: v.shelf.changes}
	v.shelf.items[id] = have
	return have, true
}

// same returns the active item that counts as one with item and has another id
// than the one given, if there is one.
func (v view[T]) same(item T, id string) *shelved[T] {
	text := v.kind.Same(item)
	if text == "" {
		return nil
	}
	for _, have := range sorted(v.shelf.items, func(a, b *shelved[T]) int { return a.changed - b.changed }) {
		c := v.kind.Common(&have.item)
		if *c.ID != id && *c.State == harness.StateActive && v.kind.Same(have.item) == text {
			return have
		}
	}
	return nil
}

// find returns an item in whatever state, also by the name that it had elsewhere.
func (v view[T]) find(id string) (*shelved[T], error) {
	id, err := rules.Named(txShelf[T]{v}, id)
	if err != nil {
		return nil, err
	}
	if have := v.shelf.items[id]; have != nil {
		return have, nil
	}
	return nil, harness.ErrNotFound
}

func (v view[T]) edit(ctx context.Context, id string, edit func(*T)) (out T, err error) {
	if err := v.kind.Refuse(v.kind.Given(edit)); err != nil {
		return out, fmt.Errorf("%s: %w", v.op("edit", id), err)
	}
	err = v.st.change(ctx, v.op("edit", id), func() (err error) {
		out, err = v.revise(id, edit)
		return err
	})
	return out, err
}

// revise makes the next revision of an item.
func (v view[T]) revise(id string, edit func(*T)) (out T, err error) {
	have, err := v.find(id)
	if err != nil {
		return out, err
	}
	was, state := have.item, *v.kind.Common(&have.item).State
	next := v.kind.Revise(was, edit, v.st.now())
	nextState := v.kind.Common(&next).State
	if state == harness.StateTrashed && *nextState == harness.StateTrashed {
		return out, harness.ErrNotFound
	}
	if v.kind.Doubles(was, next) {
		if other := v.same(next, *v.kind.Common(&next).ID); other != nil {
			return out, v.kind.Doubled(*v.kind.Common(&other.item).ID)
		}
	}
	if *nextState == harness.StateTrashed {
		have.was = state
	}
	v.shelf.changes++
	have.item, have.older, have.changed = next, append(have.older, was), v.shelf.changes
	return clone(have.item)
}

func (v view[T]) get(ctx context.Context, id string) (out T, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	have, err := v.find(id)
	if err != nil {
		return out, fmt.Errorf("%s: %w", v.op("read", id), err)
	}
	return clone(have.item)
}

func (v view[T]) list(ctx context.Context, f harness.MemoryFilter) ([]T, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	var all []rules.Candidate[T]
	for _, have := range v.shelf.items {
		all = append(all, rules.Candidate[T]{Item: have.item, Changed: have.changed})
	}
	return clone(v.kind.Select(all, f))
}

func (v view[T]) forget(ctx context.Context, id string) error {
	return v.st.change(ctx, v.op("forget", id), func() error {
		have, err := v.find(id)
		if err != nil {
			return err
		}
		v.discard(have)
		return nil
	})
}

// discard moves an item to the trash.
func (v view[T]) discard(have *shelved[T]) {
	if state := v.kind.Common(&have.item).State; *state != harness.StateTrashed {
		have.was, *state = *state, harness.StateTrashed
	}
}

func (v view[T]) restore(ctx context.Context, id string) (out T, err error) {
	err = v.st.change(ctx, v.op("restore", id), func() error {
		have, err := v.find(id)
		if err != nil {
			return err
		}
		if state := v.kind.Common(&have.item).State; *state == harness.StateTrashed {
			if other := v.same(have.item, *v.kind.Common(&have.item).ID); have.was == harness.StateActive && other != nil {
				have = other
			} else {
				*state = have.was
			}
		}
		out, err = clone(have.item)
		return err
	})
	return out, err
}

func (v view[T]) history(ctx context.Context, id string) ([]T, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	have, err := v.find(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.op("read", id), err)
	}
	return clone(append(have.older[:len(have.older):len(have.older)], have.item))
}

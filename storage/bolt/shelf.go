package bolt

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// shelf keeps facts or notes. Each is filed in the bucket of its session, or of
// no session, and where/ tells which that is.
type shelf[T any] struct {
	d *DB
	// name is the bucket in a session.
	name string
	kind rules.Kind[T]
	// count and last are the counters of the kind.
	count, last func(*counters) *int
}

// shelved is the stored form of a fact or note.
type shelved[T any] struct {
	Item T `json:"item"`
	// Was is the state before the trash.
	Was harness.FactState `json:"was,omitempty"`
	// Trashed is when it went there, in nanoseconds of Unix time.
	Trashed int64 `json:"trashed,omitempty"`
	// Version counts the writes, Changed orders by the last change.
	Version int `json:"version"`
	Changed int `json:"changed"`
}

// itemPlace is the value of where/<id>.
type itemPlace struct {
	Session harness.SessionID `json:"session"`
	// Version is that of the item, so that an older copy of it is noticed.
	Version int `json:"version"`
	// Gone marks the id of an item that was removed for good.
	Gone bool `json:"gone,omitempty"`
	// Pin tells whether the item is pinned, so that a list of those that are
	// need not read all. It says nothing where a cairn that does not know it
	// wrote last, and is the last field: see [unpinned].
	Pin pin `json:"pin,omitempty"`
}

// pin is what is known of an item without reading it.
type pin int

const (
	pinNo pin = 1 + iota
	pinYes
)

func pinOf(pinned bool) pin {
	if pinned {
		return pinYes
	}
	return pinNo
}

// unpinned reports whether the stored place says that its item is there and not
// pinned. It is [itemPlace] for thousands, almost all of which end like that.
func unpinned(value []byte) bool { return bytes.HasSuffix(value, []byte(`,"pin":1}`)) }

// filed is one item with its bucket.
type filed[T any] struct {
	shelved[T]
	home bucket // the session's bucket
	id   string
}

func (v shelf[T]) op(what, id string) string { return what + " " + v.kind.Name + " " + id }

func (v shelf[T]) common(f *filed[T]) rules.Common { return v.kind.Common(&f.Item) }

// find reads an item in whatever state, also by the name that it had elsewhere.
func (v shelf[T]) find(t *tx, id string) (*filed[T], error) {
	id, err := rules.Named(txShelf[T]{t, v}, id)
	if err != nil {
		return nil, err
	}
	where, err := t.root("where")
	if err != nil {
		return nil, err
	}
	if !v.isID(id) {
		return nil, harness.ErrNotFound
	}
	var at itemPlace
	if ok, err := where.get([]byte(id), &at); err != nil {
		return nil, err
	} else if !ok {
		c, err := t.counters()
		if err != nil {
			return nil, err
		}
		// Items are never removed from where/, so an id that was given out is
		// missing only through damage.
		if n, err := strconv.Atoi(id[1:]); err == nil && n <= *v.last(c) {
			return nil, t.d.damaged(place(where.path, []byte(id)), "the value is missing")
		}
		return nil, harness.ErrNotFound
	}
	if at.Gone {
		return nil, harness.ErrNotFound
	}
	return v.read(t, id, at)
}

// isID reports whether id is the canonical form of an id of the kind.
func (v shelf[T]) isID(id string) bool {
	if len(id) < 2 || id[:1] != v.kind.Prefix {
		return false
	}
	n, err := strconv.Atoi(id[1:])
	return err == nil && n > 0 && strconv.Itoa(n) == id[1:]
}

func (v shelf[T]) read(t *tx, id string, at itemPlace) (*filed[T], error) {
	sessions, err := t.root("sessions")
	if err != nil {
		return nil, err
	}
	home, err := sessions.must(string(at.Session))
	if err != nil {
		return nil, err
	}
	b, err := home.must(v.name)
	if err != nil {
		return nil, err
	}
	f := &filed[T]{home: home, id: id}
	if err := b.need([]byte(id), &f.shelved); err != nil {
		return nil, err
	}
	if *v.common(f).ID != id || f.Version != at.Version || at.Pin != 0 && at.Pin != pinOf(*v.common(f).Pinned) {
		return nil, t.d.damaged(place(b.path, []byte(id)), "it is not the version last written")
	}
	return f, nil
}

// write stores an item and what leads to it.
func (v shelf[T]) write(t *tx, f *filed[T], at harness.SessionID) error {
	where, err := t.root("where")
	if err != nil {
		return err
	}
	b, err := f.home.make(v.name)
	if err != nil {
		return err
	}
	f.Version++
	if err := where.put([]byte(f.id), itemPlace{Session: at, Version: f.Version, Pin: pinOf(*v.common(f).Pinned)}); err != nil {
		return err
	}
	return b.put([]byte(f.id), f.shelved)
}

// rewrite stores an item that is filed already.
func (v shelf[T]) rewrite(t *tx, f *filed[T]) error {
	return v.write(t, f, harness.SessionID(f.home.path[len("sessions/"):]))
}

// changed marks f as the item changed last.
func (v shelf[T]) changed(t *tx, f *filed[T]) error {
	c, err := t.counters()
	if err != nil {
		return err
	}
	c.LastChange++
	f.Changed = c.LastChange
	return nil
}

func (v shelf[T]) save(ctx context.Context, item T, key string) (stored T, created bool, err error) {
	if err := v.kind.Refuse(item); err != nil {
		return stored, false, fmt.Errorf("save a %s: %w", v.kind.Name, err)
	}
	err = v.d.update(ctx, "save a "+v.kind.Name, func(t *tx) error {
		stored, created, err = v.keepAs(t, item, key)
		return err
	})
	return stored, created && err == nil, err
}

// keepAs stores an item, unless one was stored under the key or one counts as one
// with it.
func (v shelf[T]) keepAs(t *tx, item T, key string) (stored T, created bool, err error) {
	have, err := v.saved(t, item, key)
	if err == nil && have == nil {
		created = true
		have, err = v.add(t, item)
	}
	if err != nil {
		return stored, false, err
	}
	return have.Item, created, v.remember(t, key, have.id)
}

// all reads every item.
func (v shelf[T]) all(ctx context.Context, t *tx) ([]*filed[T], error) { return v.some(ctx, t, false) }

// some reads every item, or those that may be pinned. That each is where it
// should be is seen for all.
func (v shelf[T]) some(ctx context.Context, t *tx, pinned bool) ([]*filed[T], error) {
	where, err := t.root("where")
	if err != nil {
		return nil, err
	}
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	var items []*filed[T]
	n := 0
	err = where.each([]byte(v.kind.Prefix), func(key, value []byte) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if pinned && unpinned(value) {
			n++
			return true, where.verify(key, value)
		}
		var at itemPlace
		if err := where.decode(key, value, &at); err != nil {
			return false, err
		}
		if at.Gone {
			return true, nil
		}
		n++
		if pinned && at.Pin == pinNo {
			return true, nil
		}
		f, err := v.read(t, string(key), at)
		items = append(items, f)
		return true, err
	})
	if err == nil && n != *v.count(c) {
		err = t.d.damaged("where", fmt.Sprintf("it lists %d %ss of %d", n, v.kind.Name, *v.count(c)))
	}
	return items, err
}

func (v shelf[T]) list(ctx context.Context, filter harness.MemoryFilter) ([]T, error) {
	var candidates []rules.Candidate[T]
	err := v.d.view(ctx, "list "+v.name, func(t *tx) error {
		candidates = nil
		items, err := v.some(ctx, t, filter.Pinned)
		if err != nil {
			return err
		}
		for _, f := range items {
			candidates = append(candidates, rules.Candidate[T]{Item: f.Item, Changed: f.Changed})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v.kind.Select(candidates, filter), nil
}

func (v shelf[T]) get(ctx context.Context, id string) (T, error) {
	var item T
	err := v.d.view(ctx, v.op("read", id), func(t *tx) error {
		f, err := v.find(t, id)
		if err == nil {
			item = f.Item
		}
		return err
	})
	return item, err
}

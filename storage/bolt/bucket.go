package bolt

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// appendFill is how full pages of buckets get that only grow at the end.
const appendFill = 0.95

// shownKey bounds how much of a key an error shows.
const shownKey = 160

// tx is one transaction under the guard.
type tx struct {
	d     *DB
	b     *bbolt.Tx
	now   time.Time
	dirty bool
	// path and key are what was touched last, for errors. They are copies: what
	// a damaged page gives as a key may be no readable memory.
	path string
	key  []byte
	// counts are the counters, once something asked for them.
	counts, stored *counters
	// locks are the lock files, once something asked for them.
	locks lockFiles
	// undo runs if the transaction does not commit, the last one first.
	undo []func()
	// done runs after the commit.
	done []func()
	// announced says that others know that this takes long.
	announced bool
}

// bucket is a bbolt bucket that knows its path, which is part of the checksum
// of its values.
type bucket struct {
	t    *tx
	b    *bbolt.Bucket
	path string
}

// touch remembers what is used next.
func (t *tx) touch(path string, key []byte) {
	t.path, t.key = path, append(t.key[:0], key[:min(len(key), shownKey)]...)
}

// place names what was touched last.
func (t *tx) place() string {
	if t.path == "" {
		return "the page tree"
	}
	return place(t.path, t.key)
}

// root returns a top-level bucket. They all exist since the file was made.
func (t *tx) root(name string) (bucket, error) {
	t.touch(name, nil)
	b := t.b.Bucket([]byte(name))
	if b == nil {
		return bucket{}, t.d.damaged(name, "the bucket is missing")
	}
	return bucket{t, b, name}, nil
}

// sub returns the bucket of that name, if there is one.
func (b bucket) sub(name string) (bucket, bool) {
	b.t.touch(b.path, []byte(name))
	inner := b.b.Bucket([]byte(name))
	return bucket{b.t, inner, b.path + "/" + name}, inner != nil
}

// must returns a bucket that was made together with b.
func (b bucket) must(name string) (bucket, error) {
	inner, ok := b.sub(name)
	if !ok {
		return inner, b.t.d.damaged(inner.path, "the bucket is missing")
	}
	return inner, nil
}

// make returns the bucket of that name, new if need be.
func (b bucket) make(name string) (bucket, error) {
	if inner, ok := b.sub(name); ok {
		return inner, nil
	}
	b.t.dirty = true
	inner, err := b.b.CreateBucket([]byte(name))
	if err != nil {
		return bucket{}, fmt.Errorf("make bucket %s/%s: %w", b.path, name, err)
	}
	return bucket{b.t, inner, b.path + "/" + name}, nil
}

// drop removes the bucket of that name with everything in it.
func (b bucket) drop(name string) error {
	b.t.touch(b.path, []byte(name))
	b.t.dirty = true
	if err := b.b.DeleteBucket([]byte(name)); err != nil {
		return fmt.Errorf("drop bucket %s/%s: %w", b.path, name, err)
	}
	return nil
}

// get reads the value under key; false says that there is none.
func (b bucket) get(key []byte, into any) (bool, error) {
	b.t.touch(b.path, key)
	raw := b.b.Get(key)
	if raw == nil {
		return false, nil
	}
	return true, b.decode(key, raw, into)
}

// need reads a value that has to be there.
func (b bucket) need(key []byte, into any) error {
	ok, err := b.get(key, into)
	if err == nil && !ok {
		return b.t.d.damaged(place(b.path, key), "the value is missing")
	}
	return err
}

func (b bucket) decode(key, raw []byte, into any) error {
	if err := decode(b.path, key, raw, into); err != nil {
		return b.t.d.damaged(place(b.path, key), err.Error())
	}
	return nil
}

// verify checks that a value is whole and belongs under its key.
func (b bucket) verify(key, raw []byte) error {
	if err := verify(b.path, key, raw); err != nil {
		return b.t.d.damaged(place(b.path, key), err.Error())
	}
	return nil
}

// verifyAll verifies every value of a bucket that has no nested ones.
func (b bucket) verifyAll() error {
	return b.each(nil, func(key, value []byte) (bool, error) { return true, b.verify(key, value) })
}

// has reports whether there is a value under key. It does not read it.
func (b bucket) has(key []byte) bool {
	b.t.touch(b.path, key)
	return b.b.Get(key) != nil
}

func (b bucket) put(key []byte, v any) error {
	raw, err := encode(b.path, key, v)
	if err != nil {
		return err
	}
	b.t.touch(b.path, key)
	b.t.dirty = true
	if err := b.b.Put(key, raw); err != nil {
		return fmt.Errorf("put %s: %w", place(b.path, key), err)
	}
	return nil
}

// putPayload stores a payload that is JSON already.
func (b bucket) putPayload(key, text []byte) error {
	b.t.touch(b.path, key)
	b.t.dirty = true
	if err := b.b.Put(key, sealed(b.path, key, text)); err != nil {
		return fmt.Errorf("put %s: %w", place(b.path, key), err)
	}
	return nil
}

func (b bucket) del(key []byte) error {
	b.t.touch(b.path, key)
	b.t.dirty = true
	if err := b.b.Delete(key); err != nil {
		return fmt.Errorf("delete %s: %w", place(b.path, key), err)
	}
	return nil
}

// each calls fn for all keys with the prefix in order, until fn wants no more.
// fn must not change the bucket; value is nil for a nested bucket.
func (b bucket) each(prefix []byte, fn func(key, value []byte) (more bool, err error)) error {
	b.t.touch(b.path, prefix)
	c := b.b.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if err := b.reached(k); err != nil {
			return err
		}
		if more, err := fn(k, v); err != nil || !more {
			return err
		}
	}
	return nil
}

// reached remembers a key that a cursor came to. One that is longer than any key
// would be copied without end.
func (b bucket) reached(key []byte) error {
	if len(key) > bbolt.MaxKeySize {
		return b.t.d.damaged(b.path, fmt.Sprintf("a key has %d bytes", len(key)))
	}
	b.t.touch(b.path, key)
	return nil
}

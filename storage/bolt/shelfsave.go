package bolt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"cairn/harness"
)

// saved returns the item that this save stored before, or that counts as one
// with it.
func (v shelf[T]) saved(t *tx, item T, key string) (*filed[T], error) {
	keys, err := t.root("keys")
	if err != nil {
		return nil, err
	}
	var id string
	if key != "" {
		if ok, err := keys.get(v.keyOf(key), &id); err != nil {
			return nil, err
		} else if ok {
			have, err := v.find(t, id)
			if !errors.Is(err, harness.ErrNotFound) {
				return have, err
			}
			return nil, nil // removed for good since
		}
	}
	ids, _, err := v.sameIDs(t, item)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return v.find(t, ids[0])
}

// remember makes a later save with the key find the item.
func (v shelf[T]) remember(t *tx, key, id string) error {
	keys, err := t.root("keys")
	if err != nil || key == "" {
		return err
	}
	var have string
	if ok, err := keys.get(v.keyOf(key), &have); err != nil || ok && have == id {
		return err
	}
	return keys.put(v.keyOf(key), id)
}

func (v shelf[T]) keyOf(key string) []byte { return digest(v.kind.Name + " " + key) }

// digest bounds what others chose to a key.
func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return []byte(hex.EncodeToString(sum[:16]))
}

// add stores a new item in its session, or in no session if that is not stored.
func (v shelf[T]) add(t *tx, item T) (*filed[T], error) {
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	*v.last(c)++
	*v.count(c)++
	f := &filed[T]{id: v.kind.Prefix + strconv.Itoa(*v.last(c))}
	f.Item = v.kind.New(item, f.id, t.now)
	at := *v.common(f).Session
	s, ok, err := t.find(at)
	if err != nil {
		return nil, err
	}
	if ok && !s.info.Hidden {
		f.home = s.bucket
	} else {
		at = harness.NoSession
		sessions, err := t.root("sessions")
		if err != nil {
			return nil, err
		}
		if f.home, err = sessions.must(string(at)); err != nil {
			return nil, err
		}
	}
	if err := v.changed(t, f); err != nil {
		return nil, err
	}
	if err := v.index(t, f); err != nil {
		return nil, err
	}
	return f, v.write(t, f, at)
}

// sameIDs returns the active items that count as one with item, and their key
// in texts/.
func (v shelf[T]) sameIDs(t *tx, item T) (ids []string, key []byte, err error) {
	text := v.kind.Same(item)
	if text == "" {
		return nil, nil, nil
	}
	texts, err := t.root("texts")
	if err != nil {
		return nil, nil, err
	}
	key = digest(text)
	_, err = texts.get(key, &ids)
	return ids, key, err
}

// twin returns the active item of the same text as item, nil if there is none
// but the one of that id.
func (v shelf[T]) twin(t *tx, item T, id string) (*filed[T], error) {
	ids, _, err := v.sameIDs(t, item)
	if err != nil {
		return nil, err
	}
	for _, other := range ids {
		if other != id {
			return v.find(t, other)
		}
	}
	return nil, nil
}

// index lists an active item under its text.
func (v shelf[T]) index(t *tx, f *filed[T]) error {
	if *v.common(f).State != harness.StateActive {
		return nil
	}
	ids, key, err := v.sameIDs(t, f.Item)
	if err != nil || key == nil || slices.Contains(ids, f.id) {
		return err
	}
	texts, err := t.root("texts")
	if err != nil {
		return err
	}
	return texts.put(key, append(ids, f.id))
}

// unindex takes an item out of the list under its text.
func (v shelf[T]) unindex(t *tx, f *filed[T]) error {
	ids, key, err := v.sameIDs(t, f.Item)
	at := slices.Index(ids, f.id)
	if err != nil || at < 0 {
		return err
	}
	texts, err := t.root("texts")
	if err != nil {
		return err
	}
	if ids = slices.Delete(ids, at, at+1); len(ids) == 0 {
		return texts.del(key)
	}
	return texts.put(key, ids)
}

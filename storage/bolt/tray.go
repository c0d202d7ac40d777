package bolt

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// tray is inbox/ in a transaction.
type tray struct{ t *tx }

// inboxBook is the value of inbox/book, which a file that never had a suggestion
// lacks. It is checked against the counters as that of the grants is.
type inboxBook struct {
	// Last is the number given out last, Count how many are kept, Writes counts
	// the changes.
	Last   int `json:"last"`
	Count  int `json:"count"`
	Writes int `json:"writes"`
}

// open returns the bucket of the suggestions and its book.
func (y tray) open() (bucket, inboxBook, error) {
	var book inboxBook
	b, err := y.t.root("inbox")
	if err != nil {
		return b, book, err
	}
	if _, err := b.get(keyBook, &book); err != nil {
		return b, book, err
	}
	c, err := y.t.counters()
	if err == nil && c.Inbox != 0 && c.Inbox != book.Writes {
		err = y.t.d.damaged(place(b.path, keyBook), fmt.Sprintf("it has %d writes of %d", book.Writes, c.Inbox))
	}
	return b, book, err
}

func (y tray) saveBook(b bucket, book inboxBook) error {
	c, err := y.t.counters()
	if err != nil {
		return err
	}
	book.Writes++
	c.Inbox = book.Writes
	return b.put(keyBook, book)
}

// All implements [rules.Tray].
func (y tray) All() ([]rules.Kept, error) {
	b, book, err := y.open()
	if err != nil {
		return nil, err
	}
	var all []rules.Kept
	err = b.each(nil, func(key, value []byte) (bool, error) {
		if string(key) == string(keyBook) {
			return true, nil
		}
		var k rules.Kept
		if err := b.decode(key, value, &k); err != nil {
			return false, err
		}
		all = append(all, k)
		n, ok := numberOf(key)
		if !ok || k.Item.ID != suggestionPrefix+strconv.Itoa(n) || n > book.Last {
			return false, y.t.d.damaged(place(b.path, key), "it is not the suggestion of this number")
		}
		return true, nil
	})
	if err == nil && len(all) != book.Count {
		err = y.t.d.damaged(b.path, fmt.Sprintf("it has %d suggestions of %d", len(all), book.Count))
	}
	return all, err
}

// Put implements [rules.Tray].
func (y tray) Put(k rules.Kept) error {
	b, book, err := y.open()
	if err != nil {
		return err
	}
	n, ok := numberOfSuggestion(k.Item.ID)
	if !ok {
		return fmt.Errorf("%q is not the id of a suggestion", k.Item.ID)
	}
	if !b.has(number(n)) {
		book.Count++
	}
	if err := b.put(number(n), k); err != nil {
		return err
	}
	return y.saveBook(b, book)
}

// Next implements [rules.Tray].
func (y tray) Next() (string, error) {
	b, book, err := y.open()
	if err != nil {
		return "", err
	}
	book.Last++
	return suggestionPrefix + strconv.Itoa(book.Last), y.saveBook(b, book)
}

func suggestionKey(key string) []byte { return digest("suggestion " + key) }

// Keyed implements [rules.Tray].
func (y tray) Keyed(key string) (id string, ok bool, err error) {
	keys, err := y.t.root("keys")
	if err != nil {
		return "", false, err
	}
	ok, err = keys.get(suggestionKey(key), &id)
	return id, ok, err
}

// Remember implements [rules.Tray].
func (y tray) Remember(key, id string) error {
	keys, err := y.t.root("keys")
	if err != nil {
		return err
	}
	return keys.put(suggestionKey(key), id)
}

// leave marks what sessions suggested as from ones that are gone for good.
func (y tray) leave(gone map[harness.SessionID]bool) error {
	all, err := y.All()
	for _, k := range all {
		if err == nil && gone[k.Item.Source.Session] && !k.Item.Source.Gone {
			k.Item.Source.Gone = true
			err = y.Put(k)
		}
	}
	return err
}

// purge removes what was decided before a time, and the keys that it was filed
// with, and returns how many there were.
func (y tray) purge(before time.Time) (int, error) {
	all, err := y.All()
	if err != nil {
		return 0, err
	}
	b, book, err := y.open()
	n := 0
	left := map[string]bool{}
	for _, k := range all {
		if err != nil || k.Outcome == "" || !k.Decided.Before(before) {
			left[k.Item.ID] = true
			continue
		}
		at, _ := numberOfSuggestion(k.Item.ID)
		err = b.del(number(at))
		n++
	}
	if err != nil || n == 0 {
		return 0, err
	}
	if err := y.forgetKeys(left); err != nil {
		return 0, err
	}
	book.Count -= n
	return n, y.saveBook(b, book)
}

// forgetKeys removes the keys of suggestions that are not there any more, also
// those that a cairn that kept them has left.
func (y tray) forgetKeys(left map[string]bool) error {
	keys, err := y.t.root("keys")
	if err != nil {
		return err
	}
	var due [][]byte
	err = keys.each(nil, func(key, value []byte) (bool, error) {
		if !bytes.HasPrefix(payload(value), []byte(`"`+suggestionPrefix)) {
			return true, nil
		}
		var id string
		if err := keys.decode(key, value, &id); err != nil {
			return false, err
		}
		if _, ok := numberOfSuggestion(id); ok && !left[id] {
			due = append(due, bytes.Clone(key))
		}
		return true, nil
	})
	for _, key := range due {
		if err == nil {
			err = keys.del(key)
		}
	}
	return err
}

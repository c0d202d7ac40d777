package bolt

import "fmt"

var keyBook = []byte("book") //nolint:gochecknoglobals // a key that nobody changes

// grantBook is the value of grants/book, which a file without grants lacks. The
// numbers are here and not with the other counters, which a cairn that knows no
// grants would write without them.
type grantBook struct {
	// Last is the number given out last, Writes counts the changes.
	Last   int `json:"last"`
	Writes int `json:"writes"`
}

// grantBook returns the bucket of the grants and its book.
func (t *tx) grantBook() (bucket, grantBook, error) {
	var book grantBook
	grants, err := t.root("grants")
	if err != nil {
		return grants, book, err
	}
	if _, err := grants.get(keyBook, &book); err != nil {
		return grants, book, err
	}
	c, err := t.counters()
	if err == nil && c.Grants != 0 && c.Grants != book.Writes {
		err = t.d.damaged(place(grants.path, keyBook), fmt.Sprintf("it has %d writes of %d", book.Writes, c.Grants))
	}
	return grants, book, err
}

// saveBook stores the book after a change.
func (t *tx) saveBook(grants bucket, book grantBook) error {
	c, err := t.counters()
	if err != nil {
		return err
	}
	book.Writes++
	c.Grants = book.Writes
	return grants.put(keyBook, book)
}

// eachGrant calls fn for all numbers that were given out, in their order. It
// notices any that vanished.
func (t *tx) eachGrant(fn func(n int, p grantPlace) error) error {
	grants, book, err := t.grantBook()
	if err != nil {
		return err
	}
	seen := 0
	err = grants.each(nil, func(key, value []byte) (bool, error) {
		if string(key) == string(keyBook) {
			return true, nil
		}
		seen++
		if n, ok := numberOf(key); !ok || n != seen {
			return false, t.d.damaged(place(grants.path, number(seen)), "the value is missing")
		}
		var p grantPlace
		if err := grants.decode(key, value, &p); err != nil {
			return false, err
		}
		return true, fn(seen, p)
	})
	if err == nil && seen != book.Last {
		err = t.d.damaged(grants.path, fmt.Sprintf("it has %d grants of %d", seen, book.Last))
	}
	return err
}

// checkGrants reads every grant.
func (t *tx) checkGrants() error {
	return t.eachGrant(func(n int, p grantPlace) error {
		_, _, err := t.placed(n, p)
		return err
	})
}

// checkGrants looks whether the grants filed in the session are known.
func (s *session) checkGrants() error {
	b, ok := s.sub("grants")
	if !ok {
		return nil
	}
	grants, err := s.t.root("grants")
	if err != nil {
		return err
	}
	return b.each(nil, func(key, _ []byte) (bool, error) {
		var p grantPlace
		if _, err := grants.get(key, &p); err != nil {
			return false, err
		}
		if p.Session != s.info.ID {
			return false, s.t.d.damaged(place(b.path, key), "the grant is listed in one place only")
		}
		return true, nil
	})
}

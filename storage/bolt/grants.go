package bolt

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Grants = (*Grants)(nil)

// Grants returns the view that implements [harness.Grants].
func (d *DB) Grants() *Grants { return &Grants{d} }

// Grants keeps the standing permissions of a file. Those of a session are filed
// with it; grants/ tells of every number that was given out what became of it.
type Grants struct{ d *DB }

// grantPlace is the value of grants/<n>: a grant of always, where that of a
// session is, or that it is gone.
type grantPlace struct {
	Grant   *harness.Grant    `json:"grant,omitempty"`
	Session harness.SessionID `json:"session,omitempty"`
	// Version is that of the grant in the session, so that an older copy of it
	// is noticed.
	Version int  `json:"version,omitempty"`
	Gone    bool `json:"gone,omitempty"`
}

// filedGrant is the value of sessions/<id>/grants/<n>.
type filedGrant struct {
	Grant   harness.Grant `json:"grant"`
	Version int           `json:"version"`
}

// List implements [harness.Grants].
func (v *Grants) List(ctx context.Context, id harness.SessionID) ([]harness.Grant, error) {
	var list []harness.Grant
	err := v.d.view(ctx, "list grants", func(t *tx) (err error) {
		list, err = t.listGrants(id)
		return err
	})
	return list, err
}

// listGrants returns the grants of always and those of the session, unless it
// is deleted.
func (t *tx) listGrants(id harness.SessionID) ([]harness.Grant, error) {
	s, ok, err := t.find(id)
	if err != nil {
		return nil, err
	}
	ok = ok && s.info.Deleted == nil
	var list []harness.Grant
	err = t.eachGrant(func(n int, p grantPlace) error {
		switch {
		case p.Grant != nil:
			list = append(list, *p.Grant)
		case ok && p.Session == id:
			g, err := s.grant(n, p)
			if err != nil {
				return err
			}
			list = append(list, g)
		}
		return nil
	})
	return list, err
}

// Save implements [harness.Grants].
func (v *Grants) Save(ctx context.Context, g harness.Grant) (harness.Grant, error) {
	var stored harness.Grant
	if err := rules.CheckGrant(g); err != nil {
		return stored, fmt.Errorf("save a grant: %w", err)
	}
	err := v.d.update(ctx, "save grant "+g.Rule, func(t *tx) (err error) {
		stored, err = t.saveGrant(g)
		return err
	})
	return stored, err
}

func (t *tx) saveGrant(g harness.Grant) (harness.Grant, error) {
	if g.ID != "" {
		have, err := t.findGrant(g.ID)
		if err != nil {
			return g, err
		}
		have.Rule, have.Tool = g.Rule, g.Tool
		g = have
	}
	if g.Session != "" {
		if _, err := t.present(g.Session); err != nil {
			return g, err
		}
	}
	list, err := t.listGrants(g.Session)
	if err != nil {
		return g, err
	}
	for _, have := range list {
		if !rules.SameGrant(have, g) || have.ID == g.ID {
			continue
		}
		if g.ID != "" {
			// What was replaced would be there twice.
			err = t.dropGrant(g.ID)
		}
		return have, err
	}
	return t.putGrant(g)
}

// putGrant stores a grant, under the next number if it has none yet.
func (t *tx) putGrant(g harness.Grant) (harness.Grant, error) {
	grants, book, err := t.grantBook()
	if err != nil {
		return g, err
	}
	n, _ := rules.GrantNumber(g.ID)
	if g.ID == "" {
		book.Last++
		n, g.ID = book.Last, rules.GrantID(book.Last)
		if g.At.IsZero() {
			g.At = t.now
		}
	}
	place := grantPlace{Grant: &g}
	if g.Session != "" {
		if place, err = t.fileGrant(grants, n, g); err != nil {
			return g, err
		}
	}
	if err := grants.put(number(n), place); err != nil {
		return g, err
	}
	return g, t.saveBook(grants, book)
}

// fileGrant stores a grant in its session and returns where it is.
func (t *tx) fileGrant(grants bucket, n int, g harness.Grant) (grantPlace, error) {
	var p grantPlace
	if _, err := grants.get(number(n), &p); err != nil {
		return p, err
	}
	s, err := t.present(g.Session)
	if err != nil {
		return p, err
	}
	b, err := s.make("grants")
	if err != nil {
		return p, err
	}
	p = grantPlace{Session: g.Session, Version: p.Version + 1}
	return p, b.put(number(n), filedGrant{Grant: g, Version: p.Version})
}

// Revoke implements [harness.Grants]. It also revokes what a deleted session
// would have again if it were restored.
func (v *Grants) Revoke(ctx context.Context, id string) error {
	return v.d.update(ctx, "revoke grant "+id, func(t *tx) error {
		if _, err := t.findGrant(id); err != nil {
			return err
		}
		return t.dropGrant(id)
	})
}

// dropGrant removes a grant that is stored. Its number stays taken.
func (t *tx) dropGrant(id string) error {
	grants, book, err := t.grantBook()
	if err != nil {
		return err
	}
	n, _ := rules.GrantNumber(id)
	var p grantPlace
	if err := grants.need(number(n), &p); err != nil {
		return err
	}
	if p.Session != "" {
		sessions, err := t.root("sessions")
		if err != nil {
			return err
		}
		home, err := sessions.must(string(p.Session))
		if err != nil {
			return err
		}
		b, err := home.must("grants")
		if err != nil {
			return err
		}
		if err := b.del(number(n)); err != nil {
			return err
		}
	}
	if err := grants.put(number(n), grantPlace{Gone: true}); err != nil {
		return err
	}
	return t.saveBook(grants, book)
}

// dropGrants removes the grants of a session.
func (s *session) dropGrants() error {
	var gone []int
	err := s.t.eachGrant(func(n int, p grantPlace) error {
		if p.Session == s.info.ID {
			gone = append(gone, n)
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	grants, book, err := s.t.grantBook()
	if err != nil {
		return err
	}
	for _, n := range gone {
		if err := grants.put(number(n), grantPlace{Gone: true}); err != nil {
			return err
		}
	}
	if err := s.t.saveBook(grants, book); err != nil {
		return err
	}
	return s.drop("grants")
}

// findGrant reads a grant by its id.
func (t *tx) findGrant(id string) (harness.Grant, error) {
	grants, book, err := t.grantBook()
	if err != nil {
		return harness.Grant{}, err
	}
	n, ok := rules.GrantNumber(id)
	if !ok || n > book.Last {
		return harness.Grant{}, harness.ErrNotFound
	}
	var p grantPlace
	if err := grants.need(number(n), &p); err != nil {
		return harness.Grant{}, err
	}
	g, there, err := t.placed(n, p)
	if err == nil && !there {
		err = harness.ErrNotFound
	}
	return g, err
}

// placed reads the grant that is at a place. There is none if it was removed or
// if the session was, by a cairn that knows no grants.
func (t *tx) placed(n int, p grantPlace) (g harness.Grant, there bool, err error) {
	switch {
	case p.Gone:
		return g, false, nil
	case p.Grant != nil:
		return *p.Grant, true, nil
	}
	s, ok, err := t.find(p.Session)
	if err != nil || !ok || s.info.Hidden {
		return g, false, err
	}
	g, err = s.grant(n, p)
	return g, err == nil, err
}

// grant reads a grant that is filed in the session.
func (s *session) grant(n int, p grantPlace) (harness.Grant, error) {
	b, err := s.must("grants")
	if err != nil {
		return harness.Grant{}, err
	}
	var f filedGrant
	if err := b.need(number(n), &f); err != nil {
		return f.Grant, err
	}
	if f.Version != p.Version || f.Grant.Session != s.info.ID || f.Grant.ID != rules.GrantID(n) {
		return f.Grant, s.t.d.damaged(place(b.path, number(n)), "it is not the version last written")
	}
	return f.Grant, nil
}

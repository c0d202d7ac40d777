package mem

import (
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Grants = (*Grants)(nil)

// Grants returns the view that implements [harness.Grants].
func (st *Store) Grants() *Grants { return &Grants{st} }

// Grants keeps the standing permissions of a store.
type Grants struct{ st *Store }

// List implements [harness.Grants].
func (v *Grants) List(ctx context.Context, id harness.SessionID) ([]harness.Grant, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list grants: %w", context.Cause(ctx))
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	_, err := v.st.present(id)
	var list []harness.Grant
	for _, g := range v.st.grants {
		if g.Session == "" || g.Session == id && err == nil {
			list = append(list, g)
		}
	}
	return list, nil
}

// Save implements [harness.Grants].
func (v *Grants) Save(ctx context.Context, g harness.Grant) (harness.Grant, error) {
	err := v.st.change(ctx, "save grant "+g.Rule, func() error {
		if err := rules.CheckGrant(g); err != nil {
			return err
		}
		at := len(v.st.grants)
		if g.ID != "" {
			if at = v.st.grant(g.ID); at < 0 {
				return harness.ErrNotFound
			}
			rule, tool := g.Rule, g.Tool
			g = v.st.grants[at]
			g.Rule, g.Tool = rule, tool
		}
		if g.Session != "" {
			if _, err := v.st.present(g.Session); err != nil {
				return err
			}
		}
		same := slices.IndexFunc(v.st.grants, func(have harness.Grant) bool { return rules.SameGrant(have, g) && have.ID != g.ID })
		if same >= 0 {
			equal := v.st.grants[same]
			if g.ID != "" {
				v.st.grants = slices.Delete(v.st.grants, at, at+1)
			}
			g = equal
			return nil
		}
		if g.ID != "" {
			v.st.grants[at] = g
			return nil
		}
		v.st.lastGrant++
		g.ID = rules.GrantID(v.st.lastGrant)
		if g.At.IsZero() {
			g.At = v.st.now()
		}
		v.st.grants = append(v.st.grants, g)
		return nil
	})
	if err != nil {
		return harness.Grant{}, err
	}
	return g, nil
}

// Revoke implements [harness.Grants].
func (v *Grants) Revoke(ctx context.Context, id string) error {
	return v.st.change(ctx, "revoke grant "+id, func() error {
		at := v.st.grant(id)
		if at < 0 {
			return harness.ErrNotFound
		}
		v.st.grants = slices.Delete(v.st.grants, at, at+1)
		return nil
	})
}

// grant returns the place of a grant, -1 if there is none of this id.
func (st *Store) grant(id string) int {
	return slices.IndexFunc(st.grants, func(g harness.Grant) bool { return g.ID == id })
}

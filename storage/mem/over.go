package mem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
)

var _ harness.Grants = (*OverGrants)(nil)

// overPrefix goes before the ids of the store's own grants in [OverGrants], so
// that they are not those of the standing ones.
const overPrefix = "session-"

// GrantsOver returns the grants of this store's sessions together with those
// of always in standing: what is allowed for a session is forgotten with the
// store, and what is allowed always counts here too, and stays.
func (st *Store) GrantsOver(standing harness.Grants) *OverGrants {
	return &OverGrants{own: st.Grants(), standing: standing}
}

// OverGrants are the grants of two stores; see [Store.GrantsOver].
type OverGrants struct {
	own      *Grants
	standing harness.Grants
}

// List implements [harness.Grants].
func (v *OverGrants) List(ctx context.Context, id harness.SessionID) ([]harness.Grant, error) {
	list, err := v.standing.List(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("standing permissions: %w", err)
	}
	own, err := v.own.List(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, g := range own {
		list = append(list, outside(g))
	}
	slices.SortStableFunc(list, func(a, b harness.Grant) int { return a.At.Compare(b.At) })
	return list, nil
}

// Save implements [harness.Grants].
func (v *OverGrants) Save(ctx context.Context, g harness.Grant) (harness.Grant, error) {
	id, own := strings.CutPrefix(g.ID, overPrefix)
	if !own && (g.ID != "" || g.Session == "") {
		return v.standing.Save(ctx, g)
	}
	g.ID = id
	g, err := v.own.Save(ctx, g)
	if err != nil {
		return harness.Grant{}, err
	}
	return outside(g), nil
}

// Revoke implements [harness.Grants].
func (v *OverGrants) Revoke(ctx context.Context, id string) error {
	if inner, own := strings.CutPrefix(id, overPrefix); own {
		return v.own.Revoke(ctx, inner)
	}
	return v.standing.Revoke(ctx, id)
}

// outside is a grant of the store itself as others see it.
func outside(g harness.Grant) harness.Grant {
	g.ID = overPrefix + g.ID
	return g
}

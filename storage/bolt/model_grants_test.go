package bolt_test

import (
	"errors"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"cairn/harness"
)

type modelGrant struct {
	session harness.SessionID
	rule    string
	revoked bool
}

// grant gives one in a session or for always, or replaces one that there is.
func (m *model) grant(t *rapid.T) {
	want := modelGrant{session: rapid.SampledFrom([]harness.SessionID{"", "a", "b"}).Draw(t, "session"), rule: rapid.StringMatching(`[ab]{1,2}`).Draw(t, "rule")}
	at := len(m.grants)
	if at > 0 && rapid.Bool().Draw(t, "replace") {
		at = rapid.IntRange(0, at-1).Draw(t, "which")
		want.session = m.grants[at].session
	}
	g := harness.Grant{Session: want.session, Rule: want.rule}
	if at < len(m.grants) {
		g.ID = fmt.Sprint("g", at+1)
	}
	got, err := m.db.Grants().Save(t.Context(), g)
	if s := m.sessions[want.session]; at < len(m.grants) && m.grants[at].revoked || want.session != "" && (s == nil || s.deleted) {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("grant %+v in no session or of no id: error %v", g, err)
		}
		return
	}
	m.must(err)
	same := slices.Index(m.grants, want)
	switch {
	case same >= 0 && same != at && at < len(m.grants):
		m.grants[at].revoked = true
	case same >= 0:
	case at < len(m.grants):
		m.grants[at], same = want, at
	default:
		m.grants, same = append(m.grants, want), at
	}
	if id := fmt.Sprint("g", same+1); got.ID != id || got.Rule != want.rule {
		t.Fatalf("granted %+v, want %s %+v", got, id, want)
	}
}

func (m *model) revokeGrant(t *rapid.T) {
	if len(m.grants) == 0 {
		return
	}
	at := rapid.IntRange(0, len(m.grants)-1).Draw(t, "which")
	err := m.db.Grants().Revoke(t.Context(), fmt.Sprint("g", at+1))
	if m.grants[at].revoked {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("revoked twice: error %v", err)
		}
		return
	}
	m.must(err)
	m.grants[at].revoked = true
}

func (m *model) compareGrants(t *rapid.T) {
	for _, id := range []harness.SessionID{"a", "b"} {
		list, err := m.db.Grants().List(t.Context(), id)
		m.must(err)
		var got, want []string
		for _, g := range list {
			got = append(got, g.ID+g.Rule)
		}
		s := m.sessions[id]
		for i, g := range m.grants {
			if !g.revoked && (g.session == "" || g.session == id && !s.deleted) {
				want = append(want, fmt.Sprint("g", i+1)+g.rule)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("grants in %q are %q, want %q", id, got, want)
		}
	}
}

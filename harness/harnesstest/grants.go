//nolint:gocognit // these are the tests themselves: a failure must point into them, and they list their cases
package harnesstest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
)

// TestGrants tests a [harness.Grants].
func TestGrants(t *testing.T, open Open) {
	t.Parallel()
	t.Run("kept", func(t *testing.T) { t.Parallel(); testGrantsKept(t, open) })
	t.Run("replaced", func(t *testing.T) { t.Parallel(); testGrantsReplaced(t, open) })
	t.Run("gone", func(t *testing.T) { t.Parallel(); testGrantsGone(t, open) })
}

// grant saves a grant of a session, of always if it is empty.
func grant(t *testing.T, s Stores, id harness.SessionID, rule, tool string) harness.Grant {
	t.Helper()
	return value[harness.Grant](t)(s.Grants.Save(ctx(t), harness.Grant{Session: id, Rule: rule, Tool: tool, By: "ada"}))
}

// granted returns what counts in a session, as "id:rule".
func granted(t *testing.T, s Stores, id harness.SessionID) string {
	t.Helper()
	var all []string
	for _, g := range value[[]harness.Grant](t)(s.Grants.List(ctx(t), id)) {
		all = append(all, g.ID+":"+g.Rule)
	}
	return strings.Join(all, " ")
}

func wantGranted(t *testing.T, s Stores, id harness.SessionID, want string) {
	t.Helper()
	if got := granted(t, s, id); got != want {
		t.Fatalf("grants in %q: %s, want %s", id, got, want)
	}
}

func testGrantsKept(t *testing.T, open Open) {
	run(t, "those of always and of the session come in the order in which they were given", open, func(t *testing.T, s Stores) {
		wantGranted(t, s, "", "")
		wantGranted(t, s, "a", "")
		for _, id := range []harness.SessionID{"a", "b"} {
			say(t, s, acquire(t, s, id), "hello")
		}
		grant(t, s, "a", "one", "")
		grant(t, s, "", "two", "")
		grant(t, s, "b", "three", "")
		grant(t, s, "a", "four", "")
		for range 2 {
			wantGranted(t, s, "a", "g1:one g2:two g4:four")
			wantGranted(t, s, "b", "g2:two g3:three")
			wantGranted(t, s, "", "g2:two")
			wantGranted(t, s, "not stored", "g2:two")
			s = s.Reopen()
		}
		grant(t, s, "", "five", "")
		wantGranted(t, s, "b", "g2:two g3:three g5:five")
	})
	run(t, "everything of a grant comes back", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		s.Clock.Add(time.Minute)
		want := []harness.Grant{
			{ID: "g1", Session: "a", Rule: `run_command(git commit -m "<é>" *)`, Tool: "f00d", By: "ada at /dev/pts/3 (chat)", At: s.Clock.Now()},
			{ID: "g2", Rule: "fetch_url(*.example.com)", At: s.Clock.Now().Add(-time.Hour)},
		}
		for _, g := range want {
			given := g
			given.ID = ""
			if g.ID == "g1" {
				given.At = time.Time{}
			}
			equal(t, "saved", value[harness.Grant](t)(s.Grants.Save(ctx(t), given)), g)
		}
		s = s.Reopen()
		equal(t, "stored", value[[]harness.Grant](t)(s.Grants.List(ctx(t), "a")), want)
	})
	run(t, "many may write at once", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		const writers, each = 4, 5
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					own, err := s.Grants.Save(ctx(t), harness.Grant{Session: "a", Rule: fmt.Sprint("rule ", w, i)})
					if err == nil {
						_, err = s.Grants.Save(ctx(t), harness.Grant{Rule: fmt.Sprint("shared ", i)})
					}
					if err == nil {
						_, err = s.Grants.List(ctx(t), "a")
					}
					if err == nil && i%2 == 1 {
						err = s.Grants.Revoke(ctx(t), own.ID)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		list := value[[]harness.Grant](t)(s.Grants.List(ctx(t), "a"))
		seen := map[string]bool{}
		for _, g := range list {
			seen[g.ID] = true
		}
		if want := writers*(each/2+1) + each; len(list) != want || len(seen) != want {
			t.Fatalf("%d grants with %d ids, want %d", len(list), len(seen), want)
		}
	})
}

func testGrantsReplaced(t *testing.T, open Open) {
	run(t, "an equal grant is not stored twice", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		first := grant(t, s, "a", "one", "x")
		s.Clock.Add(time.Hour)
		equal(t, "the second time", grant(t, s, "a", "one", "x"), first)
		grant(t, s, "a", "one", "y")
		grant(t, s, "", "one", "x")
		equal(t, "the third time", grant(t, s, "a", "one", "x"), first)
		wantGranted(t, s, "a", "g1:one g2:one g3:one")
	})
	run(t, "a grant with an id replaces the rule and the tool", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		for _, g := range []harness.Grant{grant(t, s, "a", "one", "x"), grant(t, s, "", "two", "x")} {
			s.Clock.Add(time.Hour)
			got := value[harness.Grant](t)(s.Grants.Save(ctx(t), harness.Grant{ID: g.ID, Session: "elsewhere", By: "eve", Rule: g.Rule + "!", Tool: "y"}))
			g.Rule, g.Tool = g.Rule+"!", "y"
			equal(t, "replaced", got, g)
		}
		s = s.Reopen()
		wantGranted(t, s, "a", "g1:one! g2:two!")
		if again := value[harness.Grant](t)(s.Grants.Save(ctx(t), harness.Grant{ID: "g1", Rule: "one!", Tool: "y"})); again.ID != "g1" {
			t.Fatalf("replaced by itself: %+v", again)
		}
		grant(t, s, "a", "three", "")
		if merged := value[harness.Grant](t)(s.Grants.Save(ctx(t), harness.Grant{ID: "g1", Rule: "three"})); merged.ID != "g3" {
			t.Fatalf("replaced by what there is: %+v", merged)
		}
		wantGranted(t, s, "a", "g2:two! g3:three")
	})
}

func testGrantsGone(t *testing.T, open Open) {
	run(t, "a revoked grant is gone and its id is not given out again", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		for range 2 {
			grant(t, s, "a", "one", "")
			grant(t, s, "", "two", "")
			s = s.Reopen()
			for _, g := range value[[]harness.Grant](t)(s.Grants.List(ctx(t), "a")) {
				must(t, s.Grants.Revoke(ctx(t), g.ID))
				wantErr(t, s.Grants.Revoke(ctx(t), g.ID), harness.ErrNotFound)
				_, err := s.Grants.Save(ctx(t), harness.Grant{ID: g.ID, Rule: "three"})
				wantErr(t, err, harness.ErrNotFound)
			}
			wantGranted(t, s, "a", "")
		}
		s = s.Reopen()
		grant(t, s, "a", "one", "")
		wantGranted(t, s, "a", "g5:one")
	})
	run(t, "what names no grant is not found", open, func(t *testing.T, s Stores) {
		grant(t, s, "", "one", "")
		for _, id := range []string{"", "g", "g0", "g2", "g01", "G1", "1", "f1", "g-1", "g1 ", "g99999999999999999999", "book", "../g1"} {
			wantErr(t, s.Grants.Revoke(ctx(t), id), harness.ErrNotFound)
			if id == "" {
				continue
			}
			_, err := s.Grants.Save(ctx(t), harness.Grant{ID: id, Rule: "two"})
			wantErr(t, err, harness.ErrNotFound)
		}
		wantGranted(t, s, "", "g1:one")
	})
	run(t, "a grant needs a rule, and a stored session if it is for one", open, func(t *testing.T, s Stores) {
		acquire(t, s, "empty")
		for _, id := range []harness.SessionID{"none", "empty", harness.NoSession} {
			_, err := s.Grants.Save(ctx(t), harness.Grant{Session: id, Rule: "one"})
			wantErr(t, err, harness.ErrNotFound)
		}
		if g, err := s.Grants.Save(ctx(t), harness.Grant{Rule: " "}); err == nil {
			t.Fatalf("a grant without a rule: %+v", g)
		}
		wantGranted(t, s, "empty", "")
		grant(t, s, "", "one", "")
		wantGranted(t, s, "", "g1:one")
	})
	run(t, "a deleted session has no grants until it is restored", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		grant(t, s, "a", "one", "")
		grant(t, s, "", "two", "")
		grant(t, s, "a", "three", "")
		must(t, s.Sessions.Delete(ctx(t), "a"))
		s = s.Reopen()
		wantGranted(t, s, "a", "g2:two")
		_, err := s.Grants.Save(ctx(t), harness.Grant{Session: "a", Rule: "four"})
		wantErr(t, err, harness.ErrNotFound)
		_, err = s.Grants.Save(ctx(t), harness.Grant{ID: "g1", Rule: "four"})
		wantErr(t, err, harness.ErrNotFound)
		must(t, s.Grants.Revoke(ctx(t), "g3"))
		must(t, s.Sessions.Restore(ctx(t), "a"))
		wantGranted(t, s, "a", "g1:one g2:two")
	})
	run(t, "a fork has none of its parent's", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		grant(t, s, "a", "one", "")
		l := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), harness.Session{ID: "b", Parent: &harness.Origin{Session: "a", Record: 1}}, harness.Holder{}))
		say(t, s, l, "and on")
		wantGranted(t, s, "b", "")
	})
}

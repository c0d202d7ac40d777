package bolt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// withGrants makes a database with sessions and grants: g1 of "a", g2 of always,
// g3 of "a", g4 of "b", which is a fork of "a".
func withGrants(t *testing.T) (*bolt.DB, *harnesstest.Clock) {
	t.Helper()
	clock := harnesstest.NewClock()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), clock)
	ctx := t.Context()
	for _, meta := range []harness.Session{{ID: "a"}, {ID: "b", Parent: &harness.Origin{Session: "a", Record: 1}}} {
		m := harness.UserText("hello")
		l, err := db.Owners().Acquire(ctx, meta, harness.Holder{})
		ok(t, err)
		_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &m})
		ok(t, err)
		ok(t, db.Owners().Release(ctx, l))
	}
	for i, id := range []harness.SessionID{"a", "", "a", "b"} {
		_, err := db.Grants().Save(ctx, harness.Grant{Session: id, Rule: fmt.Sprintf("rule %d", i+1)})
		ok(t, err)
	}
	return db, clock
}

// granted returns the ids of what counts in a session.
func granted(t *testing.T, db *bolt.DB, id harness.SessionID) string {
	t.Helper()
	list, err := db.Grants().List(t.Context(), id)
	ok(t, err)
	var all []string
	for _, g := range list {
		all = append(all, g.ID)
	}
	return strings.Join(all, " ")
}

// TestPurgeDropsGrants removes a session of which a fork keeps records, and then
// the fork.
func TestPurgeDropsGrants(t *testing.T) {
	t.Parallel()
	db, clock := withGrants(t)
	ctx := t.Context()
	for _, c := range []struct {
		purged harness.SessionID
		a, b   string
	}{{"a", "g2", "g2 g4"}, {"b", "g2", "g2"}} {
		ok(t, db.Sessions().Delete(ctx, c.purged))
		clock.Add(time.Minute)
		purged, err := db.Purge(ctx, clock.Now())
		ok(t, err)
		if purged.Sessions != 1 {
			t.Fatalf("purged %+v", purged)
		}
		if a, b := granted(t, db, "a"), granted(t, db, "b"); a != c.a || b != c.b {
			t.Fatalf("without %s: %q and %q", c.purged, a, b)
		}
		whole(t, db)
	}
	for _, id := range []string{"g1", "g3", "g4"} {
		if err := db.Grants().Revoke(ctx, id); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("revoked %s of a purged session: error %v", id, err)
		}
	}
	_, _, err := db.Compact(ctx)
	ok(t, err)
	db.Rest()
	raw, err := os.ReadFile(db.Path())
	ok(t, err)
	if strings.Contains(string(raw), "rule 4") || !strings.Contains(string(raw), "rule 2") {
		t.Error("the file holds a rule that was purged, or lacks one that was not")
	}
}

// TestVanishedGrantsAreNoticed loses single values. A grant that is missed is
// asked for once more, which is harmless, but one that comes back is not.
func TestVanishedGrantsAreNoticed(t *testing.T) {
	t.Parallel()
	for what, lost := range map[string]struct {
		n    int
		path []string
	}{
		"one of always":            {2, []string{"grants"}},
		"the first":                {1, []string{"grants"}},
		"the last":                 {4, []string{"grants"}},
		"one filed in the session": {3, []string{"sessions", "a", "grants"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			db, _ := withGrants(t)
			ok(t, db.Vanish(t.Context(), lost.n, lost.path...))
			if list, err := db.Grants().List(t.Context(), "a"); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), lost.path[0]) {
				t.Errorf("listed %+v, %v", list, err)
			}
			report, err := db.Check(t.Context())
			ok(t, err)
			if len(report.Problems) == 0 {
				t.Error("a check finds nothing")
			}
		})
	}
}

// TestOlderCairnLeavesGrantsAlone shares the file with a program that writes the
// counters and purges sessions without knowing of grants.
func TestOlderCairnLeavesGrantsAlone(t *testing.T) {
	t.Parallel()
	db, _ := withGrants(t)
	ctx := t.Context()
	ok(t, db.WithoutGrants(ctx))
	if got := granted(t, db, "a"); got != "g1 g2 g3" {
		t.Fatalf("grants %q", got)
	}
	g, err := db.Grants().Save(ctx, harness.Grant{Rule: "another"})
	ok(t, err)
	if g.ID != "g5" {
		t.Fatalf("an id was given out again: %+v", g)
	}
	ok(t, db.Sessions().Delete(ctx, "b"))
	ok(t, db.DropSession(ctx, "b"))
	if got := granted(t, db, "b"); got != "g2 g5" {
		t.Fatalf("grants %q of a session that is gone", got)
	}
	if err := db.Grants().Revoke(ctx, "g4"); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("revoked what is gone: error %v", err)
	}
	whole(t, db)
}

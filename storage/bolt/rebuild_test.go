package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// changed are the names of the lists that a rebuild changed.
func changed(r bolt.Rebuilt) string {
	var all []string
	for _, l := range r.Lists {
		all = append(all, l.Name)
	}
	return strings.Join(all, " ")
}

func TestRebuildOfRightListsChangesNothing(t *testing.T) {
	t.Parallel()
	path := populated(t)
	before, err := os.ReadFile(path)
	ok(t, err)
	r, err := bolt.RebuildLists(t.Context(), path, bolt.Options{})
	ok(t, err)
	if len(r.Lists) != 0 || len(r.Missing) != 0 || r.Kept != "" || r.Counts.Sessions != 44 {
		t.Fatalf("%+v", r)
	}
	unchanged(t, path, before)
	if left := names(t, filepath.Dir(path)); !slices.Equal(left, []string{bolt.FileName}) {
		t.Fatalf("left %v", left)
	}
	if _, err := bolt.RebuildLists(t.Context(), filepath.Join(t.TempDir(), "none"), bolt.Options{}); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("error %v", err)
	}
}

// TestListsAreMadeAnewFromTheRecords damages one list after the other, in which
// way a program does it and in which way a disk does.
func TestListsAreMadeAnewFromTheRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(ctx context.Context, db *bolt.DB) error
		lists  string
	}{
		"recent":     {func(ctx context.Context, db *bolt.DB) error { return db.Unlist(ctx, "beta") }, "recent"},
		"where":      {func(ctx context.Context, db *bolt.DB) error { return db.VanishKey(ctx, "where", "s/beta") }, "where"},
		"a run":      {func(ctx context.Context, db *bolt.DB) error { return db.VanishKey(ctx, "where", "r/beta3") }, "where"},
		"a fact":     {func(ctx context.Context, db *bolt.DB) error { return db.VanishKey(ctx, "where", "f2") }, "where"},
		"unfinished": {func(ctx context.Context, db *bolt.DB) error { return db.Scribble(ctx, "unfinished", "beta15") }, "unfinished"},
		"all of it":  {func(ctx context.Context, db *bolt.DB) error { return db.DropBucket(ctx, "recent") }, "recent"},
		"trash":      {func(ctx context.Context, db *bolt.DB) error { return db.DropBucket(ctx, "trash") }, "trash"},
		"texts":      {func(ctx context.Context, db *bolt.DB) error { return db.DropBucket(ctx, "texts") }, "texts"},
		"counters":   {func(ctx context.Context, db *bolt.DB) error { return db.Miscount(ctx) }, "counters"},
		"no count":   {func(ctx context.Context, db *bolt.DB) error { return db.Scribble(ctx, "meta", "counters") }, "counters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := populated(t)
			db, err := bolt.Open(path, bolt.Options{})
			ok(t, err)
			want, _ := ask(t, db)
			ok(t, c.damage(t.Context(), db))
			ok(t, db.Close())
			broken, err := os.ReadFile(path)
			ok(t, err)
			r, err := bolt.RebuildLists(t.Context(), path, bolt.Options{Now: harnesstest.NewClock().Now})
			ok(t, err)
			if changed(r) != c.lists || (len(r.Missing) != 0) != (name == "counters") {
				t.Fatalf("%+v", r)
			}
			unchanged(t, r.Kept, broken)
			db = openAt(t, path, harnesstest.NewClock())
			got, errs := ask(t, db)
			compare(t, "after the rebuild", want, got, errs)
			if len(errs) != 0 {
				t.Fatalf("errors %v", errs)
			}
			whole(t, db)
			// Ids go on where they were.
			f, _, err := db.Facts().Save(t.Context(), harness.Fact{Text: "new"}, "")
			ok(t, err)
			if f.ID != "f5" {
				t.Fatalf("the next fact is %s", f.ID)
			}
		})
	}
}

// TestRebuildTellsWhatIsMissing loses a session of which only the lists tell.
func TestRebuildTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	ok(t, db.DropRecords(t.Context(), "filler3"))
	ok(t, db.Close())
	r, err := bolt.RebuildLists(t.Context(), path, bolt.Options{})
	ok(t, err)
	if changed(r) != "where recent counters" || !slices.Equal(r.Missing, []string{"session filler3"}) || r.Counts.Sessions != 43 {
		t.Fatalf("%+v", r)
	}
	whole(t, openAt(t, path, harnesstest.NewClock()))
}

// TestDamagedRecordsAreNotRebuilt damages something that is in no list.
func TestDamagedRecordsAreNotRebuilt(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	ok(t, db.Unlist(t.Context(), "beta"))
	ok(t, db.Close())
	raw, err := os.ReadFile(path)
	ok(t, err)
	raw = bytes.ReplaceAll(raw, []byte("question 7"), []byte("Question 7"))
	ok(t, os.WriteFile(path, raw, 0o600))
	_, err = bolt.RebuildLists(t.Context(), path, bolt.Options{})
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "sessions/") {
		t.Fatalf("error %v", err)
	}
	unchanged(t, path, raw)
}

// TestListsOnBrokenPagesAreRebuilt breaks every page of a list in turn.
func TestListsOnBrokenPagesAreRebuilt(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	want, _ := ask(t, db)
	ok(t, db.Close())
	whole, err := os.ReadFile(path)
	ok(t, err)
	rebuilt := 0
	for at := 2 * 4096; at < len(whole); at += 4096 {
		// A leaf of the list of sessions, and of where they are.
		if page := whole[at : at+4096]; !bytes.Contains(page, []byte("s/filler1")) {
			continue
		}
		broken := bytes.Clone(whole)
		copy(broken[at+8:at+4096], bytes.Repeat([]byte{0xA5}, 4088))
		ok(t, os.WriteFile(path, broken, 0o600))
		r, err := bolt.RebuildLists(t.Context(), path, bolt.Options{})
		if err != nil {
			if !errors.Is(err, harness.ErrDamaged) {
				t.Fatal(err)
			}
			unchanged(t, path, broken) // more than a list was on it
			continue
		}
		rebuilt++
		unchanged(t, r.Kept, broken)
		db := openAt(t, path, harnesstest.NewClock())
		got, errs := ask(t, db)
		compare(t, "after the rebuild", want, got, errs)
		if len(errs) != 0 {
			t.Fatalf("errors %v", errs)
		}
	}
	if rebuilt == 0 {
		t.Fatal("no page was one of a list")
	}
}

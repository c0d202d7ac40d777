package bolt_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// golden puts a copy of a file that an older cairn made into a new directory.
func golden(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", name+".gz"))
	ok(t, err)
	defer packed.Close() //nolint:errcheck // it was only read
	r, err := gzip.NewReader(packed)
	ok(t, err)
	raw, err := io.ReadAll(r)
	ok(t, err)
	path := filepath.Join(t.TempDir(), bolt.FileName)
	ok(t, os.WriteFile(path, raw, 0o600))
	return path
}

// TestFileOfTheFirstSchemaIsRead reads a file that the first cairn made: what it
// says never changes, whatever schema later ones have.
func TestFileOfTheFirstSchemaIsRead(t *testing.T) {
	t.Parallel()
	path := golden(t, "schema-1.db")
	m, err := bolt.Migrate(t.Context(), path, bolt.Options{})
	ok(t, err)
	want := bolt.Counts{Sessions: 4, Messages: 17, Runs: 9, Facts: 3, Notes: 3, Suggestions: 1, Prompts: 3, Grants: 3}
	if m.From != 1 || m.Counts != want {
		t.Fatalf("%+v", m)
	}
	db := openAt(t, path, harnesstest.NewClock())
	whole(t, db)
	reads(t, db, "beta", "question 0", "answer 0 of beta", "question 1", "answer 1 of beta", "question 2")
	reads(t, db, "fork", "question 0", "answer 0 of alpha")
	ctx := t.Context()
	list, err := db.Sessions().List(ctx, harness.SessionFilter{Deleted: true})
	ok(t, err)
	if len(list) != 1 || list[0].ID != "trashed" || list[0].Messages != 6 {
		t.Errorf("the trash has %+v", list)
	}
	r, err := db.Journal().Get(ctx, "beta2")
	ok(t, err)
	if r.Status != harness.RunRunning || r.Partial == nil || r.Partial.Text != "half an answer" {
		t.Errorf("run %+v", r)
	}
	d, err := db.Drafts().Load(ctx, "beta")
	ok(t, err)
	if d.Text != "unsent" || fmt.Sprint(d.Queue) != "[queued]" {
		t.Errorf("draft %+v", d)
	}
	if got := pinned(t, db); got != "f2 " {
		t.Errorf("pinned %s", got)
	}
	history, err := db.Facts().History(ctx, "f1")
	ok(t, err)
	if len(history) != 2 || history[0].Text != "A fact from alpha" || history[1].Text != "An edited fact" {
		t.Errorf("history %+v", history)
	}
	hits, err := db.Searcher().Search(ctx, "answer beta", 1)
	ok(t, err)
	if len(hits) != 1 || hits[0].Session != "beta" || !strings.Contains(hits[0].Excerpt, "beta") {
		t.Errorf("hits %+v", hits)
	}
	// It can be written to, and its lists follow from its records.
	say(t, db, "alpha", "more")
	_, err = db.Housekeep(ctx)
	ok(t, err)
	whole(t, db)
	db.Rest()
	rebuilt, err := bolt.RebuildLists(ctx, path, bolt.Options{})
	ok(t, err)
	if len(rebuilt.Lists) != 0 || len(rebuilt.Missing) != 0 {
		t.Errorf("rebuilt %+v", rebuilt)
	}
}

package bolt_test

import (
	"path/filepath"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// mirrored are two runs that another engine keeps, of which the first is over
// and the second at its first entry.
func mirrored(t *testing.T, db *bolt.DB) {
	t.Helper()
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	ok(t, err)
	ask, hi := harness.UserText("question"), harness.AssistantText("answer")
	_, _, err = db.Journal().Create(ctx, l, harness.Run{ID: "r1", Engine: "sqlite:/home/ada/runs.db"}, run.Entry{Kind: "started", Message: &ask})
	ok(t, err)
	_, err = db.Journal().Append(ctx, l, "r1", 1,
		run.Entry{Kind: "answered", Message: &hi, Usage: harness.Usage{Input: 5, Output: 2}, Effects: []harness.Effect{
			{Key: "r1_1_1", Kind: harness.EffectSaveFact, Fact: &harness.Fact{Session: "s", Text: "Ada has a cat", Source: harness.Source{Session: "s", Message: 1}}},
			{Key: "r1_1_2", Kind: harness.EffectSaveNote, Note: &harness.Note{Session: "s", Title: "Cats"}},
			{Key: "r1_1_3", Kind: harness.EffectSuggest, Suggestion: &harness.Suggestion{Kind: harness.SuggestAdd, Text: "Ada sings", Source: harness.Source{Session: "s", Message: 1}}},
			{Key: "r1_1_4", Kind: harness.EffectEditFact, IDs: []string{"f9"}, FactEdit: &harness.FactEdit{}},
		}},
		run.Entry{Kind: "rested", Status: harness.RunCompleted, Stop: harness.StopEnd})
	ok(t, err)
	next := harness.UserText("next")
	_, _, err = db.Journal().Create(ctx, l, harness.Run{ID: "r2", Engine: "temporal://127.0.0.1:7233/default"}, run.Entry{Kind: "started", Message: &next})
	ok(t, err)
	ok(t, db.Owners().Release(ctx, l))
}

// TestUpkeepKnowsRunsThatAreKeptElsewhere does everything to a file with such runs
// that is done to one without.
func TestUpkeepKnowsRunsThatAreKeptElsewhere(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	clock := harnesstest.NewClock()
	db := openAt(t, path, clock)
	mirrored(t, db)
	whole(t, db)

	_, err := db.Sessions().Fork(ctx, "s", harness.Origin{Record: 2}, harness.Session{ID: "fork"})
	ok(t, err)
	reads(t, db, "fork", "question", "answer")
	_, err = db.Housekeep(ctx)
	ok(t, err)
	to := filepath.Join(t.TempDir(), "copy.db")
	ok(t, db.Backup(ctx, to))
	_, _, err = db.Compact(ctx)
	ok(t, err)
	db.Rest()
	rebuilt, err := bolt.RebuildLists(ctx, path, bolt.Options{Now: clock.Now})
	ok(t, err)
	if len(rebuilt.Lists) != 0 || len(rebuilt.Missing) != 0 {
		t.Errorf("rebuilt %+v", rebuilt)
	}
	open, err := db.Journal().List(ctx, harness.RunFilter{Unfinished: true})
	ok(t, err)
	if len(open) != 1 || open[0].ID != "r2" || open[0].Interrupted {
		t.Errorf("open runs %+v", open)
	}

	if n, err := db.Journal().PruneRuns(ctx, run.Prune{Before: clock.Now().Add(time.Hour)}); err != nil || n != 1 {
		t.Errorf("pruned %d, %v", n, err)
	}
	whole(t, db)
	ok(t, db.Sessions().Delete(ctx, "s"))
	clock.Add(time.Hour)
	if p, err := db.Purge(ctx, clock.Now()); err != nil || p.Sessions != 1 {
		t.Errorf("purged %+v, %v", p, err)
	}
	whole(t, db)
	reads(t, db, "fork", "question", "answer")
	if f, err := db.Facts().Get(ctx, "f1"); err != nil || f.Text != "Ada has a cat" || !f.Source.Gone {
		t.Errorf("fact %+v, %v", f, err)
	}
	if s, err := db.Inbox().Get(ctx, "i1"); err != nil || s.Text != "Ada sings" || !s.Source.Gone {
		t.Errorf("suggestion %+v, %v", s, err)
	}
}

// TestStoreHasAnIDThatStays compares the ids of a file, a copy of it and another.
func TestStoreHasAnIDThatStays(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path, to := filepath.Join(t.TempDir(), bolt.FileName), filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, harnesstest.NewClock())
	id := db.ID()
	ok(t, db.Backup(ctx, to))
	_, _, err := db.Compact(ctx)
	ok(t, err)
	again := openAt(t, path, harnesstest.NewClock())
	if id == "" || db.ID() != id || again.ID() != id || openAt(t, to, harnesstest.NewClock()).ID() != id {
		t.Errorf("the id %q became %q", id, again.ID())
	}
	if other := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock()); other.ID() == id {
		t.Error("two stores have one id")
	}
}

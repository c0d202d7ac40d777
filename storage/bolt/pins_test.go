package bolt_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// pinned returns the ids of the pinned facts.
func pinned(t *testing.T, db *bolt.DB) string {
	t.Helper()
	list, err := db.Facts().List(t.Context(), harness.MemoryFilter{Pinned: true})
	ok(t, err)
	ids := ""
	for _, f := range list {
		ids += f.ID + " "
	}
	return ids
}

// TestPinnedFactsAreFoundWithoutReadingAll pins and unpins facts, as this cairn
// and as one that does not know how they are found.
func TestPinnedFactsAreFoundWithoutReadingAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, harnesstest.NewClock())
	ctx := t.Context()
	for i := range 130 {
		_, _, err := db.Facts().Save(ctx, harness.Fact{Text: fmt.Sprint("fact ", i), Pinned: i%50 == 7}, "")
		ok(t, err)
	}
	if got := pinned(t, db); got != "f108 f58 f8 " {
		t.Fatalf("pinned %s", got)
	}
	yes, no := true, false
	_, err := db.Facts().Edit(ctx, "f8", harness.FactEdit{Pinned: &no})
	ok(t, err)
	_, err = db.Facts().Edit(ctx, "f9", harness.FactEdit{Pinned: &yes})
	ok(t, err)
	ok(t, db.Facts().Forget(ctx, "f58"))
	if got := pinned(t, db); got != "f9 f108 " {
		t.Fatalf("pinned %s", got)
	}
	_, err = db.Facts().Restore(ctx, "f58")
	ok(t, err)
	for _, id := range []string{"f9", "f58", "f60", "f61"} {
		ok(t, db.WithoutPin(ctx, id))
	}
	if got := pinned(t, db); got != "f9 f108 f58 " {
		t.Fatalf("pinned %s", got)
	}
	whole(t, db)
	if n, err := db.Unpinned(ctx); err != nil || n != 4 {
		t.Fatalf("%d places are not complete, %v", n, err)
	}
	_, err = db.Housekeep(ctx)
	ok(t, err)
	if n, err := db.Unpinned(ctx); err != nil || n != 0 {
		t.Fatalf("%d places are not complete, %v", n, err)
	}
	if got := pinned(t, db); got != "f9 f108 f58 " {
		t.Fatalf("pinned %s", got)
	}
	whole(t, db)

	// A place that says something else than the fact is damage.
	ok(t, db.SetPin(ctx, "f70", true))
	if _, err := db.Facts().List(ctx, harness.MemoryFilter{Pinned: true}); !errors.Is(err, harness.ErrDamaged) {
		t.Fatalf("error %v", err)
	}
	ok(t, db.SetPin(ctx, "f70", false))
	ok(t, db.SetPin(ctx, "f9", false))
	report, err := db.Check(ctx)
	ok(t, err)
	if len(report.Problems) != 1 {
		t.Fatalf("problems %v", report.Problems)
	}
}

// BenchmarkPinned lists the three pinned facts of ten thousand.
func BenchmarkPinned(b *testing.B) {
	db := openBench(b)
	facts := make([]harness.Fact, 10_000)
	for i := range facts {
		facts[i] = harness.Fact{Text: fmt.Sprintf("Fact %d: %.200s", i, text(i)), Pinned: i%4000 == 0}
	}
	check(b, db.SaveFacts(b.Context(), facts))
	for b.Loop() {
		db.Rest()
		list, err := db.Facts().List(b.Context(), harness.MemoryFilter{Pinned: true})
		check(b, err)
		if len(list) != 3 {
			b.Fatalf("%d facts", len(list))
		}
	}
}

// BenchmarkRecall lists the best of ten thousand facts for a question.
func BenchmarkRecall(b *testing.B) {
	db := openBench(b)
	facts := make([]harness.Fact, 10_000)
	for i := range facts {
		facts[i] = harness.Fact{Text: fmt.Sprintf("Fact %d: %.200s", i, text(i))}
	}
	check(b, db.SaveFacts(b.Context(), facts))
	for b.Loop() {
		db.Rest()
		list, err := db.Facts().List(b.Context(), harness.MemoryFilter{Query: "what jumps over message 4711?", Limit: 8})
		check(b, err)
		if len(list) != 8 {
			b.Fatalf("%d facts", len(list))
		}
	}
}

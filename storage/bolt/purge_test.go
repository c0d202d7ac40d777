package bolt_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// reads fails unless a session reads as the texts.
func reads(t *testing.T, db *bolt.DB, id harness.SessionID, want ...string) {
	t.Helper()
	records, err := db.Transcript().Tail(t.Context(), id, 0, 0)
	ok(t, err)
	var got []string
	for _, r := range records {
		got = append(got, r.Message.Text())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s reads %q, want %q", id, got, want)
	}
}

// TestPurgeKeepsWhatForksOfForksReach purges a line of forks from its beginning
// to its end, forks what is hidden by then, and finds nothing left when no fork
// needs it.
func TestPurgeKeepsWhatForksOfForksReach(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), clock)
	ctx := t.Context()
	for n := range 4 {
		say(t, db, "a", fmt.Sprint("a", n+1))
	}
	//nolint:contextcheck // it is that of the test everywhere
	fork := func(from harness.SessionID, of harness.Origin, id harness.SessionID) {
		t.Helper()
		_, err := db.Sessions().Fork(ctx, from, of, harness.Session{ID: id})
		ok(t, err)
		say(t, db, id, string(id)+"1")
		say(t, db, id, string(id)+"2")
	}
	//nolint:contextcheck // it is that of the test everywhere
	purge := func(want int, ids ...harness.SessionID) {
		t.Helper()
		for _, id := range ids {
			ok(t, db.Sessions().Delete(ctx, id))
		}
		p, err := db.Purge(ctx, clock.Now().Add(-time.Minute))
		ok(t, err)
		if p.Sessions != 0 {
			t.Fatalf("purged what may come back: %+v", p)
		}
		clock.Add(time.Hour)
		if want == 0 {
			return
		}
		p, err = db.Purge(ctx, clock.Now())
		ok(t, err)
		if p.Sessions != want {
			t.Fatalf("purged %+v, want %d", p, want)
		}
		whole(t, db)
	}
	fork("a", harness.Origin{Record: 3}, "b")
	fork("b", harness.Origin{Record: 1}, "c")
	purge(1, "a")
	purge(1, "b")
	reads(t, db, "c", "a1", "a2", "a3", "b1", "c1", "c2")
	if kept := db.Kept(t, "a", "b"); kept != "a: 1 2 3; b: 1" {
		t.Fatalf("kept %s", kept)
	}
	// A fork of what is hidden, and one of the beginning of that.
	fork("c", harness.Origin{Session: "b", Record: 1}, "d")
	fork("c", harness.Origin{Session: "a", Record: 2}, "e")
	reads(t, db, "d", "a1", "a2", "a3", "b1", "d1", "d2")
	reads(t, db, "e", "a1", "a2", "e1", "e2")
	purge(1, "c")
	reads(t, db, "d", "a1", "a2", "a3", "b1", "d1", "d2")
	purge(1, "d")
	reads(t, db, "e", "a1", "a2", "e1", "e2")
	if kept := db.Kept(t, "a", "b"); kept != "a: 1 2" {
		t.Fatalf("kept %s", kept)
	}
	// A deleted fork still reaches what it may come back to.
	ok(t, db.Sessions().Delete(ctx, "e"))
	purge(0)
	ok(t, db.Sessions().Restore(ctx, "e"))
	reads(t, db, "e", "a1", "a2", "e1", "e2")
	purge(1, "e")
	if kept := db.Kept(t, "a", "b"); kept != "" {
		t.Fatalf("kept %s", kept)
	}
	if n, err := db.Count(ctx); err != nil || n.Sessions != 0 || n.Messages != 0 {
		t.Fatalf("left %v, %v", n, err)
	}
}

// TestSuggestionKeysGoWithTheSuggestion purges what was decided long ago.
func TestSuggestionKeysGoWithTheSuggestion(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), clock)
	ctx := t.Context()
	for n := range 6 {
		_, filed, err := db.Inbox().Put(ctx, harness.Suggestion{Kind: harness.SuggestAdd, Text: fmt.Sprint("suggested ", n)}, fmt.Sprint("key ", n))
		ok(t, err)
		if !filed {
			t.Fatalf("suggestion %d is not filed", n)
		}
		_, _, err = db.Facts().Save(ctx, harness.Fact{Text: fmt.Sprint("fact ", n)}, fmt.Sprint("key ", n))
		ok(t, err)
	}
	ok(t, db.Inbox().Refuse(ctx, "i1"))
	_, err := db.Inbox().Accept(ctx, "i2", harness.FactEdit{})
	ok(t, err)
	clock.Add(20 * day)
	ok(t, db.Inbox().Refuse(ctx, "i3"))
	keys := func() int {
		n, err := db.Keys(ctx, "keys")
		ok(t, err)
		return n
	}
	if n := keys(); n != 12 {
		t.Fatalf("%d keys", n)
	}
	clock.Add(11 * day)
	_, err = db.Housekeep(ctx)
	ok(t, err)
	if n := keys(); n != 10 {
		t.Fatalf("%d keys are left", n)
	}
	for n := 2; n < 6; n++ {
		if _, filed, err := db.Inbox().Put(ctx, harness.Suggestion{Kind: harness.SuggestAdd, Text: fmt.Sprint("suggested ", n)}, fmt.Sprint("key ", n)); err != nil || filed {
			t.Fatalf("suggestion %d is filed again: %v, %v", n, filed, err)
		}
	}
	clock.Add(20 * day)
	_, err = db.Housekeep(ctx)
	ok(t, err)
	if n := keys(); n != 9 {
		t.Fatalf("%d keys are left", n)
	}
	whole(t, db)
}

// BenchmarkPurge purges half of 10,000 sessions of 10 messages, some of which
// were forked, from a file with a search index.
func BenchmarkPurge(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		db := openBench(b)
		check(b, db.ManySessions(b.Context(), 10_000, conversation(10)))
		_, err := db.IndexMessages(b.Context())
		check(b, err)
		check(b, db.DeleteHalf(b.Context(), 10_000))
		longest := make(chan time.Duration)
		ctx, stop := context.WithCancel(b.Context())
		go func() { longest <- worstCommit(b, ctx, db.Path()) }()
		b.StartTimer()
		p, err := db.PurgeAlone(b.Context(), time.Now().Add(time.Hour))
		check(b, err)
		b.StopTimer()
		stop()
		b.ReportMetric(float64((<-longest).Milliseconds()), "longest-wait-ms")
		if p.Sessions != 5000 {
			b.Fatalf("purged %+v", p)
		}
		b.StartTimer()
	}
}

// worstCommit commits again and again as another process would, and returns how
// long that took at the worst.
//
//nolint:revive // a helper's first parameter is the test
func worstCommit(b *testing.B, ctx context.Context, path string) (worst time.Duration) {
	b.Helper()
	other, err := bolt.Open(path, bolt.Options{}) //nolint:contextcheck // opening takes none
	if err != nil {
		b.Error(err)
		return 0
	}
	defer func() {
		if err := other.Close(); err != nil {
			b.Error(err)
		}
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return worst
		case <-tick.C:
		}
		start := time.Now()
		if err := other.Prompts().Add(context.WithoutCancel(ctx), "s1", "a prompt"); err != nil {
			b.Error(err)
			return worst
		}
		worst = max(worst, time.Since(start))
	}
}

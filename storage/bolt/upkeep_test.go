package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// whole fails unless a check finds nothing wrong.
func whole(t *testing.T, db *bolt.DB) {
	t.Helper()
	report, err := db.Check(t.Context())
	ok(t, err)
	if len(report.Problems) != 0 {
		t.Fatalf("problems %v", report.Problems)
	}
}

func openAt(t *testing.T, path string, clock *harnesstest.Clock) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{Now: clock.Now})
	ok(t, err)
	t.Cleanup(func() { ok(t, db.Close()) })
	return db
}

func TestBackupIsADatabase(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db := openAt(t, path, harnesstest.NewClock())
	want, _ := ask(t, db)
	to := filepath.Join(t.TempDir(), "new", "copy.db")
	ok(t, db.Backup(t.Context(), to))
	if err := db.Backup(t.Context(), to); !errors.Is(err, harness.ErrExists) {
		t.Fatalf("a backup over another: error %v", err)
	}
	copied := openAt(t, to, harnesstest.NewClock())
	got, errs := ask(t, copied)
	compare(t, "the backup", want, got, errs)
	whole(t, copied)
}

func TestDamagedDatabaseIsNotBackedUp(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db := openAt(t, path, harnesstest.NewClock())
	raw, err := os.ReadFile(path)
	ok(t, err)
	db.Rest()
	ok(t, os.WriteFile(path, raw[:len(raw)/2], 0o600))
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), to); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v", err)
	}
	if left, err := filepath.Glob(to + "*"); err != nil || len(left) != 0 {
		t.Fatalf("left %v, %v", left, err)
	}
}

func TestDailyBackupsRotate(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, clock)
	other := filepath.Join(filepath.Dir(path), "backups", "mine.txt")
	for day := range 10 {
		made, err := db.BackupDaily(t.Context(), 7*24*time.Hour)
		ok(t, err)
		if made == "" {
			t.Fatalf("no backup on day %d", day)
		}
		if again, err := db.BackupDaily(t.Context(), 7*24*time.Hour); again != "" || err != nil {
			t.Fatalf("a second backup on day %d: %q, %v", day, again, err)
		}
		ok(t, os.WriteFile(other, nil, 0o600))
		clock.Add(24 * time.Hour)
	}
	left, err := os.ReadDir(filepath.Dir(other))
	ok(t, err)
	if len(left) != 1+7 {
		t.Fatalf("left %v", left)
	}
}

func TestRestoreReplacesADamagedDatabase(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	want, _ := ask(t, db)
	backup := filepath.Join(t.TempDir(), "copy.db")
	ok(t, db.Backup(t.Context(), backup))
	ok(t, db.Close())

	broken := []byte("not a database any more")
	ok(t, os.WriteFile(path, broken, 0o600))
	if _, err := bolt.Restore(t.Context(), path, path, bolt.Options{Now: clock.Now}); err == nil {
		t.Fatal("restored from the damaged file itself")
	}
	half := filepath.Join(t.TempDir(), "half.db")
	raw, err := os.ReadFile(backup)
	ok(t, err)
	ok(t, os.WriteFile(half, raw[:len(raw)/2], 0o600))
	_, err = bolt.Restore(t.Context(), path, half, bolt.Options{Now: clock.Now})
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), half) || !strings.HasSuffix(err.Error(), "use another copy") {
		t.Fatalf("a damaged copy: error %v", err)
	}
	unchanged(t, path, broken)
	kept, err := bolt.Restore(t.Context(), path, backup, bolt.Options{Now: clock.Now})
	ok(t, err)
	unchanged(t, kept, broken)
	restored := openAt(t, path, clock)
	got, errs := ask(t, restored)
	compare(t, "the restored database", want, got, errs)

	// Somebody who had a session open when the database was replaced has lost it.
	held, err := restored.Owners().Acquire(t.Context(), harness.Session{ID: "alpha"}, harness.Holder{})
	ok(t, err)

	// A second one in the same second keeps both.
	second, err := bolt.Restore(t.Context(), path, backup, bolt.Options{Now: clock.Now})
	ok(t, err)
	if second == kept {
		t.Fatalf("both old files are kept as %s", kept)
	}
	unchanged(t, kept, broken)
	// A process that had it open goes on with the new one.
	_, errs = ask(t, restored)
	if len(errs) != 0 {
		t.Fatalf("errors %v", errs)
	}
	m := harness.UserText("x")
	if _, err := restored.Transcript().Append(t.Context(), held, harness.Record{Message: &m}); !errors.Is(err, harness.ErrLost) {
		t.Fatalf("error %v", err)
	}
	next, err := restored.Owners().Acquire(t.Context(), harness.Session{ID: "alpha"}, harness.Holder{})
	ok(t, err)
	_, err = restored.Transcript().Append(t.Context(), next, harness.Record{Message: &m})
	ok(t, err)
}

func TestPurgeAndCompactLeaveNoTrace(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, clock)
	ctx := t.Context()
	for i := range 25 {
		id := harness.SessionID(fmt.Sprint("s", i))
		m := harness.UserText(fmt.Sprintf("SECRET-%d ", i) + strings.Repeat("x", 100_000))
		l, err := db.Owners().Acquire(ctx, harness.Session{ID: id}, harness.Holder{})
		ok(t, err)
		_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &m})
		ok(t, err)
		ok(t, db.Prompts().Add(ctx, id, m.Text()))
		ok(t, db.Owners().Release(ctx, l))
		if i >= 5 {
			ok(t, db.Sessions().Delete(ctx, id))
		}
	}
	purged, err := db.Purge(ctx, clock.Now())
	ok(t, err)
	if purged.Sessions != 0 {
		t.Fatalf("purged what is not old enough: %+v", purged)
	}
	clock.Add(time.Hour)
	purged, err = db.Purge(ctx, clock.Now())
	ok(t, err)
	if purged.Sessions != 20 {
		t.Fatalf("purged %+v", purged)
	}
	whole(t, db)
	before, after, err := db.Compact(ctx)
	ok(t, err)
	raw, err := os.ReadFile(path)
	ok(t, err)
	if int64(len(raw)) != after || after >= before/2 || after > 5*200_000*3/2 {
		t.Fatalf("%d bytes before, %d after", before, after)
	}
	if !bytes.Contains(raw, []byte("SECRET-4 ")) || bytes.Contains(raw, []byte("SECRET-5 ")) || bytes.Contains(raw, []byte("SECRET-24 ")) {
		t.Fatal("the file holds what was purged, or lacks what was not")
	}
	whole(t, db)
	if got, err := db.Prompts().Recent(ctx, "s0", 0); err != nil || len(got) != 5 {
		t.Fatalf("%d prompts, %v", len(got), err)
	}
	m := harness.UserText("after")
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s24"}, harness.Holder{})
	ok(t, err)
	_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &m})
	ok(t, err)
}

func TestPurgeKeepsNotesFactsAndWhatForksReach(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), clock)
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "parent"}, harness.Holder{})
	ok(t, err)
	for n := range 3 {
		converse(t, db, l, n)
	}
	_, _, err = db.Facts().Save(ctx, harness.Fact{Session: "parent", Text: "one", Source: harness.Source{Session: "parent", Message: 1, Quote: "q"}}, "key")
	ok(t, err)
	two := "two"
	_, err = db.Facts().Edit(ctx, "f1", harness.FactEdit{Text: &two})
	ok(t, err)
	_, err = db.Notes().Save(ctx, harness.Note{Session: "parent", Title: "n"}, "")
	ok(t, err)
	_, _, err = db.Facts().Save(ctx, harness.Fact{Text: "forgotten"}, "")
	ok(t, err)
	ok(t, db.Facts().Forget(ctx, "f2"))
	fork, err := db.Owners().Acquire(ctx, harness.Session{ID: "fork", Parent: &harness.Origin{Session: "parent", Record: 2}}, harness.Holder{})
	ok(t, err)
	ask := harness.UserText("forked")
	_, _, err = db.Journal().Create(ctx, fork, harness.Run{ID: "forked"}, run.Entry{Message: &ask})
	ok(t, err)
	ok(t, db.Sessions().Delete(ctx, "parent"))
	clock.Add(time.Hour)
	if purged, err := db.Purge(ctx, clock.Now()); err != nil || purged.Sessions != 0 || purged.Facts != 1 {
		t.Fatalf("purged a session that is open: %+v, %v", purged, err)
	}
	ok(t, db.Owners().Release(ctx, l))
	if purged, err := db.Purge(ctx, clock.Now()); err != nil || purged.Sessions != 1 {
		t.Fatalf("purged %+v, %v", purged, err)
	}
	whole(t, db)

	forkReads(t, db)
	factsAreKept(t, db)
	nothingElseIsKept(t, db)
}

// forkReads fails unless the fork goes on in its purged parent.
func forkReads(t *testing.T, db *bolt.DB) {
	t.Helper()
	ctx := t.Context()
	tail, err := db.Transcript().Tail(ctx, "fork", 0, 0)
	ok(t, err)
	if len(tail) != 3 || tail[0].Message.Text() != "question 0" {
		t.Fatalf("the fork reads %+v", tail)
	}
	if records, err := db.Transcript().Tail(ctx, "parent", 0, 0); err != nil || len(records) != 0 {
		t.Fatalf("a purged session reads %+v, %v", records, err)
	}
}

// factsAreKept fails unless the purged session's notes and facts are there, and
// no forgotten ones.
func factsAreKept(t *testing.T, db *bolt.DB) {
	t.Helper()
	ctx := t.Context()
	fact, err := db.Facts().Get(ctx, "f1")
	ok(t, err)
	if fact.Session != "" || !fact.Source.Gone || fact.Source.Quote != "q" || fact.Text != "two" {
		t.Fatalf("fact %+v", fact)
	}
	history, err := db.Facts().History(ctx, "f1")
	ok(t, err)
	if len(history) != 2 || history[0].Text != "one" {
		t.Fatalf("history %+v", history)
	}
	if again, created, err := db.Facts().Save(ctx, harness.Fact{Text: "one"}, "key"); err != nil || created || again.ID != "f1" {
		t.Fatalf("saved again %+v, %v, %v", again, created, err)
	}
	if notes, err := db.Notes().List(ctx, harness.MemoryFilter{}); err != nil || len(notes) != 1 || notes[0].Session != "" {
		t.Fatalf("notes %+v, %v", notes, err)
	}
	if _, err := db.Facts().Get(ctx, "f2"); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("a purged fact: error %v", err)
	}
}

// nothingElseIsKept fails if the purged session can still be used.
func nothingElseIsKept(t *testing.T, db *bolt.DB) {
	t.Helper()
	ctx := t.Context()
	for what, err := range map[string]error{
		"restore": db.Sessions().Restore(ctx, "parent"),
		"draft":   db.Drafts().Save(ctx, "parent", harness.Holder{}, harness.Draft{Text: "x"}),
	} {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("%s of a purged session: error %v", what, err)
		}
	}
	if runs, err := db.Journal().List(ctx, harness.RunFilter{}); err != nil || len(runs) != 1 || runs[0].ID != "forked" {
		t.Fatalf("runs %+v, %v", runs, err)
	}
	if _, err := db.Owners().Acquire(ctx, harness.Session{ID: "parent"}, harness.Holder{}); !errors.Is(err, harness.ErrExists) {
		t.Fatalf("a purged session's id: error %v", err)
	}
	stats, err := db.Stats(ctx)
	ok(t, err)
	if stats.Sessions != 1 || stats.Trashed != 0 || stats.Facts != 1 || stats.Runs != 1 || stats.Store == "" || stats.Size == 0 {
		t.Fatalf("stats %+v", stats)
	}
}

func TestWatchSeesAReplacedDatabase(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := populated(t)
	db := openAt(t, path, clock)
	backup := filepath.Join(t.TempDir(), "copy.db")
	ok(t, db.Backup(t.Context(), backup))
	changed, err := db.Watch(t.Context())
	ok(t, err)
	_, err = bolt.Restore(t.Context(), path, backup, bolt.Options{Now: clock.Now})
	ok(t, err)
	<-changed
	m := harness.UserText("x")
	l, err := db.Owners().Acquire(t.Context(), harness.Session{ID: "later"}, harness.Holder{})
	ok(t, err)
	for len(changed) > 0 {
		<-changed
	}
	_, err = db.Transcript().Append(t.Context(), l, harness.Record{Message: &m})
	ok(t, err)
	<-changed
}

// TestDamagedValuesAreNotCopied damages a value, which the pages do not show.
func TestDamagedValuesAreNotCopied(t *testing.T) {
	t.Parallel()
	path := populated(t)
	good := filepath.Join(t.TempDir(), "good.db")
	db := openAt(t, path, harnesstest.NewClock())
	ok(t, db.Backup(t.Context(), good))
	db.Rest()
	overwrite(t, path, "A fact from alpha", "A fact from Alpha")
	to := filepath.Join(t.TempDir(), "copy.db")
	err := db.Backup(t.Context(), to)
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "sessions/alpha/facts/f1: checksum") {
		t.Fatalf("error %v", err)
	}
	if left := names(t, filepath.Dir(to)); len(left) != 0 {
		t.Fatalf("left %v", left)
	}
	// Nor is a copy like that put back.
	broken := filepath.Join(t.TempDir(), "broken.db")
	raw, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(broken, raw, 0o600))
	if _, err := bolt.Restore(t.Context(), path, broken, bolt.Options{}); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "use another copy") {
		t.Fatalf("error %v", err)
	}
	_, err = bolt.Restore(t.Context(), path, good, bolt.Options{})
	ok(t, err)
	whole(t, db)
}

package bolt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

const day = 24 * time.Hour

// names returns the names in a directory but those of locks.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ok(t, err)
	var all []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") && !strings.HasSuffix(e.Name(), ".queue") && e.Name() != "locks" {
			all = append(all, e.Name())
		}
	}
	return all
}

func TestHousekeepDoesWhatIsDueAndOnlyThat(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, clock)
	ctx := t.Context()
	for i := range 130 {
		_, _, err := db.Facts().Save(ctx, harness.Fact{Text: fmt.Sprint("fact ", i)}, "")
		ok(t, err)
		if i > 0 {
			ok(t, db.Facts().Forget(ctx, fmt.Sprint("f", i+1)))
		}
	}
	for _, id := range []harness.SessionID{"kept", "deleted"} {
		m := harness.UserText("SECRET-" + string(id))
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartThinking, Text: strings.Repeat("x", 12<<20)})
		l, err := db.Owners().Acquire(ctx, harness.Session{ID: id}, harness.Holder{})
		ok(t, err)
		_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &m})
		ok(t, err)
		ok(t, db.Owners().Release(ctx, l))
	}
	ok(t, db.Sessions().Delete(ctx, "deleted"))

	first, err := db.Housekeep(ctx)
	ok(t, err)
	if first.Backup == "" || first.Purged != (bolt.Purged{}) || first.Compacted != 0 {
		t.Fatalf("at first %+v", first)
	}
	db.Rest()
	before, err := os.ReadFile(path)
	ok(t, err)
	again, err := db.Housekeep(ctx)
	ok(t, err)
	if again != (bolt.Housekept{}) {
		t.Fatalf("the second time %+v", again)
	}
	db.Rest()
	unchanged(t, path, before)

	clock.Add(31 * day)
	later, err := db.Housekeep(ctx)
	ok(t, err)
	if later.Backup == "" || later.Purged != (bolt.Purged{Sessions: 1, Facts: 129}) || later.Compacted < 10<<20 {
		t.Fatalf("a month later %+v", later)
	}
	db.Rest()
	raw, err := os.ReadFile(path)
	ok(t, err)
	if bytes.Contains(raw, []byte("SECRET-deleted")) || !bytes.Contains(raw, []byte("SECRET-kept")) {
		t.Fatal("the file holds what was purged, or lacks what was not")
	}
	whole(t, db)
	if left := names(t, filepath.Dir(path)); !slices.Equal(left, []string{"backups", bolt.FileName}) {
		t.Fatalf("left %v", left)
	}
	if left := names(t, filepath.Join(filepath.Dir(path), "backups")); len(left) != 1 {
		t.Fatalf("backups %v", left)
	}
}

// TestHousekeepLeavesADamagedFileAlone damages a file in which something is due.
func TestHousekeepLeavesADamagedFileAlone(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := populated(t)
	db := openAt(t, path, clock)
	clock.Add(31 * day)
	db.Rest()
	raw, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(path, raw[:len(raw)/2], 0o600))
	if done, err := db.Housekeep(t.Context()); !errors.Is(err, harness.ErrDamaged) || done != (bolt.Housekept{}) {
		t.Fatalf("%+v, %v", done, err)
	}
	unchanged(t, path, raw[:len(raw)/2])
	if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "backups")); !os.IsNotExist(err) {
		t.Fatalf("backups: %v", err)
	}
}

// TestHalfMadeCopiesAreRemoved finds what killed processes left days ago, and
// something that another one may be making.
func TestHalfMadeCopiesAreRemoved(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	dir := t.TempDir()
	db := openAt(t, filepath.Join(dir, bolt.FileName), clock)
	ok(t, os.Mkdir(filepath.Join(dir, "backups"), 0o700))
	for name, gone := range map[string]bool{
		"backups/cairn.db.2026-02-20.new-12": true,
		"backups/cairn.db.2026-03-01.new-12": false,
		"backups/cairn.db.2026-02-20":        true,
		"backups/cairn.db.2026-02-27":        false,
		"cairn.db.compacting":                true,
		"cairn.db.compacting.new-12":         true,
		"cairn.db.new-12":                    true,
		"cairn.db.new-mine":                  false,
	} {
		path := filepath.Join(dir, name)
		ok(t, os.WriteFile(path, nil, 0o600))
		ok(t, os.Chtimes(path, clock.Now().Add(-5*day), clock.Now().Add(-5*day)))
		defer func() {
			if _, err := os.Lstat(path); os.IsNotExist(err) != gone {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	_, err := db.Housekeep(t.Context())
	ok(t, err)
}

// TestMaintenanceBesideAWriter copies and compacts while somebody else writes.
// Every copy is whole and holds all that was acknowledged before it began, and
// the writer loses nothing.
func TestMaintenanceBesideAWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, bolt.FileName)
	clock := harnesstest.NewClock()
	db, writer := openAt(t, path, clock), openAt(t, path, harnesstest.NewClock())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var acknowledged atomic.Int64
	ended := make(chan error, 1)
	go func() {
		for n := 1; ctx.Err() == nil; n++ {
			// What has begun is not called off, or the last one would be in doubt.
			if err := writer.Prompts().Add(context.WithoutCancel(ctx), "s", fmt.Sprint("prompt ", n)); err != nil {
				ended <- err
				return
			}
			acknowledged.Store(int64(n))
		}
		ended <- nil
	}()
	for i := range 12 {
		had := acknowledged.Load()
		to := filepath.Join(dir, fmt.Sprint("copy", i))
		switch i % 3 {
		case 0:
			ok(t, db.Backup(ctx, to))
		case 1:
			_, _, err := db.Compact(ctx)
			ok(t, err)
			continue
		case 2:
			clock.Add(day)
			done, err := db.Housekeep(ctx)
			ok(t, err)
			if to = done.Backup; to == "" {
				continue // the writer did not let it
			}
		}
		copied := openAt(t, to, clock)
		whole(t, copied)
		if got, err := copied.Prompts().Recent(ctx, "s", 0); err != nil || int64(len(got)) < had {
			t.Fatalf("the copy has %d of %d prompts, %v", len(got), had, err)
		}
	}
	cancel()
	ok(t, <-ended)
	whole(t, db)
	got, err := db.Prompts().Recent(t.Context(), "s", 0)
	ok(t, err)
	for i, n := 0, int(acknowledged.Load()); i < n; i++ {
		if want := fmt.Sprint("prompt ", n-i); got[i] != want {
			t.Fatalf("prompt %q, want %q", got[i], want)
		}
	}
}

// TestWhatWasWrittenBetweenIsNotReplaced writes, and restores, after a copy was
// made and before it would take the place of the database.
func TestWhatWasWrittenBetweenIsNotReplaced(t *testing.T) {
	t.Parallel()
	path := populated(t)
	fresh := filepath.Join(filepath.Dir(path), "fresh")
	db, other := openAt(t, path, harnesstest.NewClock()), openAt(t, path, harnesstest.NewClock())
	ctx := t.Context()
	ok(t, db.Backup(ctx, fresh))
	for what, write := range map[string]func(){
		"commit": func() { ok(t, other.Prompts().Add(ctx, "s", "between")) },
		"own":    func() { ok(t, db.Prompts().Add(ctx, "s", "between")) },
		"restore": func() {
			_, err := bolt.Restore(ctx, path, fresh, bolt.Options{})
			ok(t, err)
		},
	} {
		if err := db.ReplaceAfter(ctx, fresh, write); !errors.Is(err, bolt.ErrWritten) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	ok(t, db.ReplaceAfter(ctx, fresh, func() {}))
	whole(t, db)
}

// TestDamageOffersTheNewestBackup damages a database with and without backups.
func TestDamageOffersTheNewestBackup(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := populated(t)
	db := openAt(t, path, clock)
	damage := func() error { return db.DamageBefore(t.Context()) }
	if text := damage().Error(); !strings.Contains(text, "no backup") || strings.Contains(text, "restore") {
		t.Fatalf("without backups: %q", text)
	}
	var newest string
	for range 3 {
		clock.Add(day)
		var err error
		newest, err = db.BackupDaily(t.Context(), 7*day)
		ok(t, err)
	}
	ok(t, os.WriteFile(newest+".new-7", nil, 0o600))
	if text := damage().Error(); !strings.HasSuffix(text, "cairn db restore "+newest) {
		t.Fatalf("with backups up to %s: %q", newest, text)
	}
	byHand := filepath.Join(filepath.Dir(newest), bolt.FileName+".20260101-000000")
	ok(t, db.Backup(t.Context(), byHand))
	if text := damage().Error(); !strings.HasSuffix(text, "cairn db restore "+byHand) {
		t.Fatalf("with a copy made by hand: %q", text)
	}
}

// childMaintain looks after a database for ever, a day in each round.
func childMaintain(path string) error {
	clock := harnesstest.NewClock()
	db, err := bolt.Open(path, bolt.Options{Purpose: "maintain", Now: clock.Now})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for n := 0; ; n++ {
		id := harness.SessionID(harness.NewID())
		if _, _, err := db.Sessions().Import(ctx, harness.Session{ID: id}, conversation(20)); err != nil {
			return err
		}
		if err := db.Sessions().Delete(ctx, id); err != nil {
			return err
		}
		clock.Add(day)
		to := filepath.Join(filepath.Dir(path), "copies", harness.NewID())
		for what, do := range map[string]func() error{
			"backup":  func() error { return db.Backup(ctx, to) },
			"compact": func() error { _, _, err := db.Compact(ctx); return err },
			"purge":   func() error { _, err := db.Purge(ctx, clock.Now()); return err },
			"house":   func() error { _, err := db.Housekeep(ctx); return err },
			"restore": func() error {
				_, err := bolt.Restore(ctx, path, filepath.Join(filepath.Dir(path), "good"), bolt.Options{Now: clock.Now})
				return err
			},
		} {
			if err := do(); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
}

// killAtName starts a process that looks after a database and kills it when the
// names in its directory have changed so many times, which is where a file is
// made, takes the place of another or goes.
func killAtName(t *testing.T, path string, changes int) {
	t.Helper()
	w, err := fsnotify.NewWatcher()
	ok(t, err)
	defer func() { ok(t, w.Close()) }()
	for _, in := range []string{"", "copies", "backups"} {
		ok(t, w.Add(filepath.Join(filepath.Dir(path), in)))
	}
	c := startChild(t, "maintain", path)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for c.lines.Scan() {
		}
	}()
	for changes > 0 {
		select {
		case e := <-w.Events:
			if e.Has(fsnotify.Create) || e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove) {
				changes--
			}
		case err := <-w.Errors:
			ok(t, err)
		case <-ended:
			t.Fatal("the child ended by itself")
		}
	}
	ok(t, c.cmd.Process.Kill())
	<-ended
	if err := c.cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
}

// TestKilledMaintenanceLosesNothing kills a process in the middle of a backup, a
// restoring, a compaction or a purge, again and again on one file.
func TestKilledMaintenanceLosesNothing(t *testing.T) {
	t.Parallel()
	path := populated(t)
	dir := filepath.Dir(path)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	want, errs := ask(t, db)
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	ok(t, db.Backup(t.Context(), filepath.Join(dir, "good")))
	ok(t, db.Close())
	for _, in := range []string{"copies", "backups"} {
		ok(t, os.Mkdir(filepath.Join(dir, in), 0o700))
	}
	random := rand.New(rand.NewPCG(7, 8))
	for round := range often(t, "KILLS", 8) {
		killAtName(t, path, 1+random.IntN(40))
		db, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		whole(t, db)
		for _, id := range []harness.SessionID{"alpha", "beta", "gamma"} {
			records, err := db.Transcript().Tail(t.Context(), id, 0, 0)
			ok(t, err)
			if got := fmt.Sprint("tail ", id); asJSON(t, records)+"false" != want[got] {
				t.Fatalf("round %d: another %s", round, got)
			}
		}
		ok(t, db.Close())
	}
	for _, in := range []string{"copies", "backups"} {
		for _, name := range names(t, filepath.Join(dir, in)) {
			if strings.Contains(name, ".new-") {
				continue // half made, and not under the name of a copy
			}
			copied := openAt(t, filepath.Join(dir, in, name), harnesstest.NewClock())
			whole(t, copied)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	ok(t, err)
	return string(raw)
}

// TestGoodCopiesOutliveDamagedValues damages a value and lets more days go by than
// copies are kept for.
func TestGoodCopiesOutliveDamagedValues(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := populated(t)
	db := openAt(t, path, clock)
	first, err := db.Housekeep(t.Context())
	ok(t, err)
	if first.Backup == "" {
		t.Fatalf("at first %+v", first)
	}
	db.Rest()
	overwrite(t, path, "A fact from alpha", "A fact from Alpha")
	clock.Add(10 * day)
	found, err := db.Housekeep(t.Context())
	ok(t, err)
	if !found.Checked || found.Problems == 0 || found.Backup != "" {
		t.Fatalf("with damage %+v", found)
	}
	if left := names(t, filepath.Dir(first.Backup)); !slices.Equal(left, []string{filepath.Base(first.Backup)}) {
		t.Fatalf("backups %v", left)
	}
	// Whoever copies without such a check meets it in the copy.
	if made, err := db.BackupDaily(t.Context(), 7*day); !errors.Is(err, harness.ErrDamaged) || made != "" {
		t.Fatalf("copied %q, %v", made, err)
	}
	if left := names(t, filepath.Dir(first.Backup)); !slices.Equal(left, []string{filepath.Base(first.Backup)}) {
		t.Fatalf("backups %v", left)
	}
}

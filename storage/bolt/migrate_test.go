package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// retitle is a step that changes every session.
func retitle(title string) bolt.Step {
	return func(ctx context.Context, d *bolt.DB) error {
		_, err := d.Retag(ctx, title)
		return err
	}
}

// titled fails unless every session has a title.
func titled(t *testing.T, db *bolt.DB, want string) {
	t.Helper()
	all, err := db.Sessions().List(t.Context(), harness.SessionFilter{})
	ok(t, err)
	if len(all) != 43 {
		t.Fatalf("%d sessions", len(all))
	}
	for _, s := range all {
		if s.Title != want {
			t.Fatalf("session %s has the title %q, not %q", s.ID, s.Title, want)
		}
	}
}

func TestOlderFileIsMigratedOnACheckedCopy(t *testing.T) {
	t.Parallel()
	path := populated(t)
	before, err := os.ReadFile(path)
	ok(t, err)
	var notices []bolt.Notice
	o := bolt.Options{Notify: func(n bolt.Notice) { notices = append(notices, n) }}
	db, err := bolt.OpenWith(path, o, retitle("two"), retitle("three"))
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	titled(t, db, "three")
	whole(t, db)
	if schema, err := db.Schema(t.Context()); err != nil || schema != 4 {
		t.Fatalf("schema %d, %v", schema, err)
	}
	m := db.Migrated()
	want := bolt.Counts{Sessions: 44, Messages: 305, Artifacts: 9, Runs: 94, Facts: 4, Notes: 4, Prompts: 4, Grants: 6}
	if m == nil || m.From != 2 || m.To != 4 || m.Counts != want {
		t.Fatalf("migration %+v", m)
	}
	if filepath.Base(m.Kept) != bolt.FileName+".schema-2" {
		t.Fatalf("the old file is kept as %s", m.Kept)
	}
	unchanged(t, m.Kept, before)
	if len(notices) != 1 || notices[0].Kind != bolt.NoticeMigrated || !strings.Contains(notices[0].Text, "44 sessions, 305 messages") || !strings.Contains(notices[0].Text, m.Kept) {
		t.Fatalf("notices %v", notices)
	}
	if left := names(t, filepath.Dir(path)); !slices.Equal(left, []string{"backups", bolt.FileName}) {
		t.Fatalf("left %v", left)
	}

	// The second time there is nothing to do, and this program refuses the file.
	again, err := bolt.MigrateWith(t.Context(), path, o, retitle("two"), retitle("three"))
	ok(t, err)
	if again != (bolt.Migration{From: 4, To: 4, Counts: want}) || len(notices) != 1 {
		t.Fatalf("migration %+v, notices %v", again, notices)
	}
	db.Rest()
	newer, err := os.ReadFile(path)
	ok(t, err)
	for what, use := range map[string]func() error{
		"open":    func() error { _, err := bolt.Open(path, bolt.Options{}); return err },
		"migrate": func() error { _, err := bolt.Migrate(t.Context(), path, bolt.Options{}); return err },
		"inspect": func() error { _, err := bolt.Inspect(t.Context(), path, bolt.Options{}); return err },
	} {
		if err := use(); !errors.Is(err, harness.ErrNewer) || !strings.Contains(err.Error(), "schema 4") || !strings.Contains(err.Error(), "schema 2") ||
			!strings.HasSuffix(err.Error(), "cairn db restore "+m.Kept) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	unchanged(t, path, newer)
	// The old file goes back, and is brought to the new schema once more.
	_, err = bolt.Restore(t.Context(), path, m.Kept, bolt.Options{})
	ok(t, err)
	titled(t, db, "three")
	if db.Migrated().Kept != m.Kept+"-2" {
		t.Fatalf("the old file is kept as %s", db.Migrated().Kept)
	}
}

// TestFirstCairnRefusesWhatItWouldLeaveOut opens a file as one does that knows
// neither pins nor artifacts nor holds, before and after this one had it.
func TestFirstCairnRefusesWhatItWouldLeaveOut(t *testing.T) {
	t.Parallel()
	path := golden(t, "schema-1.db")
	first, err := bolt.OpenAsFirst(path)
	ok(t, err)
	ok(t, first.Close())
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	put(t, db, "beta", []byte("an artifact"))
	db.Rest()
	kept := db.Migrated().Kept
	for what, path := range map[string]string{"migrated": path, "new": populated(t)} {
		before, err := os.ReadFile(path)
		ok(t, err)
		_, err = bolt.OpenAsFirst(path)
		if !errors.Is(err, harness.ErrNewer) || !strings.Contains(err.Error(), "schema 2 (readable from schema 2 on)") || !strings.Contains(err.Error(), "use a newer cairn") ||
			strings.HasSuffix(err.Error(), "cairn db restore "+kept) != (what == "migrated") {
			t.Errorf("%s: error %v", what, err)
		}
		unchanged(t, path, before)
	}
	// What was kept is as the first cairn left it.
	first, err = bolt.OpenAsFirst(kept)
	ok(t, err)
	ok(t, first.Close())
}

func TestNothingToMigrate(t *testing.T) {
	t.Parallel()
	path := populated(t)
	before, err := os.ReadFile(path)
	ok(t, err)
	m, err := bolt.Migrate(t.Context(), path, bolt.Options{})
	ok(t, err)
	if m.From != 2 || m.To != 2 || m.Kept != "" || m.Counts.Sessions != 44 || m.Counts.Messages != 305 {
		t.Fatalf("migration %+v", m)
	}
	unchanged(t, path, before)
	if _, err := bolt.Migrate(t.Context(), filepath.Join(t.TempDir(), "none"), bolt.Options{}); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("error %v", err)
	}
}

// TestFailedMigrationChangesNothing lets steps fail, lose something, leave the
// copy inconsistent, and panic.
func TestFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for what, apply := range map[string]bolt.Step{
		"it cannot": func(context.Context, *bolt.DB) error { return errors.New("it cannot") },
		"44 sessions, 304": func(ctx context.Context, d *bolt.DB) error {
			return d.Vanish(ctx, 2, "sessions", "beta", "conversation")
		},
		"not right": func(ctx context.Context, d *bolt.DB) error { return d.Unlist(ctx, "beta") },
		"assertion": func(ctx context.Context, d *bolt.DB) error { return d.DamageBefore(ctx) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := populated(t) //nolint:contextcheck // opening takes none
			before, err := os.ReadFile(path)
			ok(t, err)
			_, err = bolt.OpenWith(path, bolt.Options{}, apply) //nolint:contextcheck // opening takes none
			if err == nil || !strings.Contains(err.Error(), "migrate from schema 2 to 3, nothing is changed") || !strings.Contains(err.Error(), what) {
				t.Fatalf("error %v", err)
			}
			unchanged(t, path, before)
			if left := names(t, filepath.Dir(path)); !slices.Equal(left, []string{bolt.FileName}) {
				t.Fatalf("left %v", left)
			}
			db := openAt(t, path, harnesstest.NewClock()) //nolint:contextcheck // opening takes none
			if list, err := db.Sessions().List(ctx, harness.SessionFilter{}); err != nil || len(list) != 43 {
				t.Fatalf("%d sessions, %v", len(list), err)
			}
		})
	}
}

// TestDamagedFileIsNotMigrated damages a value of an older file.
func TestDamagedFileIsNotMigrated(t *testing.T) {
	t.Parallel()
	path := populated(t)
	raw, err := os.ReadFile(path)
	ok(t, err)
	raw = []byte(strings.ReplaceAll(string(raw), "A fact from beta", "A fact from Beta"))
	ok(t, os.WriteFile(path, raw, 0o600))
	_, err = bolt.OpenWith(path, bolt.Options{}, retitle("two"))
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "sessions/beta") || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v", err)
	}
	unchanged(t, path, raw)
}

// TestOlderFileIsInspectedAsItIs checks a file without migrating it.
func TestOlderFileIsInspectedAsItIs(t *testing.T) {
	t.Parallel()
	path := populated(t)
	before, err := os.ReadFile(path)
	ok(t, err)
	i, err := bolt.InspectWith(t.Context(), path, bolt.Options{}, retitle("two"))
	ok(t, err)
	if i.Schema != 2 || i.Sessions != 44 || i.Messages != 305 || i.Facts != 4 || i.Bytes > int64(len(before)) || i.Free == 0 {
		t.Fatalf("%+v", i)
	}
	unchanged(t, path, before)
}

// TestOneProcessMigrates opens an older file from many places at once.
func TestOneProcessMigrates(t *testing.T) {
	t.Parallel()
	path := populated(t)
	var applied atomic.Int32
	apply := func(ctx context.Context, d *bolt.DB) error {
		applied.Add(1)
		// Longer than anybody waits for a lock that shows no progress.
		time.Sleep(bolt.LockWait + bolt.LockWait/4)
		_, err := d.Retag(ctx, "two")
		return err
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			db, err := bolt.OpenWith(path, bolt.Options{}, apply)
			if err != nil {
				t.Error(err)
				return
			}
			if list, err := db.Sessions().List(t.Context(), harness.SessionFilter{Limit: 1}); err != nil || list[0].Title != "two" {
				t.Errorf("%+v, %v", list, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := applied.Load(); n != 1 {
		t.Fatalf("migrated %d times", n)
	}
}

// childMigrate opens a database as a program to come would, and says when the
// step begins and ends.
func childMigrate(path string) error {
	db, err := bolt.OpenWith(path, bolt.Options{Purpose: "migrate"}, func(ctx context.Context, d *bolt.DB) error {
		fmt.Println("begun")
		_, err := d.Retag(ctx, "two")
		return err
	})
	if err != nil {
		return err
	}
	fmt.Println("done")
	return db.Close()
}

// TestKilledMigrationLeavesTheOldOrTheNew kills a process at random moments of a
// migration.
func TestKilledMigrationLeavesTheOldOrTheNew(t *testing.T) {
	t.Parallel()
	source := populated(t)
	raw, err := os.ReadFile(source)
	ok(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	var old, migrated int
	for i := range often(t, "KILLS", 8) {
		path := filepath.Join(t.TempDir(), bolt.FileName)
		ok(t, os.WriteFile(path, raw, 0o600))
		c := startChild(t, "migrate", path)
		if c.lines.Scan() {
			time.Sleep(time.Duration(random.IntN(60_000)) * time.Microsecond)
		}
		_ = c.cmd.Process.Kill()
		for c.lines.Scan() {
		}
		_ = c.cmd.Wait()
		if afterKill(t, fmt.Sprint("kill ", i), path, raw) {
			migrated++
		} else {
			old++
		}
	}
	t.Logf("%d times the old file, %d times the new one", old, migrated)
}

// afterKill fails unless the file is the old one or the whole new one, and unless
// the next one to open it has the new one. It reports which it was.
func afterKill(t *testing.T, what, path string, old []byte) (migrated bool) {
	t.Helper()
	now, err := os.ReadFile(path)
	ok(t, err)
	if migrated = string(now) != string(old); migrated {
		unchanged(t, filepath.Join(filepath.Dir(path), "backups", bolt.FileName+".schema-2"), old)
	}
	db, err := bolt.OpenWith(path, bolt.Options{}, retitle("two"))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer func() { ok(t, db.Close()) }()
	if migrated == (db.Migrated() != nil) {
		t.Fatalf("%s: was migrated: %v, and then %+v", what, migrated, db.Migrated())
	}
	titled(t, db, "two")
	whole(t, db)
	if left := names(t, filepath.Dir(path)); !slices.Equal(left, []string{"backups", bolt.FileName}) {
		t.Fatalf("%s: left %v", what, left)
	}
	if left := names(t, filepath.Join(filepath.Dir(path), "backups")); !slices.Equal(left, []string{bolt.FileName + ".schema-2"}) {
		t.Fatalf("%s: backups %v", what, left)
	}
	return migrated
}

// TestKillAtEveryWriteOfAMigration kills a process at each of its system calls
// that change a file, one after the other; usually at some of the many writes of
// pages.
func TestKillAtEveryWriteOfAMigration(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace to place a kill with:", err)
	}
	self, err := os.Executable()
	ok(t, err)
	raw, err := os.ReadFile(populated(t))
	ok(t, err)
	seen := map[bool]int{}
	stride := 7
	if often(t, "KILLS", 0) > 0 {
		stride = 1
	}
	for _, call := range []string{"pwrite64", "ftruncate", "fsync", "fdatasync", "linkat", "link", "rename", "renameat", "unlink", "unlinkat"} {
		// The calls are counted in each thread.
		for n, by := 1, 1; n < 100; n += by {
			if call == "pwrite64" && n >= 3 {
				by = stride
			}
			path := filepath.Join(t.TempDir(), bolt.FileName)
			ok(t, os.WriteFile(path, raw, 0o600))
			cmd := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject="+call+":signal=KILL:when="+strconv.Itoa(n), self)
			cmd.Env = append(os.Environ(), childRole+"=migrate", childPath+"="+path)
			out, err := cmd.CombinedOutput()
			if err == nil {
				break // there are no more
			}
			if len(seen) == 0 && !strings.Contains(err.Error(), "killed") {
				t.Skipf("strace cannot be used here: %v: %s", err, out)
			}
			seen[afterKill(t, fmt.Sprintf("kill at %s %d", call, n), path, raw)]++
		}
	}
	if seen[false] < 10 || seen[true] < 1 {
		t.Fatalf("%d times the old file, %d times the new one: the kills were not where the writes are", seen[false], seen[true])
	}
	t.Logf("%d times the old file, %d times the new one", seen[false], seen[true])
}

// TestWhatAMigrationPutAsideGoesAfterAWhile counts from the migration, as the file
// itself may have been written long before.
func TestWhatAMigrationPutAsideGoesAfterAWhile(t *testing.T) {
	t.Parallel()
	clock, path := harnesstest.NewClock(), golden(t, "schema-1.db")
	ok(t, os.Chtimes(path, clock.Now().Add(-300*day), clock.Now().Add(-300*day)))
	db, err := bolt.OpenWith(path, bolt.Options{Now: clock.Now}, retitle("two"))
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	kept := db.Migrated().Kept
	own := kept + "-of-mine"
	ok(t, os.WriteFile(own, nil, 0o600))
	ok(t, os.Chtimes(own, clock.Now(), clock.Now()))
	for _, step := range []struct {
		after time.Duration
		gone  bool
	}{{0, false}, {89 * day, false}, {2 * day, true}} {
		clock.Add(step.after)
		_, err := db.Housekeep(t.Context())
		ok(t, err)
		if _, err := os.Lstat(kept); os.IsNotExist(err) != step.gone {
			t.Fatalf("%v later: %v", step.after, err)
		}
	}
	if _, err := os.Lstat(own); err != nil {
		t.Fatal(err)
	}
}

package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/storage/bolt"
)

// upkept is the wire of a script with a real store that can be looked after.
func upkept(w *scriptWorld) Wire {
	wire := onDisk(w)
	file := func(dir string) string { return filepath.Join(dir, bolt.FileName) }
	options := func(o StoreOptions) bolt.Options {
		return bolt.Options{Now: o.Now, Logger: o.Log, Purpose: o.Purpose, Terminal: o.Terminal}
	}
	wire.StorePath = file
	wire.BackupStore = func(ctx context.Context, dir, to string, o StoreOptions) error {
		db, err := bolt.Open(file(dir), options(o)) //nolint:contextcheck // opening takes none
		if err != nil {
			return err
		}
		defer db.Close() //nolint:errcheck // it was only read
		return db.Backup(ctx, to)
	}
	wire.RestoreStore = func(ctx context.Context, dir, from string, o StoreOptions) (string, error) {
		return bolt.Restore(ctx, file(dir), from, options(o))
	}
	wire.CompactStore = func(ctx context.Context, dir string, o StoreOptions) (int64, int64, error) {
		db, err := bolt.Open(file(dir), options(o)) //nolint:contextcheck // opening takes none
		if err != nil {
			return 0, 0, err
		}
		defer db.Close() //nolint:errcheck // the compaction is on disk
		return db.Compact(ctx)
	}
	wire.EmptyTrash = func(ctx context.Context, dir string, o StoreOptions, agree func(StoreTrash) error) (StoreTrash, error) {
		db, err := bolt.Open(file(dir), options(o)) //nolint:contextcheck // opening takes none
		if err != nil {
			return StoreTrash{}, err
		}
		defer db.Close() //nolint:errcheck // what was removed is on disk
		was, err := db.Trash(ctx)
		if err == nil {
			err = agree(StoreTrash{Sessions: was.Sessions, Facts: was.Facts, Notes: was.Notes})
		}
		if err != nil {
			return StoreTrash{}, err
		}
		p, err := db.EmptyTrash(ctx)
		return StoreTrash{Sessions: p.Sessions, Facts: p.Facts, Notes: p.Notes, Left: was.Sessions - p.Sessions}, err
	}
	wire.CheckStore = func(ctx context.Context, dir string) (StoreReport, error) {
		i, err := bolt.Inspect(ctx, file(dir), bolt.Options{})
		return StoreReport(i), err
	}
	wire.MigrateStore = func(ctx context.Context, dir string, o StoreOptions) (StoreMigration, error) {
		m, err := bolt.Migrate(ctx, file(dir), options(o))
		return StoreMigration{From: m.From, To: m.To, Counts: m.Counts, Kept: m.Kept}, err
	}
	wire.RebuildStore = func(ctx context.Context, dir string, o StoreOptions) (StoreRebuilt, error) {
		r, err := bolt.RebuildLists(ctx, file(dir), options(o))
		out := StoreRebuilt{Missing: r.Missing, Counts: r.Counts, Kept: r.Kept}
		for _, l := range r.Lists {
			out.Lists = append(out.Lists, StoreList(l))
		}
		return out, err
	}
	return wire
}

// keeper runs commands on one directory with a real store.
type keeper struct {
	t   *testing.T
	dir string
	// terminal says that a person could answer.
	terminal bool
}

// run runs a command with an input and returns its outputs. It must end with
// the exit code.
func (k keeper) run(code int, input string, args ...string) (out, errs string) {
	k.t.Helper()
	w, s, o, e := world1(k.t)
	s.In = strings.NewReader(input)
	s.InTTY, s.ErrTTY = s.InTTY || k.terminal, s.ErrTTY || k.terminal
	if got := Main(context.Background(), s, append([]string{"--dir", k.dir}, args...), upkept(w)); got != code {
		k.t.Fatalf("%v: exit code %d, not %d: %s%s", args, got, code, o, e)
	}
	return o.String(), e.String()
}

// A copy goes back in the place of a damaged store, which is kept.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	k := keeper{t: t, dir: t.TempDir()}
	path := filepath.Join(k.dir, bolt.FileName)
	k.run(ExitNotFound, "", "db", "backup")
	k.run(ExitNotFound, "", "db", "compact")
	if _, err := os.Stat(path); err == nil {
		t.Fatal("looking after a store made one")
	}
	k.run(ExitDone, "", "-p", "-s", "one", "text x")
	out, errs := k.run(ExitDone, "", "db", "backup")
	if !strings.Contains(out, filepath.Join(k.dir, "backups", bolt.FileName+".2026")) || !strings.Contains(errs, "copying") {
		t.Errorf("%s%s", out, errs)
	}
	mine := filepath.Join(t.TempDir(), "mine.db")
	k.run(ExitDone, "", "db", "backup", mine)
	if _, errs := k.run(ExitUsage, "", "db", "backup", mine); !strings.Contains(errs, "not written over") {
		t.Errorf("%s", errs)
	}
	write(t, path, "damaged", 0o600)
	list, _ := k.run(ExitDone, "", "db", "restore", "--json")
	if !strings.Contains(list, filepath.Join("backups", bolt.FileName+".2026")) {
		t.Errorf("%s", list)
	}
	// Asked, nobody names one, or one that is not there.
	if _, errs := k.run(ExitUsage, "\n", "db", "restore"); !strings.Contains(errs, bolt.FileName+".2026") || !strings.Contains(errs, "nothing is changed") {
		t.Errorf("%s", errs)
	}
	k.run(ExitNotFound, "nosuch\n", "db", "restore")
	if now, err := os.ReadFile(path); err != nil || string(now) != "damaged" {
		t.Fatalf("%q, %v", now, err)
	}
	backups, err := filepath.Glob(filepath.Join(k.dir, "backups", "*"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("%v, %v", backups, err)
	}
	out, _ = k.run(ExitDone, filepath.Base(backups[0])+"\n", "db", "restore")
	if !strings.Contains(out, "the old file is kept as "+path+".before-") {
		t.Errorf("%s", out)
	}
	if out, _ := k.run(ExitDone, "", "sessions", "list"); !strings.Contains(out, "one") {
		t.Errorf("%s", out)
	}
	k.run(ExitDone, "", "db", "restore", mine)
	write(t, mine, "damaged", 0o600)
	k.run(ExitFailed, "", "db", "restore", mine)
	if out, _ := k.run(ExitDone, "", "db", "compact"); !strings.Contains(out, "bytes now") {
		t.Errorf("%s", out)
	}
}

// The schema is current, and the lists are right until one is damaged.
// TestAdviceIsAboutTheCopy restores what is none: the store is as it was, and what
// helps with a damaged one is not said.
func TestAdviceIsAboutTheCopy(t *testing.T) {
	t.Parallel()
	k := keeper{t: t, dir: t.TempDir()}
	k.run(ExitDone, "", "-p", "-s", "one", "text x")
	k.run(ExitUsage, "", "db", "backup", "")
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs := k.run(ExitFailed, "", "db", "restore", empty)
	if !strings.Contains(errs, "use another copy") || strings.Contains(errs, "--dir") || strings.Contains(errs, "db check") {
		t.Error(errs)
	}
	k.run(ExitDone, "", "db", "check")
}

func TestMigrateAndRebuild(t *testing.T) {
	t.Parallel()
	k := keeper{t: t, dir: t.TempDir()}
	path := filepath.Join(k.dir, bolt.FileName)
	for _, args := range [][]string{{"migrate"}, {"check", "--rebuild-indexes"}, {"check"}} {
		if _, errs := k.run(ExitNotFound, "", append([]string{"db"}, args...)...); !strings.Contains(errs, "there is no database in "+k.dir) {
			t.Errorf("%v: %s", args, errs)
		}
	}
	k.run(ExitDone, "", "-p", "-s", "one", "text x")
	if out, _ := k.run(ExitDone, "", "db", "migrate"); !strings.Contains(out, "schema 2 of "+path+" is current, nothing to do: 1 session, 2 messages") {
		t.Errorf("%s", out)
	}
	if out, _ := k.run(ExitDone, "", "db", "migrate", "--json"); !strings.Contains(out, `"from": 2`) || !strings.Contains(out, `"sessions": 1`) {
		t.Errorf("%s", out)
	}
	if out, _ := k.run(ExitDone, "", "db", "check", "--rebuild-indexes"); !strings.Contains(out, "all lists of "+path+" are what its records say: 1 session, 2 messages") {
		t.Errorf("%s", out)
	}
	out, _ := k.run(ExitDone, "", "db", "check", "--rebuild-indexes", "--json")
	if !strings.Contains(out, `"lists": []`) || !strings.Contains(out, `"missing": []`) {
		t.Errorf("%s", out)
	}
	if out, _ := k.run(ExitDone, "", "db", "check", "--json"); !strings.Contains(out, `"messages": 2`) || !strings.Contains(out, `"wasteful": false`) {
		t.Errorf("%s", out)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The list of sessions loses its name, the copy of it in a free page too.
	write(t, path, strings.ReplaceAll(string(raw), "s/one", "s/oma"), 0o600)
	if _, errs := k.run(ExitFailed, "", "db", "check"); !strings.Contains(errs, "damaged") || !strings.Contains(errs, "cairn db check --rebuild-indexes") {
		t.Errorf("%s", errs)
	}
	out, _ = k.run(ExitDone, "", "db", "check", "--rebuild-indexes")
	if !strings.Contains(out, "where: 1 added, 1 removed, 0 changed") || !strings.Contains(out, "kept as "+path+".before-") || !strings.Contains(out, "named before and not there: session oma") {
		t.Errorf("%s", out)
	}
	if out, _ := k.run(ExitDone, "", "sessions", "list"); !strings.Contains(out, "one") {
		t.Errorf("%s", out)
	}
	k.run(ExitDone, "", "db", "check")
	// Damaged records are no backup, and refused.
	write(t, path, strings.ReplaceAll(string(raw), "text x", "text y"), 0o600)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if out, errs := k.run(ExitFailed, "", "db", "backup", copied); out != "" || !strings.Contains(errs, "no copy was made: "+path+": damaged in 2 places: sessions/one/conversation/1: checksum; sessions/one/info: checksum; ") {
		t.Errorf("%s%s", out, errs)
	}
	if _, err := os.Lstat(copied); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	if _, errs := k.run(ExitFailed, "", "db", "check", "--rebuild-indexes"); !strings.Contains(errs, "sessions/one") || !strings.Contains(errs, "damaged") {
		t.Errorf("%s", errs)
	}
}

// What was deleted goes for good if that is agreed to.
func TestCompactEmptiesTheTrash(t *testing.T) {
	t.Parallel()
	k := keeper{t: t, dir: t.TempDir()}
	path := filepath.Join(k.dir, bolt.FileName)
	for _, name := range []string{"one", "two"} {
		k.run(ExitDone, "", "-p", "-s", name, "text of "+name)
	}
	k.run(ExitDone, "", "sessions", "rm", "two")
	if _, errs := k.run(ExitUsage, "y\n", "db", "compact", "--trash"); !strings.Contains(errs, "give --yes") {
		t.Errorf("%s", errs)
	}
	k.run(ExitUsage, "", "db", "compact", "--yes")
	k.terminal = true
	if _, errs := k.run(ExitUsage, "n\n", "db", "compact", "--trash"); !strings.Contains(errs, "remove 1 session, 0 facts, 0 notes for good? [y/N]") || !strings.Contains(errs, "nothing is changed") {
		t.Errorf("%s", errs)
	}
	k.run(ExitDone, "", "sessions", "restore", "two")
	k.run(ExitDone, "", "sessions", "rm", "two")
	k.run(ExitDone, "", "db", "backup")
	out, _ := k.run(ExitDone, "y\n", "db", "compact", "--trash")
	if !strings.Contains(out, "removed for good: 1 session, 0 facts, 0 notes") || !strings.Contains(out, "bytes now") || !strings.Contains(out, "a copy of the file made before may still hold it: "+filepath.Join(k.dir, "backups")) {
		t.Errorf("%s", out)
	}
	k.terminal = false
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "text of two") || !strings.Contains(string(raw), "text of one") {
		t.Errorf("the file holds what was removed, or lacks what was not: %v", err)
	}
	k.run(ExitNotFound, "", "sessions", "restore", "two")
	if out, _ := k.run(ExitDone, "", "db", "compact", "--trash", "--yes", "--json"); !strings.Contains(out, `"sessions": 0`) || !strings.Contains(out, `"copies": [`) {
		t.Errorf("%s", out)
	}
	if out, _ := k.run(ExitDone, "", "db", "compact", "--json"); strings.Contains(out, "removed") {
		t.Errorf("%s", out)
	}
}

// A program that cannot do it has no such commands.
func TestUpkeepIsNamedOnlyIfItIsThere(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	if code := Main(context.Background(), s, []string{"db", "compact"}, w.wire()); code != ExitUsage || !strings.Contains(errs.String(), `cairn db has no command "compact"`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

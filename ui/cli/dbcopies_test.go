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
	return wire
}

// keeper runs commands on one directory with a real store.
type keeper struct {
	t   *testing.T
	dir string
}

// run runs a command with an input and returns its outputs. It must end with
// the exit code.
func (k keeper) run(code int, input string, args ...string) (out, errs string) {
	k.t.Helper()
	w, s, o, e := world1(k.t)
	s.In = strings.NewReader(input)
	if got := Main(context.Background(), s, append([]string{"--dir", k.dir}, args...), upkept(w)); got != code {
		k.t.Fatalf("%v: exit code %d, not %d: %s%s", args, got, code, o, e)
	}
	return o.String(), e.String()
}

// A copy goes back in the place of a damaged store, which is kept.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	k := keeper{t, t.TempDir()}
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

// A program that cannot do it has no such commands.
func TestUpkeepIsNamedOnlyIfItIsThere(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	if code := Main(context.Background(), s, []string{"db", "compact"}, w.wire()); code != ExitUsage || !strings.Contains(errs.String(), `cairn db has no command "compact"`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

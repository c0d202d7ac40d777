package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/storage/bolt"
)

// onDisk is the wire of a script with a real store.
func onDisk(w *scriptWorld) Wire {
	wire := w.wire()
	wire.StorePath = func(dir string) string { return filepath.Join(dir, bolt.FileName) }
	wire.StoreExists = nil
	wire.OpenStore = func(_ context.Context, dir string, o StoreOptions) (Store, error) {
		if o.Ephemeral && o.NoMemory {
			st := w.open()
			st.Facts, st.Notes = nil, nil
			return st, nil
		}
		db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{ //nolint:contextcheck // opening takes none
			Now: o.Now, Logger: o.Log, Purpose: o.Purpose, Terminal: o.Terminal,
		})
		if err != nil {
			return Store{}, err
		}
		return Store{
			Sessions: db.Sessions(), Transcript: db.Transcript(), Artifacts: db.Artifacts(), Limits: db.Limits(), Owners: db.Owners(), Runs: db.Journal(), Close: db.Close,
		}, nil
	}
	return wire
}

// A file that is no store of ours ends every command with one line that names
// it, and stays as it is.
func TestStoresThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	good := sample(t)
	for name, data := range map[string][]byte{
		"empty":           {},
		"one byte":        good[:1],
		"one page":        good[:4096],
		"cut":             good[:10_000],
		"half":            good[:len(good)/2],
		"first page gone": append(make([]byte, 4096), good[4096:]...),
		"both metas gone": append(make([]byte, 8192), good[8192:]...),
		"text":            []byte(strings.Repeat("This is a letter.\n", 1000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unusable(t, data)
		})
	}
}

// unusable runs commands on a store of these bytes.
func unusable(t *testing.T, data []byte) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, bolt.FileName)
	write(t, path, string(data), 0o600)
	for _, args := range [][]string{
		{"sessions", "list"}, {"sessions", "show", "one"}, {"-p", "-s", "one", "text x"}, {"runs", "list"},
	} {
		w, s, _, errs := world1(t)
		code := Main(context.Background(), s, append([]string{"--dir", dir}, args...), onDisk(w))
		if code == ExitDone {
			t.Errorf("%v works on it: %s", args, errs)
		}
		if code != ExitFailed || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), path) {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
			t.Errorf("%v changed the file (%v)", args, err)
		}
	}
}

// sample is a store with one conversation.
func sample(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	w, s, _, errs := world1(t)
	if code := Main(context.Background(), s, []string{"--dir", dir, "-p", "-s", "one", "text x"}, onDisk(w)); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	data, err := os.ReadFile(filepath.Join(dir, bolt.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A place that cannot hold a store is told in one line with the way out.
func TestPlacesThatCannotHoldAStore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x", 0o600)
	w, s, _, errs := world1(t)
	code := Main(context.Background(), s, []string{"--dir", file, "sessions", "list"}, onDisk(w))
	if code != ExitFailed || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), file) || !strings.Contains(errs.String(), "--dir") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// The advice against a place that holds no store works.
func TestAdviceForAPlaceWithoutAStoreWorks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x", 0o600)
	for _, c := range []struct {
		flags []string
		want  string
		code  int
	}{
		{nil, "to chat without any store: --ephemeral --no-memory", ExitFailed},
		{[]string{"--ephemeral"}, "add --no-memory", ExitFailed},
		{[]string{"--ephemeral", "--no-memory"}, "", ExitDone},
	} {
		w, s, _, errs := world1(t)
		wire := onDisk(w)
		args := append([]string{"--dir", file, "-p"}, c.flags...)
		code := Main(context.Background(), s, append(args, "text x"), wire)
		if code != c.code || !strings.Contains(errs.String(), c.want) || c.want == "" && errs.Len() > 0 {
			t.Errorf("%v: exit code %d: %s", c.flags, code, errs)
		}
	}
}

// Commands that read find nothing where there is no store, and make none.
func TestReadingMakesNoStore(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{
		"sessions list": ExitDone, "sessions list --json": ExitDone, "search x": ExitDone, "facts list": ExitDone,
		"notes list": ExitDone, "memory list": ExitDone, "memory list --json": ExitDone, "memory search x": ExitDone,
		"memory export - f1":       ExitNotFound,
		"memory inbox list --json": ExitDone, "memory inbox accept --all -q": ExitDone, "memory inbox accept i1": ExitNotFound, "memory inbox reopen i1": ExitNotFound,
		"memory forget n1": ExitNotFound, "runs list": ExitDone, "sessions show x": ExitNotFound, "sessions rm x": ExitNotFound,
		"facts show f1": ExitNotFound, "notes edit n1 --pin": ExitNotFound, "runs resume x": ExitNotFound,
		"runs approve x --yes": ExitNotFound, "runs show x": ExitNotFound, "permissions revoke g1": ExitNotFound,
	} {
		dir := filepath.Join(t.TempDir(), "data")
		w, s, out, errs := world1(t)
		code := Main(context.Background(), s, append([]string{"--dir", dir}, strings.Fields(args)...), onDisk(w))
		if code != want || code == ExitDone && strings.TrimSpace(out.String()) != strings.TrimSuffix(strings.Repeat("[]", strings.Count(args, "--json")), "\n") {
			t.Errorf("%s: exit code %d: %s%s", args, code, out, errs)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s made %s (%v)", args, dir, err)
		}
	}
}

// Two programs on one store see each other's work, and a session that one of
// them has is not given to the other.
func TestStoreIsShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, s, _, errs := world1(t)
	inner := &signalled{when: func() {
		w2, s2, out2, errs2 := world1(t)
		code := Main(context.Background(), s2, []string{"--dir", dir, "-p", "-s", "one", "text x"}, onDisk(w2))
		if code != ExitBusy || !strings.Contains(errs2.String(), "(print)") {
			t.Errorf("exit code %d: %s", code, errs2)
		}
		if code := Main(context.Background(), s2, []string{"--dir", dir, "sessions", "list"}, onDisk(w2)); code != ExitDone || !strings.Contains(out2.String(), "one") {
			t.Errorf("exit code %d: %s%s", code, out2, errs2)
		}
	}}
	s.Out = inner
	if code := Main(context.Background(), s, []string{"--dir", dir, "-p", "-s", "one", "text x"}, onDisk(w)); code != ExitDone {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

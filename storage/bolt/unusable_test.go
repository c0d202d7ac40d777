package bolt_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// TestUnusableFileIsNamedAndLeftAlone opens files that are no whole database.
func TestUnusableFileIsNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(populated(t))
	ok(t, err)
	page := os.Getpagesize()
	noise := func(n int) []byte {
		b := make([]byte, n)
		random := rand.New(rand.NewPCG(3, 4))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	over := func(at int, with []byte) []byte {
		b := bytes.Clone(whole)
		copy(b[at:], with)
		return b
	}
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"empty":             {nil, harness.ErrDamaged},
		"1 byte":            {whole[:1], harness.ErrDamaged},
		"4096 bytes":        {whole[:4096], harness.ErrDamaged},
		"8192 bytes":        {whole[:8192], harness.ErrDamaged},
		"10000 bytes":       {whole[:10000], harness.ErrDamaged},
		"20000 bytes":       {whole[:20000], harness.ErrDamaged},
		"half":              {whole[:len(whole)/2], harness.ErrDamaged},
		"zero page 0":       {over(0, make([]byte, page)), harness.ErrDamaged},
		"zero page 1":       {over(page, make([]byte, page)), harness.ErrDamaged},
		"zero pages 0, 1":   {over(0, make([]byte, 2*page)), harness.ErrDamaged},
		"zero page 2":       {over(2*page, make([]byte, page)), nil},
		"noise page 0":      {over(0, noise(page)), harness.ErrDamaged},
		"noise page 1":      {over(page, noise(page)), harness.ErrDamaged},
		"noise page 2":      {over(2*page, noise(page)), nil},
		"noise page random": {over(page*(3+rand.IntN(len(whole)/page-3)), noise(page)), nil},
		"all zero":          {make([]byte, len(whole)), harness.ErrDamaged},
		"all noise":         {noise(len(whole)), harness.ErrForeign},
		"a short text":      {[]byte("my notes\n"), harness.ErrForeign},
		"a long text":       {bytes.Repeat([]byte("my notes\n"), 9999), harness.ErrForeign},
		"another program's": {foreignBolt(t), harness.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), bolt.FileName)
			ok(t, os.WriteFile(path, c.content, 0o600))
			db, err := bolt.Open(path, bolt.Options{})
			if c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err == nil {
				// The page was not in use.
				_, errs := ask(t, db)
				for _, err := range errs {
					if !errors.Is(err, harness.ErrDamaged) {
						t.Fatal(err)
					}
				}
				ok(t, db.Close())
			} else if text := err.Error(); !strings.Contains(text, path) || strings.Contains(text, "goroutine") || strings.Contains(text, "\n") {
				t.Fatalf("error %q", text)
			}
			unchanged(t, path, c.content)
			ok(t, os.Rename(path, path+".aside"))
			db, err = bolt.Open(path, bolt.Options{})
			ok(t, err)
			ok(t, db.Close())
		})
	}
}

func unchanged(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	ok(t, err)
	if sha256.Sum256(got) != sha256.Sum256(want) {
		t.Fatalf("%s was changed", path)
	}
}

func foreignBolt(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(path, 0o600, nil)
	ok(t, err)
	ok(t, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("theirs"))
		if err != nil {
			return err
		}
		return b.Put([]byte("k"), []byte("v"))
	}))
	ok(t, db.Close())
	raw, err := os.ReadFile(path)
	ok(t, err)
	return raw
}

func TestPathThatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	ok(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
	for _, path := range []string{"dir", "file/cairn.db"} {
		_, err := bolt.Open(filepath.Join(dir, path), bolt.Options{})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--dir") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// TestOtherKindsOfFileAreNamed opens what is no regular file.
func TestOtherKindsOfFileAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for kind, create := range map[string]func(string) error{
		"a named pipe": makePipe,
		"a socket": func(path string) error {
			_, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
			return err
		},
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(dir, kind)
		if err := create(path); err != nil {
			t.Logf("no %s here: %v", kind, err)
			continue
		}
		_, err := bolt.Open(path, bolt.Options{})
		if !errors.Is(err, harness.ErrForeign) || !strings.Contains(err.Error(), "but "+kind+";") {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}

// TestPathIsNamedOnce lets the system refuse to write, to open and to lock.
func TestPathIsNamedOnce(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	errs := map[string]error{
		"write": db.FailToWrite(t.Context(), &fs.PathError{Op: "write", Path: db.Path(), Err: syscall.EFBIG}),
		"full":  db.FailToWrite(t.Context(), &fs.PathError{Op: "write", Path: db.Path(), Err: syscall.ENOSPC}),
		"other": db.FailToWrite(t.Context(), errors.New("something else")),
	}
	db.Rest()
	lock := path + ".lock"
	ok(t, os.Remove(lock))
	ok(t, os.Mkdir(lock, 0o700))
	errs["lock"] = db.Prompts().Add(t.Context(), "a", "x")
	ok(t, os.Remove(lock))
	ok(t, os.Rename(path, path+".aside"))
	errs["open"] = db.Prompts().Add(t.Context(), "a", "x")
	for what, err := range errs {
		if err == nil || strings.Count(err.Error(), filepath.Base(path)) != 1 {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// TestDirectoryThatCannotBeWritten uses a place where nobody, not even root,
// can make a file.
func TestDirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("no /proc here:", err)
	}
	_, err := bolt.Open("/proc/cairn-test/"+bolt.FileName, bolt.Options{})
	if err == nil || !strings.Contains(err.Error(), "/proc/cairn-test") {
		t.Fatalf("error %v", err)
	}
}

// TestNewerFileIsRefusedEverywhere sets the schema of a file ahead, both before
// it is opened and while it is in use.
func TestNewerFileIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	lease, err := db.Owners().Acquire(t.Context(), harness.Session{ID: "alpha"}, harness.Holder{})
	ok(t, err)
	ok(t, db.SetSchema(t.Context(), 3))
	db.Rest()
	newer, err := os.ReadFile(path)
	ok(t, err)

	_, err = bolt.Open(path, bolt.Options{})
	if !errors.Is(err, harness.ErrNewer) || !strings.Contains(err.Error(), "schema 3") || !strings.Contains(err.Error(), "schema 2") {
		t.Fatalf("error %v", err)
	}
	_, errs := ask(t, db)
	ctx, m, title := t.Context(), harness.UserText("x"), "x"
	_, errs["append"] = db.Transcript().Append(ctx, lease, harness.Record{Message: &m})
	_, errs["edit"] = db.Sessions().Edit(ctx, "alpha", harness.SessionEdit{Title: &title})
	errs["delete"] = db.Sessions().Delete(ctx, "alpha")
	_, _, errs["import"] = db.Sessions().Import(ctx, harness.Session{ID: "x"}, nil)
	errs["draft"] = db.Drafts().Save(ctx, "alpha", harness.Holder{}, harness.Draft{Text: "x"})
	errs["prompt"] = db.Prompts().Add(ctx, "alpha", "x")
	_, _, errs["fact"] = db.Facts().Save(ctx, harness.Fact{Text: "x"}, "")
	_, errs["prune"] = db.Journal().Prune(ctx, lease.Holder.Since)
	_, errs["check"] = db.Check(ctx)
	_, errs["stats"] = db.Stats(ctx)
	for what, err := range errs {
		if !errors.Is(err, harness.ErrNewer) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if len(errs) < 30 {
		t.Fatalf("only %d questions were refused", len(errs))
	}
	unchanged(t, path, newer)
}

// TestFilesAreForTheirOwnerAlone looks at every file that is made, also where
// the user asked for open ones, and at one that was open before.
func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	old := setUmask(0)
	defer setUmask(old)
	path := filepath.Join(t.TempDir(), "data", bolt.FileName)
	use := func() {
		db, err := bolt.Open(path, bolt.Options{})
		ok(t, err)
		_, err = db.Owners().Acquire(t.Context(), harness.Session{ID: "a"}, harness.Holder{})
		ok(t, err)
		ok(t, db.Prompts().Add(t.Context(), "a", "x"))
		ok(t, filepath.WalkDir(filepath.Dir(path), func(p string, e fs.DirEntry, err error) error {
			ok(t, err)
			info, err := e.Info()
			ok(t, err)
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", p, info.Mode())
			}
			return nil
		}))
		ok(t, db.Close())
	}
	use()
	ok(t, os.Chmod(path, 0o644))
	ok(t, os.Chmod(filepath.Dir(path), 0o755))
	use()
}

// TestOneFileHasOneLock opens a file by two names.
func TestOneFileHasOneLock(t *testing.T) {
	t.Parallel()
	path := populated(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	other, err := bolt.Open(link, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, other.Close()) }()
	if other.Path() != db.Path() {
		t.Fatalf("paths %s and %s", other.Path(), db.Path())
	}
	_, err = db.Owners().Acquire(t.Context(), harness.Session{ID: "alpha"}, harness.Holder{PID: 5})
	ok(t, err)
	_, err = other.Owners().Acquire(t.Context(), harness.Session{ID: "alpha"}, harness.Holder{})
	if h, held := harness.AsHeld(err); !held || h.PID != 5 {
		t.Fatalf("error %v", err)
	}
}

// TestRemovedFileIsNotMadeAnew takes the file away from a process.
func TestRemovedFileIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	db.Rest()
	ok(t, os.Remove(path))
	if err := db.Prompts().Add(t.Context(), "a", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the file is there again (%v)", err)
	}
}

// TestSharedDirectoryIsNotTakenFromOthers opens a database among other files.
func TestSharedDirectoryIsNotTakenFromOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	ok(t, os.Mkdir(dir, 0o755))
	ok(t, os.Chmod(dir, 0o755))
	ok(t, os.WriteFile(filepath.Join(dir, "report.txt"), nil, 0o644))
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{})
	ok(t, err)
	ok(t, db.Close())
	info, err := os.Stat(dir)
	ok(t, err)
	if info.Mode().Perm() != 0o755 {
		t.Fatalf("the directory has mode %v now", info.Mode())
	}
}

// TestCheckNamesDamage lets the check find single damaged values.
func TestCheckNamesDamage(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	report, err := db.Check(t.Context())
	ok(t, err)
	if len(report.Problems) != 0 || report.Sessions != 44 || report.Values < 500 {
		t.Fatalf("report on a whole file %+v", report)
	}
	db.Rest()
	raw, err := os.ReadFile(path)
	ok(t, err)
	at := bytes.Index(raw, []byte("question 7"))
	if at < 0 {
		t.Fatal("no such text in the file")
	}
	// Every copy: the file keeps old pages.
	ok(t, os.WriteFile(path, bytes.ReplaceAll(raw, []byte("question 7"), []byte("question 8")), 0o600))
	report, err = db.Check(t.Context())
	ok(t, err)
	found := fmt.Sprint(report.Problems)
	if len(report.Problems) == 0 || !strings.Contains(found, "sessions/beta/conversation/") || !strings.Contains(found, "checksum") {
		t.Fatalf("report %+v", report)
	}
}

// TestDirectoryNameIsNoPattern makes databases in directories whose names would
// mean something in a pattern, beside a directory that the pattern would match.
func TestDirectoryNameIsNoPattern(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"[draft] notes", "d*", "d?", "[", `back\\slash`, "[a-z]*"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			other := filepath.Join(parent, "dd", bolt.FileName+".new-1")
			ok(t, os.Mkdir(filepath.Dir(other), 0o700))
			ok(t, os.WriteFile(other, nil, 0o600))
			dir := filepath.Join(parent, name)
			left := filepath.Join(dir, bolt.FileName+".new-1")
			ok(t, os.Mkdir(dir, 0o700))
			ok(t, os.WriteFile(left, nil, 0o600))
			db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{})
			ok(t, err)
			whole(t, db)
			_, err = db.BackupDaily(t.Context(), time.Hour)
			ok(t, err)
			ok(t, db.Close())
			if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what a killed process left is still there (%v)", err)
			}
			unchanged(t, other, nil)
		})
	}
}

// TestASessionWithDamagedRunsIsNotTaken damages the page that a next run would be
// filed in, which the look at a file that is opened again leaves out.
func TestASessionWithDamagedRunsIsNotTaken(t *testing.T) {
	t.Parallel()
	path := populated(t)
	db := openAt(t, path, harnesstest.NewClock())
	page, size, err := db.RunsPage(t.Context(), "alpha")
	ok(t, err)
	if page == 0 {
		t.Fatal("the runs have no page of their own")
	}
	db.Rest()
	raw, err := os.ReadFile(path)
	ok(t, err)
	copy(raw[page*size:], bytes.Repeat([]byte{0xff}, size))
	ok(t, os.WriteFile(path, raw, 0o600))
	_, err = db.Owners().Acquire(t.Context(), harness.Session{ID: "alpha"}, harness.Holder{})
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "sessions/alpha/runs") {
		t.Fatalf("error %v", err)
	}
	db.Rest()
	unchanged(t, path, raw)
	_, err = db.Owners().Acquire(t.Context(), harness.Session{ID: "beta"}, harness.Holder{})
	ok(t, err)
}

package foreign_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/snapshot"
	talks "cairn/harness/snapshot/foreign"
	"cairn/storage/sqlite/foreign"
)

// database makes a database by statements.
func database(tb testing.TB, path string, statements ...string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// made makes a database and closes it.
func made(tb testing.TB, name string, statements ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := database(tb, path, statements...).Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// each reads all conversations, and fails unless each can be saved and gone on with.
func each(t *testing.T, path string) (all []talks.Session, err error) {
	t.Helper()
	d, err := foreign.Open(t.Context(), path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = d.Each(t.Context(), func(s talks.Session) error {
		if _, err := snapshot.Encode(s.Document); err != nil {
			t.Errorf("%s cannot be saved: %v", s.Name, err)
		}
		var branch []harness.Message
		for _, r := range s.Branch() {
			branch = append(branch, *r.Message)
		}
		if err := memory.Legal(memory.Repair(append(branch, harness.UserText("go on")))); err != nil {
			t.Errorf("%s is refused: %v", s.Name, err)
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// hex is a picture as a literal of SQL.
func hex(tb testing.TB) string {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("x'%x'", b.Bytes())
}

// files are the bytes of all files in a directory, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

func TestADatabaseInUseIsReadAndNotTouched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.db")
	db := database(t, path, append([]string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0"}, llmOld...)...)
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	before := files(t, dir)
	if before["logs.db-wal"] == "" {
		t.Fatal("all of it is in the file already")
	}
	all, err := each(t, path)
	if err != nil || len(all) != 2 {
		t.Errorf("%d conversations: %v", len(all), err)
	}
	after := files(t, dir)
	if len(after) != len(before) {
		t.Errorf("there were %d files, now %d", len(before), len(after))
	}
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s changed", name)
		}
	}
}

func TestADatabaseThatNobodyMayWriteIsRead(t *testing.T) {
	t.Parallel()
	path := made(t, "logs.db", append([]string{"PRAGMA journal_mode = WAL"}, llmOld...)...)
	dir := filepath.Dir(path)
	for name, mode := range map[string]os.FileMode{path: 0o400, dir: 0o500} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if all, err := each(t, path); err != nil || len(all) != 2 {
		t.Errorf("%d conversations: %v", len(all), err)
	}
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("%d files", len(left))
	}
}

func TestTheCopyGoesWithTheReader(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	path := made(t, "logs.db", llmOld...)
	if _, err := each(t, path); err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.Open(t.Context(), made(t, "x.db", "CREATE TABLE t (a)")); !errors.Is(err, talks.ErrUnknown) {
		t.Errorf("the error is %v", err)
	}
	left, err := filepath.Glob(filepath.Join(temp, "cairn-import-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestWhatIsNoWholeDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(made(t, "logs.db", llmOld...))
	if err != nil {
		t.Fatal(err)
	}
	file := func(data []byte) string {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken := bytes.Clone(whole)
	for i := 4096; i < len(broken); i++ {
		broken[i] ^= 0x5a
	}
	for name, c := range map[string]struct {
		path string
		is   error
		says string
	}{
		"cut":      {file(whole[:len(whole)/3]), harness.ErrDamaged, "cut short"},
		"broken":   {file(broken), harness.ErrDamaged, "cut short or no database"},
		"text":     {file([]byte(foreign.Magic + strings.Repeat("x", 5000))), harness.ErrDamaged, "no database"},
		"another":  {made(t, "x.db", "CREATE TABLE t (a)"), talks.ErrUnknown, "neither one of llm nor of crush"},
		"views":    {made(t, "x.db", "CREATE VIEW responses AS SELECT 1 AS id, 2 AS prompt, 3 AS response"), talks.ErrUnknown, "neither"},
		"role":     {made(t, "x.db", append(crushTables, "INSERT INTO sessions VALUES ('s', NULL, 't', 1, 0, 0, 0, 1, 1, NULL, NULL)", "INSERT INTO messages VALUES ('m', 's', 'root', '[]', NULL, 1, 1, NULL, NULL, 0)")...), harness.ErrDamaged, `the role is "root"`},
		"parts":    {made(t, "x.db", append(crushTables, "INSERT INTO sessions VALUES ('s', NULL, 't', 1, 0, 0, 0, 1, 1, NULL, NULL)", "INSERT INTO messages VALUES ('m', 's', 'user', '{', NULL, 1, 1, NULL, NULL, 0)")...), harness.ErrDamaged, "session s: message 1: "},
		"no file":  {filepath.Join(t.TempDir(), "no.db"), os.ErrNotExist, ""},
		"a folder": {t.TempDir(), talks.ErrUnknown, "no plain file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := each(t, c.path)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// FuzzOpen reads whatever bytes as a database.
func FuzzOpen(f *testing.F) {
	for _, statements := range [][]string{llmOld, crushTables} {
		data, err := os.ReadFile(made(f, "x.db", append([]string{"PRAGMA page_size = 512"}, statements...)...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := each(t, path); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}

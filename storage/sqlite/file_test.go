package sqlite_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/sqlite"
)

// raw runs a statement on a file behind cairn's back.
func raw(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.Exec(statement)
	must(t, errors.Join(err, db.Close()))
}

func TestOpenRefusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, whole)
	_, err := q.Submit(t.Context(), submission("r"), harness.Holder{})
	must(t, err)
	must(t, q.Close())
	ours, err := os.ReadFile(whole)
	must(t, err)
	for name, c := range map[string]struct {
		make func(path string)
		want error
		says string
	}{
		"empty":             {func(path string) { must(t, os.WriteFile(path, nil, 0o600)) }, harness.ErrDamaged, "is empty"},
		"a note":            {func(path string) { must(t, os.WriteFile(path, []byte("buy tea"), 0o600)) }, harness.ErrForeign, "not one of SQLite"},
		"a novel":           {func(path string) { must(t, os.WriteFile(path, []byte(strings.Repeat("buy tea ", 1000)), 0o600)) }, harness.ErrForeign, "not one of SQLite"},
		"a stub":            {func(path string) { must(t, os.WriteFile(path, ours[:90], 0o600)) }, harness.ErrDamaged, "cut off"},
		"half":              {func(path string) { must(t, os.WriteFile(path, ours[:len(ours)/2], 0o600)) }, harness.ErrDamaged, "aside"},
		"another program's": {func(path string) { raw(t, path, "CREATE TABLE runs (id)") }, harness.ErrForeign, "another program's"},
		"a directory":       {func(path string) { must(t, os.Mkdir(path, 0o700)) }, harness.ErrForeign, "no file"},
		"newer": {func(path string) {
			must(t, os.WriteFile(path, ours, 0o600))
			raw(t, path, "INSERT INTO cairn_versions VALUES (99, 'x', 0)")
		}, harness.ErrNewer, "version 99"},
		"without its versions": {func(path string) {
			must(t, os.WriteFile(path, ours, 0o600))
			raw(t, path, "DROP TABLE cairn_versions")
		}, harness.ErrDamaged, "lacks tables"},
		"other tables": {func(path string) {
			must(t, os.WriteFile(path, ours, 0o600))
			raw(t, path, "UPDATE cairn_versions SET definitions = 'x'")
		}, harness.ErrForeign, "not as cairn makes it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "runs.db")
			c.make(path)
			before, _ := os.ReadFile(path)
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q, want %v with %q and the path in one line", err, c.want, c.says)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Fatal("the file was changed")
			}
		})
	}
}

func TestOpenRefusesPlacesWithoutAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for path, says := range map[string]string{
		"": "need the path", ":memory:": "runs in memory", "file::memory:": "runs in memory", "a\x00b": "need the path",
		filepath.Join(file, "runs.db"): "choose a place",
	} {
		q, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil {
			t.Fatal(q.Close())
		}
		if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestNamesOfFilesAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"runs?mode=memory", "a b%20c#d.db", "file:x", "'; DROP", "ünï"} {
		path := filepath.Join(t.TempDir(), name)
		q := open(t, path)
		_, err := q.Submit(t.Context(), submission("../r/\x01.9"), harness.Holder{})
		must(t, err)
		_, err = q.Next(t.Context(), harness.Holder{}, "", nil)
		must(t, err)
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%q: %v", name, err)
		}
		must(t, q.Close())
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such permissions")
	}
	dir := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(dir, "runs.db")
	s := submission("r")
	s.Here = true
	q := open(t, path)
	_, err := q.Submit(t.Context(), s, harness.Holder{})
	must(t, err)
	seen := 0
	must(t, filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if seen++; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", at, info.Mode())
		}
		return nil
	}))
	if seen < 6 {
		t.Fatalf("only %d files: the log or the lock of the run is missing", seen)
	}
	must(t, q.Close())
	must(t, os.Chmod(path, 0o644))
	open(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v (%v)", info.Mode(), err)
	}
}

// A byte that flips in what was written is an error, and never another answer.
func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	s := submission("r")
	s.Here = true
	s.Carried.Facts = []harness.Fact{{ID: "f1", Text: strings.Repeat("tea ", 500)}}
	c, err := q.Submit(t.Context(), s, harness.Holder{})
	must(t, err)
	for n := 1; n <= 12; n++ {
		_, err := q.Append(t.Context(), c, n, [][]byte{[]byte(text(n * 50))}, said(n*58))
		must(t, err)
	}
	must(t, q.Release(t.Context(), c, ""))
	entries, err := q.Read(t.Context(), "r", 0)
	must(t, err)
	must(t, q.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	noticed := 0
	const step = 1999
	for at := 100; at < len(whole); at += step {
		cut := filepath.Join(t.TempDir(), "runs.db")
		data := []byte(string(whole))
		data[at] ^= 0x10
		must(t, os.WriteFile(cut, data, 0o600))
		q, err := sqlite.Open(t.Context(), cut, sqlite.Options{})
		if err == nil {
			err = equalRuns(t, q, entries)
			must(t, q.Close())
		}
		switch {
		case errors.Is(err, harness.ErrDamaged), errors.Is(err, harness.ErrForeign), errors.Is(err, harness.ErrNewer), errors.Is(err, harness.ErrNotFound):
			noticed++
		case err != nil:
			t.Errorf("byte %d: %v", at, err)
		}
	}
	if tried := len(whole) / step; noticed < tried/2 {
		t.Fatalf("%d of %d flips were noticed: most of the file is values", noticed, tried)
	}
}

func TestNothingIsWrittenToAFileThatIsNotInItsPlace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open stays in its place")
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	_, err := q.Submit(t.Context(), submission("kept"), harness.Holder{})
	must(t, err)
	must(t, os.Rename(path, path+".away"))
	refused := func(when string) {
		t.Helper()
		_, err := q.Submit(t.Context(), submission("r"), harness.Holder{})
		if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), path+" was removed or replaced") {
			t.Fatalf("%s: %v", when, err)
		}
	}
	refused("while it is away")
	must(t, os.WriteFile(path, nil, 0o600))
	refused("with another in its place")
	must(t, os.Rename(path+".away", path))
	_, err = q.Submit(t.Context(), submission("r"), harness.Holder{})
	must(t, err)
}

// equalRuns reads run "r"; what is read without an error has to be right.
func equalRuns(t *testing.T, q *sqlite.Queue, want []run.Entry) error {
	t.Helper()
	got, err := q.Read(t.Context(), "r", 0)
	if err == nil {
		if len(got) != len(want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i].Message.Text() != want[i].Message.Text() {
				t.Fatalf("entry %d says %.100q", i+1, got[i].Message.Text())
			}
		}
	}
	carried, carriedErr := q.Carried(t.Context(), "r")
	if carriedErr == nil && carried.Facts[0].Text != strings.Repeat("tea ", 500) {
		t.Fatalf("it took along %.100q", carried.Facts[0].Text)
	}
	j, jobErr := q.Get(t.Context(), "r")
	if jobErr == nil && (j.Run.Status != harness.RunRunning || j.Run.Cursor != len(want) || j.Store != "store") {
		t.Fatalf("job %+v", j)
	}
	artifactErrs := make([]error, 0, 12)
	for n := 1; n <= 12; n++ {
		data, err := q.Artifact(t.Context(), "r", harness.ArtifactName([]byte(text(n*58+1))))
		if err == nil && string(data) != text(n*58+1) {
			t.Fatalf("artifact %d is %.100q", n, data)
		}
		artifactErrs = append(artifactErrs, err)
	}
	return errors.Join(append(artifactErrs, err, carriedErr, jobErr)...)
}

func TestPruneGivesSpaceBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	for _, id := range []harness.RunID{"one", "two"} {
		s := submission(id)
		s.Here = true
		c, err := q.Submit(t.Context(), s, harness.Holder{})
		must(t, err)
		big := []byte(strings.Repeat("x", 5<<20))
		_, err = q.Append(t.Context(), c, 1, [][]byte{big}, run.Entry{Kind: "end", Status: harness.RunCompleted})
		must(t, err)
		must(t, q.Release(t.Context(), c, ""))
		must(t, q.Acknowledge(t.Context(), id, 2))
	}
	size := func() (n int64) {
		t.Helper()
		for _, suffix := range []string{"", "-wal"} {
			info, err := os.Stat(path + suffix)
			must(t, err)
			n += info.Size()
		}
		return n
	}
	before := size()
	n, err := q.Prune(t.Context(), run.Prune{Before: time.Now().Add(time.Hour)})
	must(t, err)
	if after := size(); n != 2 || before < 10<<20 || after > 1<<20 {
		t.Fatalf("pruned %d, from %d bytes to %d", n, before, after)
	}
}

package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/run"
)

// locks are the lock files of runs.
func locks(t *testing.T, path string) string {
	t.Helper()
	files, err := os.ReadDir(path + ".locks")
	must(t, err)
	var names []string
	for _, f := range files {
		if f.Name() != "making.lock" {
			names = append(names, f.Name())
		}
	}
	return strings.Join(names, " ")
}

func TestLockFilesAreThereWhileARunIsDriven(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q, second := open(t, path), open(t, path)
	s := submission("r")
	s.Here = true
	c, err := q.Submit(t.Context(), s, harness.Holder{})
	must(t, err)
	expect := func(when, want string) {
		t.Helper()
		if got := locks(t, path); got != want {
			t.Fatalf("%s there are %q, want %q", when, got, want)
		}
	}
	expect("once it is claimed", "r.1.lock")
	if _, err := q.Submit(t.Context(), s, harness.Holder{}); err == nil {
		t.Fatal("it was submitted twice")
	}
	expect("after a submit that is refused", "r.1.lock")
	_, err = second.Force(t.Context(), "r", harness.Holder{})
	must(t, err)
	expect("once it was taken", "r.2.lock")
	must(t, q.Release(t.Context(), c, ""))
	expect("once the loser gave back", "r.2.lock")
	must(t, second.Close())
	expect("once the second has ended", "")
	if j, err := q.Get(t.Context(), "r"); err != nil || !j.Run.Interrupted {
		t.Fatalf("run %+v (%v)", j.Run, err)
	}
	c, err = q.Next(t.Context(), harness.Holder{}, "", nil)
	must(t, err)
	expect("once it is claimed again", "r.3.lock")
	_, err = q.Append(t.Context(), c, 1, nil, run.Entry{Kind: "end", Status: harness.RunCompleted})
	must(t, err)
	must(t, q.Release(t.Context(), c, ""))
	expect("in the end", "")
}

func TestLockFilesOfTheDeadAreSwept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	s := submission("r")
	s.Here = true
	_, err := q.Submit(t.Context(), s, harness.Holder{})
	must(t, err)
	for _, name := range []string{"gone.3.lock", "r.7.lock", "note.txt"} {
		must(t, os.WriteFile(filepath.Join(path+".locks", name), nil, 0o600))
	}
	second := open(t, path)
	if got := locks(t, path); got != "note.txt r.1.lock" {
		t.Fatalf("there are %q", got)
	}
	if j, err := second.Get(t.Context(), "r"); err != nil || j.Run.Worker == nil {
		t.Fatalf("run %+v (%v)", j.Run, err)
	}
}

// A claim that could not be stored leaves nobody who seems to drive.
func TestClaimThatFailsLeavesNoLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	_, err := q.Submit(t.Context(), submission("r"), harness.Holder{})
	must(t, err)
	raw(t, path, "CREATE TRIGGER refuse BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'no'); END")
	if c, err := q.Claim(t.Context(), "r", harness.Holder{}); err == nil {
		t.Fatalf("claim %+v", c)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := q.Next(ended, harness.Holder{}, "", nil); err == nil {
		t.Fatalf("claim %+v", c)
	}
	if got := locks(t, path); got != "" {
		t.Fatalf("there are %q", got)
	}
	raw(t, path, "DROP TRIGGER refuse")
	c, err := q.Claim(t.Context(), "r", harness.Holder{})
	must(t, err)
	if c.Generation != 1 || c.Broken {
		t.Fatalf("claim %+v", c)
	}
	// One that cannot be given back is driven by nobody any more, as after a crash.
	raw(t, path, "CREATE TRIGGER refuse BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'no'); END")
	if err := q.Release(t.Context(), c, ""); err == nil {
		t.Fatal("it was given back")
	}
	raw(t, path, "DROP TRIGGER refuse")
	if c, err := q.Next(t.Context(), harness.Holder{}, "", nil); err != nil || !c.Broken {
		t.Fatalf("claim %+v (%v)", c, err)
	}
}

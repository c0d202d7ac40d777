package mem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory that somebody put in the place of the one that was made is not
// written to.
func TestSpoolIsNotKeptWhereOthersLook(t *testing.T) {
	t.Parallel()
	if !privateModes {
		t.Skip("modes tell nothing here")
	}
	base := t.TempDir()
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, link} {
		root, lock, err := takeSpool(dir)
		if root != nil || lock != nil || err == nil || !strings.Contains(err.Error(), "is not the directory that was made there") {
			t.Errorf("%s is taken: %v", dir, err)
		}
	}
	if left, err := os.ReadDir(open); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	// One that is gone was swept.
	if root, lock, err := takeSpool(filepath.Join(base, "gone")); root != nil || lock != nil || err != nil {
		t.Errorf("what is gone is taken: %v", err)
	}
}

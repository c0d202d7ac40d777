package bolt_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cairn/harness"
	"cairn/storage/bolt"
)

// FuzzFile opens whatever bytes there are. They are a database or are refused,
// and stay as they are.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{})
	ok(f, err)
	ok(f, db.Close())
	fresh, err := os.ReadFile(path)
	ok(f, err)
	for _, at := range []int{8, 16, 32, 4096 + 40, 3*4096 + 8, 5*4096 + 16} {
		damaged := bytes.Clone(fresh)
		damaged[min(at, len(damaged)-1)] ^= 0x41
		f.Add(damaged)
	}
	f.Add(fresh)
	f.Add(fresh[:len(fresh)/2])
	f.Add([]byte("SQLite format 3\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), bolt.FileName)
		ok(t, os.WriteFile(path, content, 0o600))
		db, err := bolt.Open(path, bolt.Options{})
		if err == nil {
			if _, err := db.Sessions().List(t.Context(), harness.SessionFilter{}); err != nil && !errors.Is(err, harness.ErrDamaged) {
				t.Fatal(err)
			}
			ok(t, db.Close())
		} else if !errors.Is(err, harness.ErrDamaged) && !errors.Is(err, harness.ErrForeign) && !errors.Is(err, harness.ErrNewer) {
			t.Fatal(err)
		}
		unchanged(t, path, content)
	})
}

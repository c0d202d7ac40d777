package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/storage/bolt"
)

// TestCutFileIsNamedOrHarmless cuts a file at random places, and puts zeros and
// noise into random pages, both before it is opened and while it is in use. What
// follows is the original answer or an error that names the place, and the file
// stays as it is.
func TestCutFileIsNamedOrHarmless(t *testing.T) {
	t.Parallel()
	path := populated(t)
	whole, err := os.ReadFile(path)
	ok(t, err)
	running, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, running.Close()) }()
	want, errs := ask(t, running)
	if len(errs) != 0 {
		t.Fatalf("the whole file: %v", errs)
	}
	rounds := often(t, "CUTS", 12)
	random := rand.New(rand.NewPCG(7, uint64(rounds)))
	page := os.Getpagesize()
	found := 0
	for i := range 3 * rounds {
		damaged := bytes.Clone(whole)
		at := random.IntN(len(whole))
		first := at / page * page
		what := fmt.Sprint("cut at ", at)
		switch i % 3 {
		case 0:
			damaged = damaged[:at]
		case 1:
			what = fmt.Sprint("zeros at ", first)
			clear(damaged[first:min(first+page, len(whole))])
		case 2:
			what = fmt.Sprint("noise at ", first)
			for j := first; j < min(first+page, len(whole)); j++ {
				damaged[j] = byte(random.Uint32())
			}
		}
		running.Rest()
		ok(t, os.WriteFile(path, damaged, 0o600))
		got, errs := ask(t, running)
		compare(t, what+" while running", want, got, errs)
		if len(errs) > 0 {
			found++
		}
		running.Rest()
		db, err := bolt.Open(path, bolt.Options{})
		if err == nil {
			got, errs := ask(t, db)
			compare(t, what+" at start", want, got, errs)
			ok(t, db.Close())
		} else if !errors.Is(err, harness.ErrDamaged) && !errors.Is(err, harness.ErrForeign) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s: error %v", what, err)
		}
		unchanged(t, path, damaged)
	}
	if found < rounds {
		t.Fatalf("only %d of %d damages were noticed: the test does not hit what is in use", found, 3*rounds)
	}
	t.Logf("%d of %d damages were noticed in use, all others were harmless", found, 3*rounds)
	ok(t, os.WriteFile(path, whole, 0o600))
	running.Rest()
}

// TestFileCutWhileItIsOpen cuts a file under a handle that is open, which is
// where the operating system faults.
func TestFileCutWhileItIsOpen(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(populated(t))
	ok(t, err)
	for _, size := range []int64{0, 1, 4096, 10_000, int64(len(whole)) / 2} {
		path := filepath.Join(t.TempDir(), bolt.FileName)
		ok(t, os.WriteFile(path, whole, 0o600))
		db, err := bolt.Open(path, bolt.Options{})
		ok(t, err)
		want, _ := ask(t, db)
		ok(t, os.Truncate(path, size))
		got, errs := ask(t, db)
		compare(t, fmt.Sprint("cut to ", size, " in use"), want, got, errs)
		if len(errs) == 0 {
			t.Errorf("cut to %d: nothing was noticed", size)
		}
		ok(t, db.Close())
		unchanged(t, path, whole[:size])
	}
}

package bolt_test

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// TestALimitThatVanishedIsNoticed takes a model out of the file behind its back.
func TestALimitThatVanishedIsNoticed(t *testing.T) {
	t.Parallel()
	r := newReopener(t)
	db := r.open()
	for _, m := range []string{"p/m", "p/n", "q/m"} {
		ok(t, db.Limits().Learn(t.Context(), m, harness.LearnedLimits{Window: 8_192}))
	}
	whole(t, db)
	ok(t, db.Close())
	raw, err := bbolt.Open(r.path, 0o600, nil)
	ok(t, err)
	ok(t, raw.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("limits")).Bucket([]byte("p")).Delete([]byte("n")) }))
	ok(t, raw.Close())
	db = r.open()
	for _, m := range []string{"p/m", "p/n", "r/m"} {
		if _, err := db.Limits().Get(t.Context(), m); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "2 models of 3") {
			t.Errorf("%s: %v", m, err)
		}
	}
	report, err := db.Check(t.Context())
	ok(t, err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "2 models of 3") {
		t.Errorf("a check finds %q", report.Problems)
	}
	ok(t, db.Close())
	if _, err := bolt.RebuildLists(t.Context(), r.path, bolt.Options{Now: r.clock.Now}); err != nil {
		t.Fatal(err)
	}
	db = r.open()
	whole(t, db)
	l, err := db.Limits().Get(t.Context(), "q/m")
	if err != nil || l.Window != 8_192 {
		t.Errorf("after the lists were made anew: %+v, %v", l, err)
	}
}

// TestFileOfTheFirstSchemaLearnsLimits goes on with a file that was made before
// limits were learned.
func TestFileOfTheFirstSchemaLearnsLimits(t *testing.T) {
	t.Parallel()
	path, clock := golden(t, "schema-1.db"), harnesstest.NewClock()
	db := openAt(t, path, clock)
	if l, err := db.Limits().Get(t.Context(), "p/m"); err != nil || l != (harness.LearnedLimits{}) {
		t.Fatalf("%+v, %v", l, err)
	}
	ok(t, db.Limits().Learn(t.Context(), "p/m", harness.LearnedLimits{Reply: 7}))
	ok(t, db.Close())
	db = openAt(t, path, clock)
	if l, err := db.Limits().Get(t.Context(), "p/m"); err != nil || l != (harness.LearnedLimits{Reply: 7}) {
		t.Fatalf("%+v, %v", l, err)
	}
	whole(t, db)
}

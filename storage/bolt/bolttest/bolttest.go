// Package bolttest gives tests of engines the stores of conversations. The one
// thing to know: opening them again closes what was open, as another process finds
// it after the first one died.
package bolttest

import (
	"path/filepath"
	"testing"

	"cairn/harness/harnesstest"
	"cairn/harness/run/runtest"
	"cairn/storage/bolt"
)

// Home returns stores in a new file, which is closed when the test is over.
func Home(t *testing.T) runtest.Stores {
	t.Helper()
	h := &home{t: t, path: filepath.Join(t.TempDir(), "data", bolt.FileName), clock: harnesstest.NewClock()}
	t.Cleanup(h.close)
	return h.open()
}

type home struct {
	t     *testing.T
	path  string
	clock *harnesstest.Clock
	db    *bolt.DB
}

func (h *home) close() {
	if err := h.db.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *home) open() runtest.Stores {
	h.t.Helper()
	if h.db != nil {
		h.close()
	}
	db, err := bolt.Open(h.path, bolt.Options{Now: h.clock.Now, Purpose: "test", Terminal: "pts/9"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.db = db
	return runtest.Stores{
		Journal: db.Journal(), Owners: db.Owners(), Sessions: db.Sessions(), Transcript: db.Transcript(),
		Facts: db.Facts(), Notes: db.Notes(), Inbox: db.Inbox(), Artifacts: db.Artifacts(), Grants: db.Grants(), ID: db.ID(),
		Advance: h.clock.Add, Reopen: h.open,
	}
}

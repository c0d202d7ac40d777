package sqlite_test

import (
	"path/filepath"
	"testing"

	"cairn/harness/harnesstest"
	"cairn/harness/run"
	"cairn/harness/run/runtest"
	"cairn/storage/bolt"
	"cairn/storage/sqlite"
)

// home returns the stores of conversations in a file, and opens them again.
func home(t *testing.T) runtest.Stores {
	t.Helper()
	path, clock := filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock()
	var last *bolt.DB
	t.Cleanup(func() { _ = last.Close() })
	var open func() runtest.Stores
	open = func() runtest.Stores {
		if last != nil {
			if err := last.Close(); err != nil {
				t.Fatal(err)
			}
		}
		db, err := bolt.Open(path, bolt.Options{Now: clock.Now, Purpose: "test"})
		if err != nil {
			t.Fatal(err)
		}
		last = db
		return runtest.Stores{
			Journal: db.Journal(), Owners: db.Owners(), Sessions: db.Sessions(), Transcript: db.Transcript(),
			Facts: db.Facts(), Notes: db.Notes(), Inbox: db.Inbox(), Artifacts: db.Artifacts(), Grants: db.Grants(), ID: db.ID(),
			Reopen: open,
		}
	}
	return open()
}

func opener(t *testing.T) func() run.Queue {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	return func() run.Queue {
		t.Helper()
		q, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
}

func TestEngine(t *testing.T) {
	runtest.TestEngine(t, func(t *testing.T, w runtest.Work) runtest.EngineFixture {
		t.Helper()
		return runtest.QueueEngine(t, home(t), opener(t), w)
	})
}

// TestEngineOfWorkers has the runs driven by a process that lacks the stores of the
// conversations.
func TestEngineOfWorkers(t *testing.T) {
	runtest.TestEngine(t, func(t *testing.T, w runtest.Work) runtest.EngineFixture {
		t.Helper()
		return runtest.WorkerEngine(t, home(t), opener(t), w)
	})
}

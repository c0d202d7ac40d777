package sqlite_test

import (
	"path/filepath"
	"testing"

	"cairn/harness/run"
	"cairn/harness/run/runtest"
	"cairn/storage/bolt/bolttest"
	"cairn/storage/sqlite"
)

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
		return runtest.QueueEngine(t, bolttest.Home(t), opener(t), w)
	})
}

// TestEngineOfWorkers has the runs driven by a process that lacks the stores of the
// conversations.
func TestEngineOfWorkers(t *testing.T) {
	runtest.TestEngine(t, func(t *testing.T, w runtest.Work) runtest.EngineFixture {
		t.Helper()
		return runtest.WorkerEngine(t, bolttest.Home(t), opener(t), w)
	})
}

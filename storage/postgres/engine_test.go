package postgres_test

import (
	"testing"

	"cairn/harness/run"
	"cairn/harness/run/runtest"
	"cairn/storage/bolt/bolttest"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

func opener(t *testing.T) func() run.Queue {
	t.Helper()
	address := pgtest.Start(t).Database(t)
	return func() run.Queue {
		t.Helper()
		q, err := postgres.Open(t.Context(), address, postgres.Options{Lease: runtest.Lease})
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

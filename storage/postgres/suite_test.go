package postgres_test

import (
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/harness/run/runtest"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

func TestQueue(t *testing.T) {
	runtest.TestQueue(t, func(t *testing.T) runtest.QueueStores {
		t.Helper()
		address := pgtest.Start(t).Database(t)
		var ahead atomic.Int64
		o := postgres.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
		again := func() run.Queue { return open(t, address, o) }
		// endLeases makes the clock of the server have passed them.
		endLeases := func() { admin(t, address, `UPDATE cairn.runs SET held_until = 1 WHERE held = 1`) }
		return runtest.QueueStores{
			Queue:  again(),
			Second: again,
			Reopen: func() run.Queue {
				endLeases()
				return again()
			},
			Take: func(q run.Queue, id harness.RunID, h harness.Holder) (run.Claim, error) {
				endLeases()
				return q.Claim(t.Context(), id, h)
			},
			Advance: func(d time.Duration) { ahead.Add(int64(d)) },
		}
	})
}

package sqlite_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/harness/run/runtest"
	"cairn/storage/sqlite"
)

func TestQueue(t *testing.T) {
	runtest.TestQueue(t, func(t *testing.T) runtest.QueueStores {
		path := filepath.Join(t.TempDir(), "runs.db")
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		open := func() run.Queue {
			t.Helper()
			q, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = q.Close() })
			return q
		}
		first := open()
		return runtest.QueueStores{
			Queue: first,
			Reopen: func() run.Queue {
				t.Helper()
				if err := first.Close(); err != nil {
					t.Fatal(err)
				}
				first = open()
				return first
			},
			Second: open,
			Take: func(q run.Queue, id harness.RunID, h harness.Holder) (run.Claim, error) {
				return q.(*sqlite.Queue).Force(t.Context(), id, h)
			},
			Advance: func(d time.Duration) { ahead.Add(int64(d)) },
		}
	})
}

package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

func openWatched(t *testing.T) *Queue {
	t.Helper()
	q, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}

func TestOwnChangesAreToldWithoutLookingForThem(t *testing.T) {
	t.Parallel()
	q := openWatched(t)
	q.polling = true // so nothing else does
	ch, err := q.Watch(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	m := harness.UserText("hello")
	if _, err := q.Submit(t.Context(), run.Submission{Run: harness.Run{ID: "r", Session: "s"}, First: run.Entry{Message: &m}}, harness.Holder{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ch:
	default:
		t.Fatal("the submit was not told")
	}
}

// Whoever watches nothing has nothing looked for, and watching can begin again.
func TestLookingForChangesEndsWithTheLastWatcher(t *testing.T) {
	t.Parallel()
	q := openWatched(t)
	polling := func() bool {
		q.watchMu.Lock()
		defer q.watchMu.Unlock()
		return q.polling
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := q.Watch(ctx, "r"); err != nil {
			t.Fatal(err)
		}
		if !polling() {
			t.Fatal("nothing is looked for")
		}
		cancel()
		for tries := 0; polling(); tries++ {
			if tries == 3000 {
				t.Fatal("changes are looked for, and nobody watches")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if open := q.read.Stats().InUse; open != 0 {
		t.Fatalf("%d connections are in use", open)
	}
}

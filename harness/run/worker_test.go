package run_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
)

// logLines is what a log says.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

// A server that is away for long fills no log: each worker says so once, and again
// that it is back.
func TestTroubleIsLoggedWhenItBeginsAndEnds(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{Turns: [][]string{{"pay"}}, Slow: []string{"pay"}})
	o.submit("r")
	f, log := &flaky{Queue: o.q}, new(logLines)
	_, stop := o.work(func(w *run.WorkerOptions) {
		w.Queue, w.Lease, w.Logger = f, 30*time.Millisecond, slog.New(slog.NewTextHandler(log, nil))
	})
	o.begun("pay", 1)
	f.down.Store(true)
	if !o.soon(func() bool { return f.missed.Load() > 30 }) {
		t.Fatal("nothing is tried")
	}
	f.down.Store(false)
	o.letGo()
	o.status("r", harness.RunCompleted)
	if !o.soon(func() bool { return log.count("can be used again") == 1 }) {
		t.Error("it does not tell that it is over")
	}
	stop()
	for _, line := range []string{"the queue cannot be used", "renew a claim"} {
		if n := log.count(line); n != 1 {
			t.Errorf("%q is said %d times", line, n)
		}
	}
}

// A run that no worker can drive, the oldest of all, keeps none behind it waiting.
func TestRefusedRunBlocksNoneBehindIt(t *testing.T) {
	t.Parallel()
	o := newOwner(t, yard{})
	for n := range 20 {
		o.submit(harness.RunID(fmt.Sprintf("unfit%d", n)))
	}
	o.submit("fits")
	o.work(func(w *run.WorkerOptions) {
		steps := w.Steps
		w.Concurrency = 1
		w.Steps = func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error) {
			if j.Run.ID != "fits" {
				return agent.Steps{}, fmt.Errorf("%w: it has no tool sing", run.ErrUnfit)
			}
			return steps(ctx, j, c)
		}
	})
	o.status("fits", harness.RunCompleted)
}

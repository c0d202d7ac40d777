package temporal_test

import (
	"context"
	"os"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/harness/run/runtest"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
	"cairn/storage/bolt/bolttest"
)

// drives are the options of a process that has these stores, or none.
func drives(w *world, s runtest.Stores, work runtest.Work, host, purpose string) temporal.Options {
	o := w.options(agent.Steps{})
	o.Store, o.Host, o.Holder = s.ID, host, harness.Holder{PID: os.Getpid(), Host: host, Purpose: purpose}
	o.Steps = func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error) {
		return work.Steps(ctx, j.Run.Config, runtest.DriverStores(s, c))
	}
	return o
}

func connect(t *testing.T, w *world, o temporal.Options) *temporal.Backend {
	t.Helper()
	b, err := temporal.Open(t.Context(), w.address, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// here returns an engine whose runs the process of the conversations drives.
func here(t *testing.T, w *world, s runtest.Stores, work runtest.Work) runtest.EngineFixture {
	t.Helper()
	b := connect(t, w, drives(w, s, work, "host", "chat"))
	return runtest.RemoteEngine(t, s, b, true, work, func(work runtest.Work) runtest.EngineFixture {
		t.Helper()
		b.Die()
		// As long as the server takes it for alive, it drives its runs.
		b := connect(t, w, w.options(agent.Steps{}))
		jobs, err := b.List(t.Context(), run.JobFilter{Store: s.ID, Unfinished: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			until(t, b, j.Run.ID, "a run without a driver", func(j run.Job) bool { return j.Run.Worker == nil })
		}
		return here(t, w, s.Reopen(), work)
	})
}

// elsewhere returns an engine whose runs a worker drives that lacks the stores.
func elsewhere(t *testing.T, w *world, s runtest.Stores, work runtest.Work) runtest.EngineFixture {
	t.Helper()
	b := connect(t, w, drives(w, s, work, "host", "chat"))
	worker, err := temporal.NewWorker(t.Context(), w.address, drives(w, runtest.Stores{}, work, "elsewhere", "worker"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = worker.Run(ctx) // one that has died says so
	}()
	t.Cleanup(func() {
		stop()
		<-over
	})
	f := runtest.RemoteEngine(t, s, b, false, work, func(work runtest.Work) runtest.EngineFixture {
		t.Helper()
		worker.Die()
		b.Die()
		stop()
		return elsewhere(t, w, s.Reopen(), work)
	})
	f.Elsewhere, f.GoesOn = true, true
	return f
}

func TestEngine(t *testing.T) {
	server := temporaltest.Start(t)
	runtest.TestEngine(t, func(t *testing.T, work runtest.Work) runtest.EngineFixture {
		t.Helper()
		w := newWorld(t, server)
		return here(t, w, bolttest.Home(t), work)
	})
}

// TestEngineOfWorkers has the runs driven by a process that lacks the stores of the
// conversations.
func TestEngineOfWorkers(t *testing.T) {
	server := temporaltest.Start(t)
	runtest.TestEngine(t, func(t *testing.T, work runtest.Work) runtest.EngineFixture {
		t.Helper()
		w := newWorld(t, server)
		return elsewhere(t, w, bolttest.Home(t), work)
	})
}

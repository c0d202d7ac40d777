package runtest

import (
	"context"
	"os"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// EngineName is what runs of the fixtures of [run.Remote] carry.
const EngineName = "queue:test"

// QueueEngine returns a [run.Remote] over stores and a queue, for [TestEngine]. The
// process of the conversations drives. open opens the queue as a process does; one
// that dies closes it and gives nothing back.
func QueueEngine(t *testing.T, s Stores, open func() run.Queue, w Work) EngineFixture {
	t.Helper()
	q := open()
	b := run.NewQueueBackend(run.QueueOptions{DriverOptions: driver(q, s, w)})
	return RemoteEngine(t, s, b, true, w, func(w Work) EngineFixture {
		t.Helper()
		kill(t, q)
		return QueueEngine(t, s.Reopen(), open, w)
	})
}

// WorkerEngine returns a [run.Remote] over stores and a queue whose runs are driven
// by a worker that does not have the stores.
func WorkerEngine(t *testing.T, s Stores, open func() run.Queue, w Work) EngineFixture {
	t.Helper()
	q, theirs := open(), open()
	b := run.NewQueueBackend(run.QueueOptions{DriverOptions: driver(q, s, w)})
	o := driver(theirs, Stores{}, w)
	o.Host, o.Holder.Purpose = "elsewhere", "worker"
	worker := run.NewWorker(run.WorkerOptions{DriverOptions: o, Concurrency: 2, Idle: 50 * time.Millisecond})
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
	f := RemoteEngine(t, s, b, false, w, func(w Work) EngineFixture {
		t.Helper()
		kill(t, theirs)
		kill(t, q)
		stop()
		return WorkerEngine(t, s.Reopen(), open, w)
	})
	f.Elsewhere, f.GoesOn = true, true
	return f
}

// kill closes a queue as the end of its process does.
func kill(t *testing.T, q run.Queue) {
	t.Helper()
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// RemoteEngine returns a [run.Remote] over stores and a backend, for [TestEngine].
// here says that the process of the conversations drives.
func RemoteEngine(t *testing.T, s Stores, b run.Backend, here bool, w Work, restart func(w Work) EngineFixture) EngineFixture {
	t.Helper()
	engine := run.NewRemote(run.RemoteOptions{
		Home: s.Journal, Transcript: s.Transcript, Sessions: s.Sessions, Artifacts: s.Artifacts, Grants: s.Grants, Facts: s.Facts, Notes: s.Notes,
		Backend: b, Engine: EngineName, Store: s.ID, Host: "host", Here: here, Interactive: true,
		Info: func(_ context.Context, c harness.RunConfig) (model.Info, error) { return w.Info(c), nil },
		Tools: func(ctx context.Context, c harness.RunConfig) (*tool.Set, error) {
			steps, err := w.Steps(ctx, c, s)
			return steps.Tools, err
		},
	})
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Second)
		defer stop()
		_ = engine.Close(ctx) // one that died has nothing to close
	})
	return EngineFixture{Stores: s, Engine: engine, Remote: engine, Restart: restart}
}

// Lease is for how long the drivers of the fixtures hold a run without a sign of
// life, where a clock decides.
const Lease = 3 * time.Second

// driver is how a process drives that has these stores, or none.
func driver(q run.Queue, s Stores, w Work) run.DriverOptions {
	return run.DriverOptions{
		Queue: q, Store: s.ID, Host: "host", Lease: Lease, Holder: harness.Holder{PID: os.Getpid(), Host: "host", Purpose: "chat"},
		Steps: func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error) {
			return w.Steps(ctx, j.Run.Config, DriverStores(s, c))
		},
	}
}

// DriverStores are the stores with which a process that has s drives a run that is
// kept apart: its own where they are the run's, else what the run carries.
func DriverStores(s Stores, c run.Carried) Stores {
	if s.ID != "" && s.ID == c.Store {
		s.Artifacts = run.AwayArtifacts(s.Artifacts)
		return s
	}
	m := run.CarriedMemory(c)
	return Stores{Facts: m.Facts(), Notes: m.Notes(), Inbox: m.Inbox(), Artifacts: run.AwayArtifacts(nil), Grants: run.CarriedGrants(c)}
}

package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/storage/mem"
	"cairn/storage/sqlite"
)

// apart returns the engine of a process that has the conversations of st, and keeps
// its runs in a file for workers.
func apart(ctx context.Context, st *mem.Store, path string) (*run.Remote, error) {
	q, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	backend := run.NewQueueBackend(run.QueueOptions{DriverOptions: run.DriverOptions{
		Queue: q, Steps: parcels, Store: st.ID(), Holder: harness.Holder{PID: os.Getpid(), Purpose: "chat"},
	}})
	return run.NewRemote(run.RemoteOptions{
		Home: st.Journal(), Transcript: st.Transcript(), Sessions: st.Sessions(), Artifacts: st.Artifacts(),
		Backend: backend, Engine: "sqlite:" + path, Store: st.ID(), Interactive: true,
	}), nil
}

// parcels are the parts that carry out the runs, in whatever process.
func parcels(context.Context, run.Job, run.Carried) (agent.Steps, error) {
	return agent.Steps{Model: quick{}}, nil
}

// A run outlives the process that started it: a worker drives it, and the next
// process that opens the session is handed over what it did.
func ExampleRemote() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cairn-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory for the example
	path := filepath.Join(dir, "runs.db")
	st := mem.New(nil)

	engine, err := apart(ctx, st, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	lease, err := st.Owners().Acquire(ctx, harness.Session{ID: "trip"}, harness.Holder{Purpose: "chat"})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := engine.Start(ctx, harness.StartRequest{Lease: lease, Message: harness.UserText("Book it."), Config: harness.RunConfig{Model: "p/m"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The run waits for a worker, and this process leaves.
	fmt.Println(engine.Leave(ctx, h.ID()), engine.Close(ctx), st.Owners().Release(ctx, lease))

	if err := workOff(ctx, path, h.ID()); err != nil {
		fmt.Println(err)
		return
	}

	engine, err = apart(ctx, st, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := engine.Get(ctx, h.ID())
	fmt.Println(r.Status, r.Unfetched, err)
	lease, err = st.Owners().Acquire(ctx, harness.Session{ID: "trip"}, harness.Holder{Purpose: "chat"})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := engine.Fetch(ctx, lease)
	fmt.Println(got.Entries, got.Runs, err)
	records, err := st.Transcript().Tail(ctx, "trip", 0, 0)
	for _, rec := range records {
		fmt.Printf("%s: %s\n", rec.Message.Role, rec.Message.Text())
	}
	fmt.Println(errors.Join(err, engine.Close(ctx)))
	// Output:
	// <nil> <nil> <nil>
	// completed 2 <nil>
	// 2 1 <nil>
	// user: Book it.
	// assistant: at home
	// <nil>
}

// workOff is the worker's process, which ends when the run has.
func workOff(ctx context.Context, path string, id harness.RunID) error {
	q, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := run.NewWorker(run.WorkerOptions{DriverOptions: run.DriverOptions{Queue: q, Steps: parcels, Holder: harness.Holder{Purpose: "worker"}}})
	over := make(chan error, 1)
	go func() { over <- w.Run(ctx) }()
	for {
		j, err := q.Get(ctx, id)
		if err != nil || j.Run.Status.Closed() && j.Run.Worker == nil {
			stop()
			return errors.Join(err, <-over, q.Close())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

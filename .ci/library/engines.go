package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/storage/bolt"
	"cairn/storage/sqlite"
)

// engines begins a run that a worker drives, approves what it waits for and prints
// its answer; if the city is "work" it is that worker, until it is told to end.
func engines(ctx context.Context, dir, city string) error {
	queue, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	drive := run.DriverOptions{
		Queue: queue, Host: "library", Holder: harness.Holder{Purpose: "library"},
		Steps: func(context.Context, run.Job, run.Carried) (agent.Steps, error) {
			set, err := tools()
			return agent.Steps{Model: curious{}, Tools: set}, err
		},
	}
	if city == "work" {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
		return errors.Join(run.NewWorker(run.WorkerOptions{DriverOptions: drive}).Run(ctx), queue.Close())
	}
	return ask(ctx, dir, city, drive)
}

// ask is the side that has the conversation. What the worker does is handed over to
// it, each step once.
func ask(ctx context.Context, dir, city string, drive run.DriverOptions) (err error) {
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{Purpose: "library"})
	if err != nil {
		return errors.Join(err, drive.Queue.Close())
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	drive.Store = db.ID()
	engine := run.NewRemote(run.RemoteOptions{
		Home: db.Journal(), Transcript: db.Transcript(), Sessions: db.Sessions(), Artifacts: db.Artifacts(),
		Backend: run.NewQueueBackend(run.QueueOptions{DriverOptions: drive}),
		Engine:  "sqlite:" + filepath.Join(dir, "runs.db"), Store: db.ID(), Host: drive.Host, Here: false,
	})
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	lease, err := db.Owners().Acquire(ctx, harness.Session{ID: "away"}, drive.Holder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Owners().Release(ctx, lease)) }()

	h, err := engine.Start(ctx, harness.StartRequest{Lease: lease, Message: harness.UserText(city)})
	if err != nil {
		return err
	}
	res, err := h.Wait(ctx)
	for ; err == nil && res.Status == harness.RunAwaiting; res, err = h.Wait(ctx) {
		if err = report(res, nil); err != nil {
			return err
		}
		p := res.Pending[0]
		h, err = engine.Decide(ctx, lease, res.Run, harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove, By: "the library's test"})
		if err != nil {
			return err
		}
	}
	if err = report(res, err); err != nil {
		return err
	}
	log, err := db.Transcript().Tail(ctx, "away", 0, 0)
	fmt.Printf("  %d messages in the conversation\n", len(log))
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// durable starts a run that waits for a person; the next process finds it
// waiting, approves what it waits for and follows it to its end.
func durable(ctx context.Context, dir, city string) (err error) {
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{Purpose: "library"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	set, err := tools()
	if err != nil {
		return err
	}
	engine := run.NewLocal(run.Options{
		Journal: db.Journal(), Transcript: db.Transcript(), Grants: db.Grants(), Engine: bolt.Engine,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: curious{}, Tools: set}, nil
		},
	})
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	lease, err := db.Owners().Acquire(ctx, harness.Session{ID: "weather"}, harness.Holder{Purpose: "library"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Owners().Release(ctx, lease)) }()

	waiting, err := engine.List(ctx, harness.RunFilter{Session: "weather", Unfinished: true})
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		h, err := engine.Start(ctx, harness.StartRequest{Lease: lease, Message: harness.UserText(city)})
		if err != nil {
			return err
		}
		return report(h.Wait(ctx))
	}
	r, err := engine.Get(ctx, waiting[0].ID)
	if err != nil {
		return err
	}
	var ds []harness.Decision
	for _, p := range r.Pending {
		ds = append(ds, harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove, By: "the library's test"})
	}
	h, err := engine.Decide(ctx, lease, r.ID, ds...)
	if err != nil {
		return err
	}
	return report(h.Wait(ctx))
}

// report prints how a run rests.
func report(res harness.Result, err error) error {
	fmt.Printf("run: %s\n", res.Status)
	for _, p := range res.Pending {
		fmt.Printf("  %s %s?\n", p.Call.Name, p.Call.Input)
	}
	if res.Text != "" {
		fmt.Printf("  %s\n", res.Text)
	}
	return err
}

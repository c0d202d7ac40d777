// Command library proves that cairn can be used as a library: it opens a
// session by id in a directory, runs a turn in which a tool asks first, closes,
// and a second process rehydrates the conversation. With "durable" in front it
// does the same with a run that waits for its approval over the end of the
// process. With "engines" in front a worker in another process drives the run.
// With "memory" in front it says something to an agent that shares its
// facts and notes with those of other processes. It prints what it finds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/storage/bolt"
)

func main() {
	do, args := direct, os.Args[1:]
	switch args[0] {
	case "durable":
		do, args = durable, args[1:]
	case "engines":
		do, args = engines, args[1:]
	case "memory":
		do, args = remember, args[1:]
	}
	if err := do(context.Background(), args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

// direct runs one turn of a conversation that is kept.
func direct(ctx context.Context, dir, city string) (err error) {
	store, err := bolt.OpenConversations(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	set, err := tools()
	if err != nil {
		return err
	}
	a, err := agent.Open(ctx, agent.Session{ID: "Refactor Parser", Store: store}, agent.Options{
		Model: curious{}, Info: model.Info{ID: "library/curious"}, Tools: set,
		Approve: func(_ context.Context, p harness.Pending) (harness.Decision, error) {
			fmt.Printf("%s %s?\n", p.Call.Name, p.Call.Input)
			return harness.Decision{How: harness.DecideApprove}, nil
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	before := len(a.Messages())
	res, err := a.Run(ctx, city)
	if err != nil {
		return err
	}
	fmt.Printf("session %s: %d messages before, %d after, %s: %s\n", a.SessionID(), before, len(a.Messages()), res.Status, res.Text)
	return nil
}

// Command library proves that cairn can be used as a library: it opens a
// session by id in a directory, runs a turn, closes, and a second process
// rehydrates the conversation. It prints what it finds.
package main

import (
	"context"
	"fmt"
	"os"

	"cairn/harness/agent"
	"cairn/harness/model/offline"
	"cairn/storage/bolt"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, text string) (err error) {
	store, err := bolt.OpenConversations(dir)
	if err != nil {
		return err
	}
	defer func() {
		if e := store.Close(); err == nil {
			err = e
		}
	}()
	a, err := agent.Open(ctx, agent.Session{ID: "Refactor Parser", Store: store}, agent.Options{
		Model: offline.New(), Info: offline.Info(),
	})
	if err != nil {
		return err
	}
	before := len(a.Messages())
	res, err := a.Run(ctx, text)
	if err != nil {
		return err
	}
	fmt.Printf("session %s: %d messages before, %d after, %s\n", a.SessionID(), before, len(a.Messages()), res.Status)
	return a.Close()
}

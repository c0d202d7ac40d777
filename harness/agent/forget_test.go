package agent_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/storage/bolt"
)

// What is forgotten is in no later request, of whatever session, and in nothing
// that is listed, found or waits.
func TestWhatIsForgottenIsGoneEverywhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	open := func() *bolt.DB {
		db, err := bolt.Open(path, bolt.Options{Purpose: "test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	db, other := open(), open() // as two windows have it open
	if _, _, err := db.Facts().Save(t.Context(), harness.Fact{Text: "The vault code is in the blue folder"}, ""); err != nil {
		t.Fatal(err)
	}
	for _, s := range []harness.Suggestion{
		{Kind: harness.SuggestChange, Fact: "f1", Text: "The vault code is in the red folder"},
		{Kind: harness.SuggestRetire, Fact: "f1"},
	} {
		if _, filed, err := db.Inbox().Put(t.Context(), s, ""); err != nil || !filed {
			t.Fatal(filed, err)
		}
	}
	seen := map[int]string{}
	var agents []*agent.Agent
	for i, d := range []*bolt.DB{db, other} {
		m := answering(func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
			seen[i] = r.Context
			return text("ok"), nil
		})
		a, err := agent.New(agent.Options{Model: m, Facts: d.Facts(), Notes: d.Notes()})
		if err != nil {
			t.Fatal(err)
		}
		agents = append(agents, a)
	}
	ask := func() {
		for _, a := range agents {
			if _, err := a.Run(t.Context(), "where is the vault code?"); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask()
	for i := range agents {
		if !strings.Contains(seen[i], "blue folder") {
			t.Fatalf("agent %d is not told: %s", i, seen[i])
		}
	}
	if err := db.Facts().Forget(t.Context(), "f1"); err != nil {
		t.Fatal(err)
	}
	ask()
	for i := range agents {
		if strings.Contains(seen[i], "folder") {
			t.Errorf("agent %d is still told: %s", i, seen[i])
		}
	}
	for _, f := range []harness.MemoryFilter{{}, {Query: "vault"}, {State: harness.StateAny}} {
		if list, err := other.Facts().List(t.Context(), f); err != nil || len(list) != 0 {
			t.Errorf("%+v lists %+v, %v", f, list, err)
		}
	}
	if waits, err := other.Inbox().List(t.Context(), harness.InboxFilter{}); err != nil || len(waits) != 0 {
		t.Errorf("%+v waits, %v", waits, err)
	}
	if _, filed, err := other.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: "the vault code is in the BLUE folder."}, ""); err != nil || filed {
		t.Errorf("it is suggested again: %v, %v", filed, err)
	}
}

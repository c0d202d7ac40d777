package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/snapshot"
)

// recalling is a model that answers a question with what it was told first.
type recalling struct{}

// Stream implements [model.Model].
func (recalling) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	text := "I will."
	if strings.HasSuffix(r.Messages[len(r.Messages)-1].Text(), "?") {
		text = "You said: " + r.Messages[0].Text()
	}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}, nil
}

// A conversation is saved by one agent and goes on in another, perhaps in
// another process.
func ExampleAgent_SaveSession() {
	if err := saveAndContinue(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: You said: Remember that this project analyzes invoices.
}

func saveAndContinue(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := snapshot.Open(ctx, dir)
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Options{Model: recalling{}})
	if err != nil {
		return err
	}
	if _, err := a.Run(ctx, "Remember that this project analyzes invoices."); err != nil {
		return err
	}
	id, err := a.SaveSession(ctx, store)
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}

	restored, err := agent.LoadSession(ctx, string(id), store, agent.Options{Model: recalling{}})
	if err != nil {
		return err
	}
	res, err := restored.Run(ctx, "What does this project analyze?")
	if err := errors.Join(err, restored.Close()); err != nil {
		return err
	}
	fmt.Println(res.Text)
	return nil
}

// What is given when a session is loaded must be what was saved; what is left
// out is taken from there.
func ExampleLoadSession() {
	ctx := context.Background()
	store := newOwnSnapshots()
	a, err := agent.Open(ctx, agent.Session{ID: "invoices"}, agent.Options{
		Model: recalling{}, Info: model.Info{ID: "example/recalling"}, System: "Be short.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := a.SaveSession(ctx, store); err != nil {
		fmt.Println(err)
		return
	}
	_, err = agent.LoadSession(ctx, "invoices", store, agent.Options{Model: recalling{}, System: "Be kind."})
	fmt.Println(err)
	fmt.Println(errors.Is(err, snapshot.ErrConfig))
	_, err = agent.LoadSession(ctx, "invoices", store, agent.Options{Model: recalling{}})
	fmt.Println(err)
	// Output:
	// load snapshot "invoices": the snapshot has another configuration: system is "Be short.", want "Be kind."
	// true
	// <nil>
}

// A session is a file in a directory, complete after every step of a turn. The
// next process opens it by its id.
func ExampleSnapshots() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, text := range []string{"This project analyzes invoices.", "What does it analyze?"} {
		store, err := snapshot.Open(ctx, dir)
		if err != nil {
			fmt.Println(err)
			return
		}
		a, err := agent.Open(ctx, agent.Session{ID: "Refactor Parser", Store: agent.Snapshots(store)}, agent.Options{Model: recalling{}})
		if err != nil {
			fmt.Println(err)
			return
		}
		res, err := a.Run(ctx, text)
		if err := errors.Join(err, a.Close()); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s\n", a.SessionID(), res.Text)
	}
	// Output:
	// refactor-parser: I will.
	// refactor-parser: You said: This project analyzes invoices.
}

// ownSnapshots is a caller's own store of snapshots, a map.
type ownSnapshots struct {
	mu    sync.Mutex
	files map[string][]byte
}

func newOwnSnapshots() *ownSnapshots { return &ownSnapshots{files: map[string][]byte{}} }

// Put implements [snapshot.Store].
func (s *ownSnapshots) Put(ctx context.Context, key string, data []byte) error {
	return s.Replace(ctx, key, data)
}

// Replace implements [snapshot.Store].
func (s *ownSnapshots) Replace(ctx context.Context, key string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.files[key] = slices.Clone(data)
	return nil
}

// Get implements [snapshot.Store].
func (s *ownSnapshots) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.files[key]
	if !ok {
		return nil, harness.ErrNotFound
	}
	return slices.Clone(data), nil
}

// List implements [snapshot.Store].
func (s *ownSnapshots) List(_ context.Context, prefix string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(s.files)) {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// Delete implements [snapshot.Store].
func (s *ownSnapshots) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, key)
	return nil
}

// Whatever keeps bytes by name keeps sessions.
func ExampleSnapshots_ownStore() {
	ctx := context.Background()
	store := newOwnSnapshots()
	for range 2 {
		a, err := agent.Open(ctx, agent.Session{ID: "invoices", Store: agent.Snapshots(store)}, agent.Options{Model: counting{}})
		if err != nil {
			fmt.Println(err)
			return
		}
		res, err := a.Run(ctx, "How many messages do you see?")
		if err := errors.Join(err, a.Close()); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Text)
	}
	keys, err := store.List(ctx, "")
	fmt.Println(keys, err)
	// Output:
	// That makes 1.
	// That makes 3.
	// [session-invoices.json] <nil>
}

// ledger is an extension that adds up.
type ledger struct {
	Total int `json:"total"`
}

// Name implements [agent.Extension].
func (*ledger) Name() string { return "ledger" }

// Save implements [agent.Extension].
func (l *ledger) Save() (json.RawMessage, error) { return json.Marshal(l) }

// Load implements [agent.Extension].
func (l *ledger) Load(state json.RawMessage) error { return json.Unmarshal(state, l) }

// The state of an extension goes with the conversation, and is asked for when
// the conversation is loaded.
func ExampleExtension() {
	ctx := context.Background()
	store := newOwnSnapshots()
	a, err := agent.New(agent.Options{Model: recalling{}, Extensions: []agent.Extension{&ledger{Total: 42}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := a.SaveSession(ctx, store)
	if err != nil {
		fmt.Println(err)
		return
	}
	var again ledger
	_, err = agent.LoadSession(ctx, string(id), store, agent.Options{Model: recalling{}, Extensions: []agent.Extension{&again}})
	fmt.Println(again.Total, err)
	_, err = agent.LoadSession(ctx, string(id), store, agent.Options{Model: recalling{}})
	fmt.Println(errors.Is(err, snapshot.ErrExtensions))
	// Output:
	// 42 <nil>
	// true
}

package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
)

// mapStore is a caller's own store: conversations in a map, as JSON.
type mapStore struct {
	mu   sync.Mutex
	logs map[harness.SessionID][]byte
	held map[harness.SessionID]bool
}

func newMapStore() *mapStore {
	return &mapStore{logs: map[harness.SessionID][]byte{}, held: map[harness.SessionID]bool{}}
}

// Open implements [agent.Store].
func (s *mapStore) Open(_ context.Context, id harness.SessionID) (agent.Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[id] {
		return nil, &harness.HeldError{Session: id, Holder: harness.Holder{PID: os.Getpid()}}
	}
	s.held[id] = true
	return &mapLog{s, id}, nil
}

// mapLog is one open conversation of a [mapStore].
type mapLog struct {
	store *mapStore
	id    harness.SessionID
}

func (l *mapLog) read() (records []harness.Record, err error) {
	if raw := l.store.logs[l.id]; raw != nil {
		err = json.Unmarshal(raw, &records)
	}
	return records, err
}

// Tail implements [agent.Log].
func (l *mapLog) Tail(ctx context.Context, limit int) ([]harness.Record, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	records, err := l.read()
	if n := len(records); limit > 0 && n > limit {
		records = records[n-limit:]
	}
	return records, err
}

// Append implements [agent.Log].
func (l *mapLog) Append(ctx context.Context, records ...harness.Record) ([]harness.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	all, err := l.read()
	if err != nil {
		return nil, err
	}
	before := len(all)
	for _, r := range records {
		r.Seq, r.Prev = len(all)+1, len(all)
		all = append(all, r)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	l.store.logs[l.id] = raw
	return all[before:], nil
}

// Close implements [agent.Log].
func (l *mapLog) Close() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	delete(l.store.held, l.id)
	return nil
}

// counting is a model that says how many messages it was sent.
type counting struct{}

// Stream implements [model.Model].
func (counting) Stream(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	text := fmt.Sprintf("That makes %d.", len(r.Messages))
	emit(model.Delta{Kind: model.DeltaText, Text: text})
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}, nil
}

// A conversation goes on under its id, in whatever store its owner likes.
func ExampleOpen() {
	ctx := context.Background()
	store := newMapStore()
	for _, id := range []string{"Refactor Parser", "refactor-parser"} {
		a, err := agent.Open(ctx, agent.Session{ID: id, Store: store}, agent.Options{Model: counting{}})
		if err != nil {
			fmt.Println(err)
			return
		}
		res, err := a.Run(ctx, "How many messages do you see?")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s (%s)\n", a.SessionID(), res.Text, res.Status)
		if err := a.Close(); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// refactor-parser: That makes 1. (completed)
	// refactor-parser: That makes 3. (completed)
}

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cairn/harness/snapshot"
)

// Extension is a part of an agent that has state of its own in each
// conversation. Its state is saved and loaded with the conversation, under its
// name. The agent calls it from one goroutine at a time, but also while tools
// run: what they change needs a lock.
type Extension interface {
	// Name is what the state is saved under; it is never blank and never changes.
	Name() string
	// Save returns the state as JSON; nothing at all if there is none, which
	// needs no extension at the next load. It is called at every save: of a
	// conversation in [Snapshots] after every step of a turn.
	Save() (json.RawMessage, error)
	// Load takes back what Save returned. It is called once, before the first
	// run, if anything was saved.
	Load(state json.RawMessage) error
}

// checkExtensions refuses names under which nothing could be found again.
func checkExtensions(all []Extension) error {
	seen := map[string]bool{}
	for i, e := range all {
		if e == nil {
			return fmt.Errorf("extension %d is nil", i+1)
		}
		switch name := e.Name(); {
		case strings.TrimSpace(name) == "":
			return fmt.Errorf("extension %d has no name; its state is saved under one", i+1)
		case seen[name]:
			return fmt.Errorf("two extensions have the name %q; their states are saved by name", name)
		default:
			seen[name] = true
		}
	}
	return nil
}

// saveExtensions returns the state of each extension that has one.
func saveExtensions(all []Extension) (map[string]json.RawMessage, error) {
	var states map[string]json.RawMessage
	for _, e := range all {
		state, err := e.Save()
		if err != nil {
			return nil, fmt.Errorf("state of extension %q: %w", e.Name(), err)
		}
		if len(state) == 0 {
			continue
		}
		if states == nil {
			states = map[string]json.RawMessage{}
		}
		states[e.Name()] = state
	}
	return states, nil
}

// loadExtensions gives each extension what was saved for it.
func loadExtensions(all []Extension, d snapshot.Document) error {
	var errs []error
	for _, e := range all {
		state, ok := d.Extensions[e.Name()]
		if !ok {
			continue
		}
		if err := e.Load(state); err != nil {
			errs = append(errs, fmt.Errorf("state of extension %q: %w", e.Name(), err))
		}
	}
	return errors.Join(errs...)
}

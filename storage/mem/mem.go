// Package mem keeps every contract of package harness and the run journal in
// memory: for tests, and for chats that are to leave nothing behind. The one
// thing to know: it decides everything as package bolt does, by the same rules
// and the same suites, so a test that passes on it means something.
package mem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// Engine is the name that runs kept here carry.
const Engine = "mem"

// Store is one store in memory. Make it with [New].
type Store struct {
	id  string
	now func() time.Time

	mu       sync.Mutex
	sessions map[harness.SessionID]*session
	// owners are the present generations of sessions, stored or not; held says
	// which of them has a living owner.
	owners map[harness.SessionID]*ownership
	runs   map[harness.RunID]*session
	// order is the time of the last use of a session in nanoseconds, or later; starts
	// counts runs.
	order   int64
	starts  int
	drafts  []chatDraft
	prompts []prompt
	facts   shelf[harness.Fact]
	notes   shelf[harness.Note]
	// inbox is in the order of the ids, lastSuggestion counts them all.
	inbox          []rules.Kept
	suggestionKeys map[string]string
	lastSuggestion int
	usage          map[string]map[string]harness.Usage
	limits         map[string]harness.LearnedLimits
	// grants are in the order of their ids, lastGrant counts them all.
	grants    []harness.Grant
	lastGrant int
	// blobs are the bytes of all artifacts, holds what is held of the budget.
	blobs    blobs
	holds    []hold
	watchers map[chan struct{}]bool
}

// New returns an empty store. A nil clock is time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	return &Store{
		id:             harness.NewID(),
		now:            now,
		sessions:       map[harness.SessionID]*session{},
		owners:         map[harness.SessionID]*ownership{},
		runs:           map[harness.RunID]*session{},
		usage:          map[string]map[string]harness.Usage{},
		limits:         map[string]harness.LearnedLimits{},
		watchers:       map[chan struct{}]bool{},
		blobs:          &inMemory{all: map[string][]byte{}},
		suggestionKeys: map[string]string{},
		facts:          newShelf[harness.Fact]("f"),
		notes:          newShelf[harness.Note]("n"),
	}
}

// ID returns the id of the store, which no other store has.
func (st *Store) ID() string { return st.id }

// Abandon makes the store look as if the process that used it had died: nobody
// owns anything any more, and nothing else changes.
func (st *Store) Abandon() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, o := range st.owners {
		o.alive = false
	}
	for i := range st.drafts {
		st.drafts[i].alive = false
	}
	for i := range st.holds {
		st.holds[i].alive = false
	}
}

// Sessions returns the view that implements [harness.Sessions].
func (st *Store) Sessions() *Sessions { return &Sessions{st} }

// Transcript returns the view that implements [harness.Transcript].
func (st *Store) Transcript() *Transcript { return &Transcript{st} }

// Owners returns the view that implements [harness.Owners].
func (st *Store) Owners() *Owners { return &Owners{st} }

// Journal returns the view that implements [run.Journal].
func (st *Store) Journal() *Journal { return &Journal{st} }

// session is one stored session.
type session struct {
	info     harness.Session
	order    int64
	records  []harness.Record
	runs     map[harness.RunID]*storedRun
	requests map[string]harness.RunID
	draft    harness.Draft
	// artifacts are the names of those that the session has.
	artifacts map[string]bool
}

// storedRun is one run. Its log holds no messages: they are in the records.
type storedRun struct {
	run     harness.Run
	number  int
	log     []run.Entry
	partial *harness.Partial
}

// ownership is the present generation of a session.
type ownership struct {
	generation int
	holder     harness.Holder
	alive      bool
	asked      *harness.Holder
}

// fill adds to a holder what only this process knows.
func (st *Store) fill(h harness.Holder) harness.Holder {
	if h.PID == 0 {
		h.PID = os.Getpid()
	}
	if h.Since.IsZero() {
		h.Since = st.now()
	}
	return h
}

// owner returns the living owner of a session, nil if there is none.
func (st *Store) owner(id harness.SessionID) *harness.Holder {
	if o := st.owners[id]; o != nil && o.alive {
		holder := o.holder
		return &holder
	}
	return nil
}

// clone returns a deep copy, as a store that writes to disk does. What is kept
// here shares nothing with its callers.
func clone[T any](v T) (T, error) {
	var copied T
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	// Escaping would change the input of tools.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return copied, fmt.Errorf("copy: %w", err)
	}
	return copied, json.Unmarshal(raw.Bytes(), &copied)
}

// sorted returns the values of m in the order of less.
func sorted[K comparable, V any](m map[K]V, order func(a, b V) int) []V {
	values := slices.Collect(maps.Values(m))
	slices.SortFunc(values, order)
	return values
}

// Package harnesstest holds the suites of the contracts in package harness. An
// implementation runs them with a function that opens its stores:
//
//	func TestSessions(t *testing.T) { harnesstest.TestSessions(t, open) }
//
// The one thing to know: a test may ask for the stores again as after a crash
// of the process, so a store has to be able to forget what only a living
// process knows.
package harnesstest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
)

// Stores are the contracts of one store, and how it comes back.
type Stores struct {
	Sessions   harness.Sessions
	Transcript harness.Transcript
	Owners     harness.Owners
	Drafts     harness.Drafts
	Prompts    harness.Prompts
	Facts      harness.Facts
	Notes      harness.Notes
	Searcher   harness.Searcher
	Watcher    harness.Watcher
	Grants     harness.Grants
	Inbox      harness.Inbox
	Ledger     harness.Ledger
	Limits     harness.Limits
	Artifacts  harness.Artifacts
	Spending   harness.Spending
	// Reopen opens the same store again as another process would after the
	// first one died. The stores that it is called on are not used any more.
	Reopen func() Stores
	// Clock is the clock that the stores were opened with.
	Clock *Clock
}

// Clock is a clock that moves when it is told to. It is safe for concurrent
// use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at an arbitrary time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock, also backwards.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Open opens empty stores for one test.
type Open func(t *testing.T) Stores

// run runs one case with stores of its own.
func run(t *testing.T, name string, open Open, test func(t *testing.T, s Stores)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, open(t))
	})
}

// ctx is the context of a test.
func ctx(t *testing.T) context.Context { return t.Context() }

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value returns v unless there was an error.
func value[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// wantErr ends the test unless err is target.
func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error %v, want %v", err, target)
	}
}

// equal compares by JSON, which is what stores keep.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	g, w := asJSON(t, got), asJSON(t, want)
	if g != w {
		t.Fatalf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}

// acquire takes a session.
func acquire(t *testing.T, s Stores, id harness.SessionID) harness.Lease {
	t.Helper()
	return value[harness.Lease](t)(s.Owners.Acquire(ctx(t), harness.Session{ID: id}, harness.Holder{Purpose: "test"}))
}

// say appends messages, from the user and the assistant in turn.
func say(t *testing.T, s Stores, l harness.Lease, texts ...string) []harness.Record {
	t.Helper()
	var records []harness.Record
	for i, text := range texts {
		m := harness.UserText(text)
		if i%2 == 1 {
			m = harness.AssistantText(text)
		}
		records = append(records, harness.Record{Message: &m})
	}
	return value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, records...))
}

// texts returns what the records say.
func texts(records []harness.Record) string {
	var all []string
	for _, r := range records {
		if r.Message != nil {
			all = append(all, r.Message.Text())
		}
	}
	return strings.Join(all, " | ")
}

// tail returns what is said on the branch on screen.
func tail(t *testing.T, s Stores, id harness.SessionID) string {
	t.Helper()
	return texts(value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), id, 0, 0)))
}

// ids returns the ids of a list, in its order.
func ids(list []harness.Session) string {
	var all []string
	for _, s := range list {
		all = append(all, string(s.ID))
	}
	return strings.Join(all, " ")
}

func list(t *testing.T, s Stores, f harness.SessionFilter) string {
	t.Helper()
	return ids(value[[]harness.Session](t)(s.Sessions.List(ctx(t), f)))
}

func ptr[T any](v T) *T { return &v }

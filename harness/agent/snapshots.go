package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// Snapshots returns a [Store] that keeps each conversation as a snapshot in
// store, a directory, object store or whatever its owner likes. Every message is
// in the store before the turn goes on, the user's before it is sent; usage and
// the state of extensions after the turn at the latest.
//
// Each step of a turn writes the whole document: the cost grows with the
// conversation, about 1 MB at a thousand messages. A database keeps long ones at
// a cost that does not.
//
// A conversation has one writer at a time. In one process a second opening is a
// [*harness.HeldError]; of several processes the first to write wins, and any
// other gets [harness.ErrLost] from then on and must open the conversation again.
// Nothing is overwritten unseen; [snapshot.Writer] tells of stores of which that
// is only nearly true. What tools keep apart is in the same place if their set's
// Artifacts is a [snapshot.Artifacts] of store; one that cannot be read back is
// refused by [Open].
func Snapshots(store snapshot.Store) Store {
	return &snapshots{store: store, held: map[harness.SessionID]bool{}}
}

type snapshots struct {
	store snapshot.Store
	mu    sync.Mutex
	held  map[harness.SessionID]bool
}

// Open implements [Store].
func (s *snapshots) Open(ctx context.Context, id harness.SessionID) (Log, error) {
	if s.store == nil {
		return nil, errNoStore
	}
	if !s.hold(id) {
		return nil, &harness.HeldError{Session: id, Holder: harness.Holder{PID: os.Getpid(), Purpose: "library"}}
	}
	d, w, err := snapshot.Begin(ctx, s.store, string(id))
	if err != nil {
		s.release(id)
		return nil, err
	}
	return &snapshotLog{of: s, writer: w, doc: d}, nil
}

// hold reports whether the caller may open a conversation, and nobody else then.
func (s *snapshots) hold(id harness.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[id] {
		return false
	}
	s.held[id] = true
	return true
}

func (s *snapshots) release(id harness.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, id)
}

// snapshotLog is one conversation that is open.
type snapshotLog struct {
	of     *snapshots
	mu     sync.Mutex
	writer *snapshot.Writer
	// doc is what is stored. What its records hold is never changed.
	doc    snapshot.Document
	closed bool
}

var _ Keeper = (*snapshotLog)(nil)

// Tail implements [Log].
func (l *snapshotLog) Tail(ctx context.Context, limit int) ([]harness.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	branch := l.doc.Branch()
	if n := len(branch); limit > 0 && n > limit {
		branch = branch[n-limit:]
	}
	return copies(branch)
}

// Append implements [Log].
func (l *snapshotLog) Append(ctx context.Context, records ...harness.Record) ([]harness.Record, error) {
	records, err := copies(records)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.doc
	stored := d.Append(records...)
	if n := len(stored); n > 0 {
		d.Saved = stored[n-1].At
		if d.Created.IsZero() {
			d.Created = stored[0].At
		}
	}
	if err := l.save(ctx, d); err != nil {
		return nil, err
	}
	return copies(stored)
}

// Document implements [Documented].
func (l *snapshotLog) Document(context.Context) (snapshot.Document, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doc, nil
}

// Save implements [Keeper].
func (l *snapshotLog) Save(ctx context.Context, d snapshot.Document) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.save(ctx, d)
}

func (l *snapshotLog) save(ctx context.Context, d snapshot.Document) error {
	if l.closed {
		return harness.ErrClosed
	}
	if err := l.writer.Save(ctx, d); err != nil {
		return err
	}
	l.doc = d
	return nil
}

// Get implements [ArtifactReader].
func (l *snapshotLog) Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error) {
	return snapshot.Artifacts{Store: l.of.store}.Get(ctx, session, sha256)
}

// Close implements [Log].
func (l *snapshotLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.of.release(l.doc.ID)
	}
	return nil
}

// copies returns records as they come back from a file.
func copies(records []harness.Record) ([]harness.Record, error) {
	if len(records) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("copy %d records: %w", len(records), err)
	}
	all := make([]harness.Record, 0, len(records))
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("copy %d records: %w", len(records), err)
	}
	return all, nil
}

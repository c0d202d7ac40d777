package bolt

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/snapshot"
)

// Conversations is an [agent.Store] on a database: the conversations are those
// that the chat shows, and an agent that has one open owns it.
type Conversations struct {
	db    *DB
	close bool
}

var (
	_ agent.Store          = (*Conversations)(nil)
	_ agent.Documented     = (*openLog)(nil)
	_ agent.ArtifactReader = (*openLog)(nil)
)

// OpenConversations opens the conversations in a directory, which is made if it
// is missing. Close it after the agents that use it. A blank directory is an
// error.
func OpenConversations(dir string) (*Conversations, error) {
	if strings.TrimSpace(dir) == "" {
		return nil, errors.New("open conversations: the directory is blank; name one")
	}
	db, err := Open(filepath.Join(dir, FileName), Options{Purpose: "library"})
	if err != nil {
		return nil, err
	}
	return &Conversations{db: db, close: true}, nil
}

// Conversations returns the conversations of d, which stays the caller's.
func (d *DB) Conversations() *Conversations { return &Conversations{db: d} }

// Artifacts returns what keeps the files and long results of the conversations; it
// is what the Artifacts of a tool set may be.
func (c *Conversations) Artifacts() *Artifacts { return c.db.Artifacts() }

// Close closes the database if OpenConversations opened it. It is idempotent.
func (c *Conversations) Close() error {
	if !c.close {
		return nil
	}
	return c.db.Close()
}

// Open implements [agent.Store].
func (c *Conversations) Open(ctx context.Context, id harness.SessionID) (agent.Log, error) {
	lease, err := c.db.Owners().Acquire(ctx, harness.Session{ID: id}, c.db.self)
	if err != nil {
		return nil, err
	}
	return &openLog{c.db, lease}, nil
}

// openLog is one conversation that an agent owns.
type openLog struct {
	db    *DB
	lease harness.Lease
}

// Tail implements [agent.Log].
func (l *openLog) Tail(ctx context.Context, limit int) ([]harness.Record, error) {
	return l.db.Transcript().Tail(ctx, l.lease.Session, 0, limit)
}

// Append implements [agent.Log]. What an answer used is booked to the session and
// the day with it, as the journal does for runs.
func (l *openLog) Append(ctx context.Context, records ...harness.Record) ([]harness.Record, error) {
	return l.db.Transcript().append(ctx, l.lease, records, func(s *session, r harness.Record) error {
		if r.Message == nil || r.Message.Usage == nil {
			return nil
		}
		s.info.Usage = s.info.Usage.Add(*r.Message.Usage)
		return s.t.addUsage(r.Message.Model, *r.Message.Usage)
	})
}

// Document implements [agent.Documented]: a snapshot has all branches.
func (l *openLog) Document(ctx context.Context) (snapshot.Document, error) {
	return snapshot.Of(ctx, l.db.Sessions(), l.db.Transcript(), l.lease.Session)
}

// Get implements [agent.ArtifactReader]: the bytes of files are apart from the
// messages.
func (l *openLog) Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error) {
	return l.db.Artifacts().Get(ctx, session, sha256)
}

// Close implements [agent.Log].
func (l *openLog) Close() error {
	return l.db.Owners().Release(context.Background(), l.lease)
}

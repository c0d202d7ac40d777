package harness

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// TitleBy says who gave a session its title. A later, lesser one never
// replaces an earlier, greater one.
type TitleBy string

// The givers of titles, least first.
const (
	TitleByWords TitleBy = "words"
	TitleByModel TitleBy = "model"
	TitleByUser  TitleBy = "user"
)

// Session is one conversation as lists show it.
type Session struct {
	ID      SessionID `json:"id"`
	Title   string    `json:"title,omitempty"`
	TitleBy TitleBy   `json:"title_by,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Pinned  bool      `json:"pinned,omitempty"`
	// Dir is the working directory in which it was begun: a filter, not a key.
	Dir string `json:"dir,omitempty"`
	// TypedAs is the spelling that first made the id, if it was sanitised.
	TypedAs string    `json:"typed_as,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Records is the number of the last record; Messages counts the message
	// records among them, on all branches.
	Records  int `json:"records"`
	Messages int `json:"messages"`
	// Head is the record at which the branch on screen ends.
	Head int `json:"head"`
	// Parent is set in forks: the record after which they go their own way.
	Parent *Origin `json:"parent,omitempty"`
	// Inherited counts the messages that a fork has of its parents. Records and
	// Messages do not.
	Inherited int `json:"inherited,omitempty"`
	// PinRecords counts the [RecordPin] records of the log, on all branches, and
	// in a fork those of its parents: without any, no message is pinned.
	PinRecords int `json:"pin_records,omitempty"`
	// Generation is the ownership counter; see [Owners].
	Generation int `json:"generation"`
	// Model is set for this session by a person; empty means the default.
	Model string `json:"model,omitempty"`
	// System is the session's own system prompt; empty means the default.
	System string `json:"system,omitempty"`
	// NoMemory says that in this session nothing is recalled, saved or distilled.
	NoMemory bool `json:"no_memory,omitempty"`
	// Distilled is the record up to which the conversation was read for facts
	// worth keeping; see [Inbox].
	Distilled int   `json:"distilled,omitempty"`
	Usage     Usage `json:"usage"`
	// OpenRun is the session's run that has not ended, if there is one.
	OpenRun RunID `json:"open_run,omitempty"`
	// OpenStatus is that run's status as it was stored last, empty in sessions
	// of older versions.
	OpenStatus RunStatus `json:"open_status,omitempty"`
	// Preview is the start of the last message's text.
	Preview string     `json:"preview,omitempty"`
	Deleted *time.Time `json:"deleted,omitempty"`
	// HasDraft says that unsent text waits. It is filled in by lists.
	HasDraft bool `json:"has_draft,omitempty"`
	// Owner is who has the session open now, nil if nobody. It is filled in
	// by lists.
	Owner *Holder `json:"owner,omitempty"`
}

// Origin is a record in a session.
type Origin struct {
	Session SessionID `json:"session"`
	Record  int       `json:"record"`
}

// SessionFilter chooses sessions for a list. The zero value is all that are
// not deleted.
type SessionFilter struct {
	// Dir keeps the sessions begun in this directory.
	Dir string
	// Query keeps those whose title, id or tags hold all of its words, case
	// and diacritics folded.
	Query string
	// Deleted lists the trash instead.
	Deleted bool
	// Limit bounds the list; 0 means all.
	Limit int
}

// SessionEdit changes what a person may change of a session. Nil fields stay.
type SessionEdit struct {
	Title   *string
	TitleBy TitleBy
	Tags    *[]string
	Pinned  *bool
	Model   *string
	System  *string
	// NoMemory turns long-term memory off for the session. Once it is on again,
	// what was said until then counts as distilled.
	NoMemory *bool
}

// Sessions finds and describes conversations. All methods are safe for
// concurrent use, also from several processes.
type Sessions interface {
	// Get returns a session that is not deleted, or [ErrNotFound].
	Get(ctx context.Context, id SessionID) (Session, error)
	// List returns the matching sessions, pinned first, then last used first.
	List(ctx context.Context, f SessionFilter) ([]Session, error)
	// Edit changes a session's description. Whoever asks may; it does not need
	// a lease. An edit of the title by a lesser giver than the present one
	// leaves the title as it is.
	Edit(ctx context.Context, id SessionID, e SessionEdit) (Session, error)
	// Delete marks the session deleted; Restore brings it back exactly.
	Delete(ctx context.Context, id SessionID) error
	Restore(ctx context.Context, id SessionID) error
	// Import stores a whole conversation under s.ID in one transaction. If a
	// session of that id exists with equal content nothing is written and
	// existed is true; with other content the import gets the first free id
	// of the form "id-2". Records that are numbered from 1 are a log with its
	// branches, of which s.Head ends the one on screen, 0 the last. Of any others
	// Seq and Prev are assigned in order. With it come the artifacts that the
	// messages name and have no Data of.
	Import(ctx context.Context, s Session, records []Record, artifacts ...[]byte) (stored Session, existed bool, err error)
	// Fork makes a session that goes its own way after a record of session id, or
	// of one that it was forked from; the zero Origin is the end of the branch on
	// screen. Nothing is copied but the description, of which the fields set in s
	// win. No s.ID gives a fresh one; [ErrExists] if it is taken, [ErrNotFound] if
	// there is no such record.
	Fork(ctx context.Context, id SessionID, of Origin, s Session) (Session, error)
}

// Transcript reads and extends the logs of sessions. What was said is kept as it
// was said, also a password; see [Facts] for what is not.
type Transcript interface {
	// Tail returns the last records of the branch that ends at from, oldest
	// first; from 0 means the session's head. At most limit records are
	// returned, all if limit is 0. A session that does not exist yet has no
	// records. A fork goes on in its parent, with [Record.In] set.
	Tail(ctx context.Context, id SessionID, from, limit int) ([]Record, error)
	// Before returns the last records before a record on its branch, oldest
	// first; at most limit records, all if limit is 0. The record is one of
	// session id, for which of.Session may be empty, or of one that it was
	// forked from; any other is [ErrNotFound].
	Before(ctx context.Context, id SessionID, of Origin, limit int) ([]Record, error)
	// Log returns the records of a session with numbers above after, on all
	// branches, in the order in which they were stored; at most limit records,
	// all if limit is 0. What a fork has of its parent is not among them.
	Log(ctx context.Context, id SessionID, after, limit int) ([]Record, error)
	// Record returns one record, on whatever branch it is, or [ErrNotFound].
	Record(ctx context.Context, id SessionID, seq int) (Record, error)
	// Append adds records after the session's head and moves the head, in one
	// transaction that is on disk when it returns; the first append makes the
	// session. It returns the records with Seq and Prev assigned. A lost
	// lease writes nothing and returns [ErrLost].
	Append(ctx context.Context, l Lease, records ...Record) ([]Record, error)
	// MoveHead makes record seq of the session's own log its head; 0 is the place
	// before the first one, in a fork where it leaves its parent.
	MoveHead(ctx context.Context, l Lease, seq int) error
}

// Holder says who has something, in words for people.
type Holder struct {
	PID      int       `json:"pid"`
	Host     string    `json:"host,omitempty"`
	Terminal string    `json:"terminal,omitempty"`
	Purpose  string    `json:"purpose,omitempty"`
	Since    time.Time `json:"since"`
}

// String names the holder, such as "pid 4411 on pts/3 (chat)".
func (h Holder) String() string {
	s := fmt.Sprintf("pid %d", h.PID)
	if h.Terminal != "" {
		s += " on " + h.Terminal
	}
	if h.Purpose != "" {
		s += " (" + h.Purpose + ")"
	}
	return s
}

// Lease is the right to write to one session. Every write transaction checks
// its generation against the stored one.
type Lease struct {
	Session    SessionID
	Generation int
	Holder     Holder
	// Meta describes a session that does not exist yet: what its first write
	// stores (Dir, TypedAs, Title, Model, System).
	Meta Session
}

// HeldError says that a living process owns the session.
type HeldError struct {
	Session SessionID
	// Run, if not empty, is the one run of the session that the process drives; the
	// session itself may be anybody's.
	Run    RunID
	Holder Holder
}

// Error implements error.
func (e *HeldError) Error() string {
	if e.Run != "" {
		return fmt.Sprintf("run %s is driven by %s", e.Run, e.Holder)
	}
	return fmt.Sprintf("session %s is open in %s", e.Session, e.Holder)
}

// AsHeld returns the holder if err says that a session is held.
func AsHeld(err error) (Holder, bool) {
	var held *HeldError
	if errors.As(err, &held) {
		return held.Holder, true
	}
	return Holder{}, false
}

// Owners gives sessions to one writer at a time. Ownership is a generation in
// the session's record; an operating-system lock on a file of that generation
// only tells whether the owner lives.
type Owners interface {
	// Acquire takes a session that nobody living owns, at once. If a living
	// process owns it the error is a [*HeldError]. The session need not exist.
	// Of one that does, what a window shows first is read before anything is
	// written: if that is damaged the error is [ErrDamaged] and the store is
	// left as it is. So does Force.
	Acquire(ctx context.Context, meta Session, h Holder) (Lease, error)
	// Ask records the wish to have the session. The owner sees it in Asked,
	// checkpoints and calls Release; the asker then calls Acquire again.
	Ask(ctx context.Context, id SessionID, h Holder) error
	// Asked returns who asked for the session since l was acquired, if anybody.
	// It returns [ErrLost] if the lease was lost.
	Asked(ctx context.Context, l Lease) (Holder, bool, error)
	// Force takes the session from a living owner that is silent. Its next
	// write fails with [ErrLost].
	Force(ctx context.Context, meta Session, h Holder) (Lease, error)
	// Release gives the session back. Releasing a lost lease is no error.
	Release(ctx context.Context, l Lease) error
}

// Watcher tells of changes to the store by any process.
type Watcher interface {
	// Watch returns a channel that receives after the store changed, several
	// changes possibly as one, until ctx ends. It costs nothing while nothing
	// changes.
	Watch(ctx context.Context) (<-chan struct{}, error)
}

// Draft is the unsent text of one chat and the messages queued behind a run.
type Draft struct {
	Text string `json:"text"`
	// Edits is the message that Text is to take the place of, on a branch of
	// its own; nil if Text is a new message. Its session is empty where the
	// message is in the log of the session that the draft is of.
	Edits *Origin  `json:"edits,omitempty"`
	Queue []string `json:"queue,omitempty"`
	// Folds are the parts of Text that are shown folded, from one byte up to
	// another, and QueueFolds those of each message in Queue.
	Folds      [][2]int   `json:"folds,omitempty"`
	QueueFolds [][][2]int `json:"queue_folds,omitempty"`
	At         time.Time  `json:"at"`
}

// Drafts keeps what was typed and not sent. Saving an empty draft removes it.
type Drafts interface {
	Load(ctx context.Context, id SessionID) (Draft, error)
	// Save stores the draft of a session, or of a chat with this id that has
	// no message yet.
	Save(ctx context.Context, id SessionID, h Holder, d Draft) error
	// Adopt gives the newest draft of a chat without messages whose process
	// has ended to chat id, and returns it; an empty draft if there is none.
	Adopt(ctx context.Context, id SessionID, h Holder) (Draft, error)
}

// Prompts is the history of sent prompts over all sessions, as they were typed.
type Prompts interface {
	Add(ctx context.Context, id SessionID, text string) error
	// Recent returns up to limit prompts, newest first, those of session id
	// before the others; deleted sessions' prompts are left out.
	Recent(ctx context.Context, id SessionID, limit int) ([]string, error)
}

package harness

import (
	"context"
	"time"
)

// By says who wrote a note or a fact.
type By string

// The writers.
const (
	// ByYou is a person.
	ByYou By = "you"
	// ByModel is the model, on request.
	ByModel By = "model"
	// ByDistilled is the model, on its own after a turn.
	ByDistilled By = "distilled"
	// ByImport is an import.
	ByImport By = "import"
)

// FactState says whether a fact is used.
type FactState string

// The states of facts and notes.
const (
	// StateActive is recalled.
	StateActive FactState = "active"
	// StateOff is kept and not recalled.
	StateOff FactState = "off"
	// StateTrashed is forgotten: in no list, search, export or request, and
	// kept for 30 days to be restored.
	StateTrashed FactState = "trashed"
)

// Source is where a fact or note came from.
type Source struct {
	Session SessionID `json:"session,omitempty"`
	// Message is the record number of the message in that session.
	Message int    `json:"message,omitempty"`
	Quote   string `json:"quote,omitempty"`
	// Client is another agent that asked for it over MCP, by what it calls itself.
	Client string `json:"client,omitempty"`
	// Gone says that the session was deleted for good.
	Gone bool `json:"gone,omitempty"`
}

// Fact is one durable statement, recalled in every conversation.
type Fact struct {
	// ID is "f" and a number, never used again.
	ID       string    `json:"id"`
	Session  SessionID `json:"session,omitempty"`
	Text     string    `json:"text"`
	Category string    `json:"category,omitempty"`
	Tags     []string  `json:"tags,omitempty"`
	Source   Source    `json:"source"`
	By       By        `json:"by"`
	State    FactState `json:"state"`
	// Pinned facts go into every request.
	Pinned bool `json:"pinned,omitempty"`
	// Accepted says that what the model suggested was accepted: by a person, or
	// by the rule that they set for additions in their own words.
	Accepted   bool      `json:"accepted,omitempty"`
	Supersedes string    `json:"supersedes,omitempty"`
	Uses       int       `json:"uses,omitempty"`
	LastUsed   time.Time `json:"last_used,omitzero"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	// Revision counts the versions of the fact, from 1.
	Revision int `json:"revision"`
}

// Note is a titled, tagged piece of Markdown.
type Note struct {
	// ID is "n" and a number, never used again.
	ID       string    `json:"id"`
	Session  SessionID `json:"session,omitempty"`
	Title    string    `json:"title"`
	Tags     []string  `json:"tags,omitempty"`
	Body     string    `json:"body"`
	Source   Source    `json:"source"`
	By       By        `json:"by"`
	State    FactState `json:"state"`
	Pinned   bool      `json:"pinned,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Revision int       `json:"revision"`
}

// DefaultCategory is the category of a fact that was given none.
const DefaultCategory = "general"

// MemoryFilter chooses facts or notes. The zero value is all that are active,
// last changed first.
type MemoryFilter struct {
	// Query ranks by match and leaves out what does not match.
	Query    string
	Category string
	Tag      string
	// State chooses another state than active; "*" means all but trashed.
	State FactState
	// Pinned keeps what goes into every request.
	Pinned bool
	// Session puts its own notes first in a ranking.
	Session SessionID
	Limit   int
}

// StateAny in a [MemoryFilter] means active and off.
const StateAny FactState = "*"

// FactEdit changes a fact. Nil fields stay. Every edit is a new revision.
type FactEdit struct {
	Text     *string
	Category *string
	Tags     *[]string
	Pinned   *bool
	State    *FactState
}

// NoteEdit changes a note. Nil fields stay. Every edit is a new revision.
type NoteEdit struct {
	Title  *string
	Body   *string
	Tags   *[]string
	Pinned *bool
	State  *FactState
}

// Facts keeps facts. A key makes a save idempotent: a second save with the
// same non-empty key returns the first one's fact.
//
// No two active facts have the same text, apart from case, white space, Unicode
// form and final punctuation.
//
// One rule says where a key or password may be. Conversations and the history of
// prompts are kept as they were typed, also those that are imported. Facts, notes
// and logs never hold one, whoever writes them: what [Secret] finds in new text
// is refused with an [ErrSecret], and nothing is stored; a model may not keep what
// [Confided] finds either. The caller keeps what
// was typed, so that the person can take the key out and save the rest.
type Facts interface {
	// Save stores a new fact and returns it with its id. If an active fact
	// has the same text, that one is returned instead and created is false.
	Save(ctx context.Context, f Fact, key string) (stored Fact, created bool, err error)
	// Edit makes the next revision. What would make an active fact the same as
	// another active one, be it the new text or the new state, is refused with
	// an [ErrExists] that names the other, and nothing changes. A fact in the
	// trash is [ErrNotFound], unless the edit takes it out.
	Edit(ctx context.Context, id string, e FactEdit) (Fact, error)
	// Get returns the fact in whatever state it is, or [ErrNotFound].
	Get(ctx context.Context, id string) (Fact, error)
	List(ctx context.Context, f MemoryFilter) ([]Fact, error)
	// Forget moves the fact to the trash.
	Forget(ctx context.Context, id string) error
	// Restore brings a fact back as it was. If an active fact has the same text
	// by now, that one is returned, which its id shows, and the forgotten one
	// stays in the trash with all its revisions.
	Restore(ctx context.Context, id string) (Fact, error)
	// History returns all revisions, oldest first.
	History(ctx context.Context, id string) ([]Fact, error)
	// Used counts a use of each fact.
	Used(ctx context.Context, ids ...string) error
}

// Notes keeps notes, as [Facts] keeps facts, and refuses secrets as it does. Two
// notes may be the same.
type Notes interface {
	Save(ctx context.Context, n Note, key string) (Note, error)
	Edit(ctx context.Context, id string, e NoteEdit) (Note, error)
	Get(ctx context.Context, id string) (Note, error)
	List(ctx context.Context, f MemoryFilter) ([]Note, error)
	Forget(ctx context.Context, id string) error
	Restore(ctx context.Context, id string) (Note, error)
	History(ctx context.Context, id string) ([]Note, error)
}

// Hit is one found message.
type Hit struct {
	Session SessionID `json:"session"`
	// Message is the record number.
	Message int     `json:"message"`
	Score   float64 `json:"score"`
	Excerpt string  `json:"excerpt"`
}

// Searcher finds messages of all sessions that are not deleted.
type Searcher interface {
	Search(ctx context.Context, query string, limit int) ([]Hit, error)
}

package harness

import (
	"context"
	"strings"
)

// Remote is what an [Engine] offers besides if its runs may be driven by other
// processes, on this machine or elsewhere. What such a run did enters the
// conversation when the owner of its session hands it over.
type Remote interface {
	// Fetch hands over to the session of the lease whatever its runs did that it
	// does not have yet, and acknowledges that. Everything is stored once, however
	// often it is called and wherever it is cut off. It returns what was handed
	// over, also with an error: an engine that cannot be reached keeps its part.
	Fetch(ctx context.Context, l Lease) (Fetched, error)
	// Attach follows a run, wherever it is driven, and hands over what it does as
	// it comes. With the zero lease it only follows: its events have no record
	// numbers.
	Attach(ctx context.Context, l Lease, id RunID) (RunHandle, error)
	// Leave is [Engine].Pause for a run that this process drives. One that is
	// driven elsewhere goes on; it is only followed no more.
	Leave(ctx context.Context, id RunID) error
}

// Fetched is what a session was handed over.
type Fetched struct {
	// Entries counts the journal entries, Runs the runs that they belong to.
	Entries, Runs int
	// Lost says of effects on the memory that could not be carried out why, in
	// words for people: a fact to be changed was deleted meanwhile.
	Lost []string
}

// Away reports whether the run is kept by an engine outside of its session's
// store: such an engine is named by an address.
func (r Run) Away() bool { return strings.Contains(r.Engine, ":") }

// EffectKind says what an [Effect] does.
type EffectKind string

// The kinds of effects.
const (
	EffectSaveFact   EffectKind = "save_fact"
	EffectEditFact   EffectKind = "edit_fact"
	EffectForgetFact EffectKind = "forget_fact"
	EffectSaveNote   EffectKind = "save_note"
	EffectEditNote   EffectKind = "edit_note"
	EffectForgetNote EffectKind = "forget_note"
	EffectSuggest    EffectKind = "suggest"
	// EffectUsed counts a use of the facts IDs.
	EffectUsed EffectKind = "used"
)

// Effect is a change to the long-term memory that a tool made in a process that
// does not have the store of the run's session. It is carried out when the
// entry that holds it is handed over, in the same transaction, so exactly once.
type Effect struct {
	// Key is the execution key of the call that made it, with a number behind it
	// if the call made several.
	Key  string     `json:"key"`
	Kind EffectKind `json:"kind"`
	// IDs are the facts or notes that it is about. One that the same run saved is
	// named by [NewIDPrefix] and the Key of the effect that saved it.
	IDs        []string    `json:"ids,omitempty"`
	Fact       *Fact       `json:"fact,omitempty"`
	FactEdit   *FactEdit   `json:"fact_edit,omitempty"`
	Note       *Note       `json:"note,omitempty"`
	NoteEdit   *NoteEdit   `json:"note_edit,omitempty"`
	Suggestion *Suggestion `json:"suggestion,omitempty"`
	// Failed says in a sentence for people why it was left out. It is filled in by
	// the store that has the conversation, in the entry that appending returns, and
	// never stored.
	Failed string `json:"failed,omitempty"`
}

// NewIDPrefix begins the name of a fact or note that has no id yet, because the
// store that will give it one is elsewhere.
const NewIDPrefix = "new-"

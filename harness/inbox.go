package harness

import (
	"context"
	"time"
)

// SuggestionKind says what a [Suggestion] would do.
type SuggestionKind string

// The kinds of suggestions.
const (
	// SuggestAdd keeps a new fact.
	SuggestAdd SuggestionKind = "add"
	// SuggestChange makes the next revision of a fact.
	SuggestChange SuggestionKind = "change"
	// SuggestRetire forgets a fact that no longer holds.
	SuggestRetire SuggestionKind = "retire"
)

// Suggestion is what a model would like to be remembered, changed or forgotten,
// and what no person has agreed to yet. It is recalled in no conversation. Its
// text comes from a model and is not safe to print.
type Suggestion struct {
	// ID is "i" and a number, never used again.
	ID   string         `json:"id"`
	Kind SuggestionKind `json:"kind"`
	// Fact is the fact to change or retire, and Revision the version of it that
	// was looked at. Of a fact that has changed since, the suggestion is stale.
	Fact     string `json:"fact,omitempty"`
	Revision int    `json:"revision,omitempty"`
	// Text, Category and Tags are what the fact would say. A retirement has none;
	// in a change what is empty stays as it is.
	Text     string   `json:"text,omitempty"`
	Category string   `json:"category,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	// Against are facts that cannot be true together with it.
	Against []string `json:"against,omitempty"`
	// Why is the model's reason in one sentence.
	Why    string `json:"why,omitempty"`
	Source Source `json:"source"`
	// Own says that the source is what the person typed, and that nothing else
	// had entered that turn.
	Own bool `json:"own,omitempty"`
	// By is [ByDistilled], or [ByModel] for what the model was asked to keep
	// while nobody could be asked.
	By      By        `json:"by"`
	Created time.Time `json:"created"`
	// Stale says that the fact says something else by now than what was looked at,
	// so that it cannot be accepted. Get and List fill it in; it is never stored.
	Stale bool `json:"stale,omitempty"`
}

// On returns what the fact would say if the suggestion were accepted. One that
// retires it changes no word.
func (s Suggestion) On(f Fact) Fact {
	if s.Text != "" {
		f.Text = s.Text
	}
	if s.Category != "" {
		f.Category = s.Category
	}
	if len(s.Tags) > 0 {
		f.Tags = s.Tags
	}
	return f
}

// Harvest is what was found worth keeping in a part of a conversation.
type Harvest struct {
	// From and To bound the records that were read: those after From, up to To.
	From, To int
	// Model and Usage are what the reading cost.
	Model string
	Usage Usage
	// Suggestions are without id; their number in the harvest makes each happen
	// once.
	Suggestions []Suggestion
}

// InboxFilter chooses suggestions. The zero value is all, oldest first.
type InboxFilter struct {
	// Fact keeps those about this fact, also those that stand against it.
	Fact string
	// Limit bounds the list; 0 means all.
	Limit int
}

// Inbox keeps suggestions until a person decides. Methods are safe for
// concurrent use, also from several processes.
//
// What was forgotten is honoured: a suggestion about a fact that is not active
// is in no list, and neither is an addition that says the same as a fact in the
// trash, unless a person put it back. Get and List name no fact in the trash as
// one that a suggestion stands against.
type Inbox interface {
	// Put files a suggestion. The same key again returns the first one. Where an
	// active fact already says it, or a suggestion that waits does, or one that
	// was refused in the last 30 days did, nothing is filed and filed is false.
	// Text with a key or password in it is refused with an [ErrSecret]; a fact
	// that does not exist, or is not active, is [ErrNotFound].
	Put(ctx context.Context, s Suggestion, key string) (stored Suggestion, filed bool, err error)
	// Deliver files a harvest and moves the session's [Session.Distilled] from
	// h.From to h.To, in one transaction. It returns those that were filed; ones
	// that Put would not file or would refuse are left out. [ErrStale] if the
	// session was distilled to another record by now, [ErrLost] if the lease was
	// lost: then nothing is stored.
	Deliver(ctx context.Context, l Lease, h Harvest) ([]Suggestion, error)
	// Get returns a suggestion that waits, or [ErrNotFound].
	Get(ctx context.Context, id string) (Suggestion, error)
	List(ctx context.Context, f InboxFilter) ([]Suggestion, error)
	// Accept carries a suggestion out, as e changes it, and takes it from the
	// inbox, in one transaction. It returns the fact, of which the suggestion is
	// the source: in the trash if it was retired, that of the same text if there
	// is one. [ErrStale] if the fact is not in the version that was looked at.
	Accept(ctx context.Context, id string, e FactEdit) (Fact, error)
	// Refuse takes a suggestion from the inbox. It is not made again for 30 days.
	Refuse(ctx context.Context, id string) error
	// Reopen puts back a suggestion that was accepted or refused in the last 30
	// days, as it was, or returns [ErrNotFound]. What accepting it did stays:
	// that is undone with the fact.
	Reopen(ctx context.Context, id string) (Suggestion, error)
}

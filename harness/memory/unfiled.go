package memory

import (
	"context"

	"cairn/harness"
)

// Unfiled returns stores that save to no session: the conversation that they are
// used in leaves nothing behind, its id neither. A nil store stays nil.
func Unfiled(facts harness.Facts, notes harness.Notes, inbox harness.Inbox) (harness.Facts, harness.Notes, harness.Inbox) {
	if facts != nil {
		facts = unfiledFacts{facts}
	}
	if notes != nil {
		notes = unfiledNotes{notes}
	}
	if inbox != nil {
		inbox = unfiledInbox{inbox}
	}
	return facts, notes, inbox
}

type (
	unfiledFacts struct{ harness.Facts }
	unfiledNotes struct{ harness.Notes }
	unfiledInbox struct{ harness.Inbox }
)

// Save implements [harness.Facts].
func (u unfiledFacts) Save(ctx context.Context, f harness.Fact, key string) (harness.Fact, bool, error) {
	f.Session, f.Source.Session, f.Source.Message = "", "", 0
	return u.Facts.Save(ctx, f, key)
}

// Save implements [harness.Notes].
func (u unfiledNotes) Save(ctx context.Context, n harness.Note, key string) (harness.Note, error) {
	n.Session, n.Source.Session, n.Source.Message = "", "", 0
	return u.Notes.Save(ctx, n, key)
}

// Put implements [harness.Inbox].
func (u unfiledInbox) Put(ctx context.Context, s harness.Suggestion, key string) (harness.Suggestion, bool, error) {
	s.Source.Session, s.Source.Message = "", 0
	return u.Inbox.Put(ctx, s, key)
}

package mem

import (
	"context"

	"cairn/harness"
	"cairn/storage/index"
	"cairn/storage/internal/rules"
)

var _ harness.Searcher = (*Searcher)(nil)

// Searcher returns the view that implements [harness.Searcher].
func (st *Store) Searcher() *Searcher { return &Searcher{st} }

// Searcher finds messages by looking at all of them.
type Searcher struct{ st *Store }

// Search implements [harness.Searcher].
func (v *Searcher) Search(ctx context.Context, query string, limit int) ([]harness.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q := index.NewQuery(query)
	if q.Empty() {
		return nil, nil
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	found, err := index.Search(q, nil, v.st.documents(), limit, index.Options{Text: v.st.messageText, Now: v.st.now()})
	if err != nil {
		return nil, err
	}
	return rules.Hits(q, found, v.st.messageText)
}

// documents returns all messages that can be found. The store is locked.
func (st *Store) documents() []index.Doc {
	var docs []index.Doc
	for id, have := range st.sessions {
		if have.info.Deleted != nil {
			continue
		}
		for _, r := range have.records {
			if d, ok := rules.Document(id, r); ok {
				docs = append(docs, d)
			}
		}
	}
	return docs
}

// messageText returns the text of a message that exists. The store is locked.
func (st *Store) messageText(session string, message int) (string, error) {
	return st.sessions[harness.SessionID(session)].records[message-1].Message.Text(), nil
}

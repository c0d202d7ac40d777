package mem

import (
	"context"

	"cairn/harness"
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
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	s := rules.NewSearch(query, limit)
	if s.Empty() {
		return nil, nil
	}
	for id, have := range v.st.sessions {
		if have.info.Deleted != nil {
			continue
		}
		for _, r := range have.records {
			s.Look(id, r)
		}
	}
	return s.Hits(), nil
}

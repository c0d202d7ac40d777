package rules

import (
	"cmp"
	"slices"

	"cairn/harness"
	"cairn/storage/index"
)

// excerptLength bounds an excerpt in characters.
const excerptLength = 200

// Search collects the best messages for a query.
type Search struct {
	query index.Query
	limit int
	hits  []harness.Hit
}

// NewSearch prepares a search for at most limit hits; 0 means all.
func NewSearch(query string, limit int) *Search {
	return &Search{query: index.NewQuery(query), limit: limit}
}

// Empty reports whether nothing can be found.
func (s *Search) Empty() bool { return s.query.Empty() }

// Look adds the record to the hits if it matches.
func (s *Search) Look(id harness.SessionID, r harness.Record) {
	if r.Kind != harness.RecordMessage || r.Message == nil || r.Message.Mark == harness.MarkNotice {
		return
	}
	text := r.Message.Text()
	score := s.query.Score(text)
	if score == 0 {
		return
	}
	s.hits = append(s.hits, harness.Hit{Session: id, Message: r.Seq, Score: score, Excerpt: s.query.Excerpt(text, excerptLength)})
	if s.limit > 0 && len(s.hits) >= 4*s.limit+64 {
		s.rank()
	}
}

// Hits returns what was found, best first.
func (s *Search) Hits() []harness.Hit {
	s.rank()
	return s.hits
}

// rank sorts the hits and keeps the best.
func (s *Search) rank() {
	slices.SortStableFunc(s.hits, func(a, b harness.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Message, b.Message))
	})
	if s.limit > 0 && len(s.hits) > s.limit {
		s.hits = s.hits[:s.limit]
	}
}

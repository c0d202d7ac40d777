package rules

import (
	"cmp"
	"slices"

	"cairn/harness"
	"cairn/storage/index"
)

// excerptLength bounds an excerpt in characters.
const excerptLength = 200

// Document returns the record as search sees it, and false if it is none that
// can be found.
func Document(id harness.SessionID, r harness.Record) (index.Doc, bool) {
	if r.Kind != harness.RecordMessage || r.Message == nil || r.Message.Mark == harness.MarkNotice {
		return index.Doc{}, false
	}
	return index.Doc{Session: string(id), Message: r.Seq, Speaker: r.Message.Name, At: r.At, Text: r.Message.Text()}, true
}

// Hits returns what was found with an excerpt of each message's text.
func Hits(q index.Query, found []index.Match, text func(session string, message int) (string, error)) ([]harness.Hit, error) {
	hits := make([]harness.Hit, len(found))
	for i, m := range found {
		whole, err := text(m.Session, m.Message)
		if err != nil {
			return nil, err
		}
		hits[i] = harness.Hit{
			Session: harness.SessionID(m.Session), Message: m.Message,
			Score: m.Score, Excerpt: q.Excerpt(whole, excerptLength),
		}
	}
	return hits, nil
}

// Search collects the best messages for a query, each judged by itself.
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
	d, ok := Document(id, r)
	if !ok {
		return
	}
	score := s.query.Score(d.Text)
	if score == 0 {
		return
	}
	s.hits = append(s.hits, harness.Hit{Session: id, Message: r.Seq, Score: score, Excerpt: s.query.Excerpt(d.Text, excerptLength)})
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

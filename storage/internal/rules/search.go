package rules

import (
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

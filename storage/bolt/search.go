package bolt

import (
	"context"
	"errors"
	"log/slog"

	"cairn/harness"
	"cairn/storage/index"
	"cairn/storage/internal/rules"
)

var _ harness.Searcher = (*Searcher)(nil)

// scanBatch is how many records a search reads between two looks at the clock.
const scanBatch = 100

// Searcher returns the view that implements [harness.Searcher].
func (d *DB) Searcher() *Searcher { return &Searcher{d} }

// Searcher finds messages by the segments of the search index and by looking at
// those that are in none.
type Searcher struct{ d *DB }

// Search implements [harness.Searcher]. It finds what looking at all messages
// finds; damage of the search index makes it slower and nothing else.
func (v *Searcher) Search(ctx context.Context, query string, limit int) ([]harness.Hit, error) {
	q := index.NewQuery(query)
	if q.Empty() {
		return nil, ctx.Err()
	}
	l, err := v.d.lookup(ctx)
	if err != nil {
		return nil, err
	}
	matches, err := v.match(ctx, l, q, limit)
	if errors.Is(err, index.ErrSegment) {
		v.d.log.Warn("the search index is damaged; a search looks at all messages", slog.Any("error", err))
		if l, err = v.d.lookAtAll(ctx); err == nil {
			matches, err = v.match(ctx, l, q, limit)
		}
	}
	if err != nil {
		return nil, err
	}
	return v.hits(ctx, q, matches)
}

func (v *Searcher) match(ctx context.Context, l *lookup, q index.Query, limit int) ([]index.Match, error) {
	return index.Search(q, l.segments, nil, limit, index.Options{
		Now:  v.d.now(),
		Skip: func(_ int, session string) bool { return !l.found[harness.SessionID(session)] },
		Text: func(session string, message int) (text string, err error) {
			err = v.d.view(ctx, "search", func(t *tx) error {
				text, _, err = t.messageText(harness.SessionID(session), message)
				return err
			})
			return text, err
		},
	})
}

// messageText returns the text of a message; false if its session was deleted
// meanwhile.
func (t *tx) messageText(id harness.SessionID, seq int) (string, bool, error) {
	s, ok, err := t.find(id)
	if err != nil || !ok || s.info.Deleted != nil || seq > s.info.Records {
		return "", false, err
	}
	r, err := s.record(seq)
	if err != nil || r.Message == nil {
		return "", false, err
	}
	return r.Message.Text(), true, nil
}

// hits reads the excerpts of what was found.
func (v *Searcher) hits(ctx context.Context, q index.Query, matches []index.Match) ([]harness.Hit, error) {
	hits := make([]harness.Hit, 0, len(matches))
	err := v.d.inSlices(ctx, "search", func(t *tx) (bool, error) {
		if len(matches) == 0 {
			return true, nil
		}
		m := matches[0]
		text, ok, err := t.messageText(harness.SessionID(m.Session), m.Message)
		if ok {
			found, _ := rules.Hits(q, matches[:1], func(string, int) (string, error) { return text, nil })
			hits = append(hits, found...)
		}
		matches = matches[1:]
		return false, err
	})
	return hits, err
}

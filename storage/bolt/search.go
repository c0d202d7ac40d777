package bolt

import (
	"context"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Searcher = (*Searcher)(nil)

// scanBatch is how many records a search reads between two looks at the clock.
const scanBatch = 100

// Searcher returns the view that implements [harness.Searcher].
func (d *DB) Searcher() *Searcher { return &Searcher{d} }

// Searcher finds messages by looking at all of them, in slices.
type Searcher struct{ d *DB }

// Search implements [harness.Searcher].
func (v *Searcher) Search(ctx context.Context, query string, limit int) ([]harness.Hit, error) {
	s := rules.NewSearch(query, limit)
	if s.Empty() {
		return nil, ctx.Err()
	}
	sc := scan{found: s}
	err := v.d.view(ctx, "search", func(t *tx) (err error) {
		sc.sessions, err = t.recentIDs()
		return err
	})
	if err == nil {
		err = v.d.inSlices(ctx, "search", sc.step)
	}
	if err != nil {
		return nil, err
	}
	return s.Hits(), nil
}

// recentIDs returns the sessions that are not deleted, last used first.
func (t *tx) recentIDs() ([]harness.SessionID, error) {
	recent, err := t.root("recent")
	if err != nil {
		return nil, err
	}
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	keys, err := recent.keys(c.Sessions - c.Trashed)
	ids := make([]harness.SessionID, len(keys))
	for i, key := range keys {
		ids[len(keys)-1-i] = harness.SessionID(key[8:])
	}
	return ids, err
}

// scan is where a search stands.
type scan struct {
	found    *rules.Search
	sessions []harness.SessionID
	// seq is the last record of the first session that was looked at.
	seq int
}

// step looks at some records.
func (sc *scan) step(t *tx) (bool, error) {
	if len(sc.sessions) == 0 {
		return true, nil
	}
	s, ok, err := t.find(sc.sessions[0])
	if err != nil {
		return false, err
	}
	if !ok || s.info.Deleted != nil || sc.seq >= s.info.Records {
		sc.sessions, sc.seq = sc.sessions[1:], 0
		return false, nil
	}
	log, err := s.conversation()
	if err != nil {
		return false, err
	}
	for end := min(sc.seq+scanBatch, s.info.Records); sc.seq < end; sc.seq++ {
		r, err := s.recordIn(log, sc.seq+1)
		if err != nil {
			return false, err
		}
		sc.found.Look(s.info.ID, r)
	}
	return false, nil
}

package bolt

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"cairn/harness"
)

// coverage is which messages are in segments. It is not changed once it is made.
type coverage struct {
	// at is the state of the file it is of.
	at moment
	// sessions are those that are not deleted, last used first, and records is
	// how many records each has.
	sessions []harness.SessionID
	records  map[harness.SessionID]int
	// parts are the segments to search. No two cover the same record, and of
	// each session they cover records that are still those that were covered.
	parts []segment
	// all are the segments there are. useless are the names of those that
	// nobody can search, among them those that hold words of what was purged.
	all     []segment
	useless []string
	// closed says that the segments are not readable, so none can be added.
	closed bool
}

// span is a range of records.
type span struct {
	session  harness.SessionID
	from, to int
}

// without returns the coverage that is left without some of the segments, which
// are of no use.
func (c *coverage) without(names ...string) *coverage {
	if len(names) == 0 {
		return c
	}
	left := *c
	left.parts = slices.DeleteFunc(slices.Clone(c.parts), func(s segment) bool { return slices.Contains(names, s.name) })
	left.useless = slices.Concat(c.useless, names)
	slices.Sort(left.useless)
	left.useless = slices.Compact(left.useless)
	return &left
}

// rest returns the records that are in no segment.
func (c *coverage) rest() []span {
	ranges := map[harness.SessionID][]covered{}
	for _, s := range c.parts {
		for _, r := range s.Ranges {
			ranges[r.Session] = append(ranges[r.Session], r)
		}
	}
	var rest []span
	for _, id := range c.sessions {
		have := ranges[id]
		slices.SortFunc(have, func(a, b covered) int { return cmp.Compare(a.From, b.From) })
		next := 1
		for _, r := range have {
			if next < r.From {
				rest = append(rest, span{id, next, r.From - 1})
			}
			next = r.To + 1
		}
		if next <= c.records[id] {
			rest = append(rest, span{id, next, c.records[id]})
		}
	}
	return rest
}

// survey makes a coverage, some sessions in each transaction.
type survey struct {
	coverage
	searched *searched
	todo     []harness.SessionID
	// ranges are those of a session, each with the place of its segment.
	ranges map[harness.SessionID][]partRange
	// unfit are the segments that are not to be searched.
	unfit []string
}

type partRange struct {
	covered
	part int
}

// survey looks which messages are in segments. Damage of the segments is no
// error: no message is in one then.
func (d *DB) survey(ctx context.Context) (*coverage, error) {
	sv := survey{searched: &d.searched, ranges: map[harness.SessionID][]partRange{}}
	sv.records = map[harness.SessionID]int{}
	err := d.view(ctx, "look at the search index", func(t *tx) (err error) {
		sv.all, err = t.segments()
		return err
	})
	if errors.Is(err, harness.ErrDamaged) {
		d.log.Warn("the search index is not readable; a search looks at all messages", slog.Any("error", err))
		sv.all, sv.closed, err = nil, true, nil
	}
	if err == nil {
		err = d.view(ctx, "search", sv.begin)
	}
	if err == nil {
		err = d.inSlices(ctx, "search", sv.step)
	}
	if err != nil {
		return nil, err
	}
	return sv.without(sv.unfit...), nil
}

// begin sorts the ranges of the segments by session.
func (sv *survey) begin(t *tx) (err error) {
	if sv.at, err = t.moment(); err != nil {
		return err
	}
	format := segmentFormat()
	for _, s := range sv.all {
		switch {
		case s.broken != nil || s.Format < format:
			sv.useless = append(sv.useless, s.name)
			continue
		case s.Format > format:
			continue // somebody else can search it
		}
		for _, r := range s.Ranges {
			sv.ranges[r.Session] = append(sv.ranges[r.Session], partRange{r, len(sv.parts)})
		}
		sv.parts = append(sv.parts, s)
	}
	sv.todo, err = t.recentIDs()
	return err
}

// surveyBatch is how many sessions are looked at between two looks at the clock.
const surveyBatch = 50

// step looks at some sessions.
func (sv *survey) step(t *tx) (bool, error) {
	n := min(surveyBatch, len(sv.todo))
	for _, id := range sv.todo[:n] {
		if err := sv.look(t, id); err != nil {
			return false, err
		}
	}
	if sv.todo = sv.todo[n:]; len(sv.todo) > 0 {
		return false, nil
	}
	return true, sv.findGone(t)
}

// look compares a session with the ranges of it.
func (sv *survey) look(t *tx, id harness.SessionID) error {
	b, known, err := sv.searched.session(t, id)
	if err != nil || known == nil {
		return err
	}
	log, err := b.must("conversation")
	if err != nil {
		return err
	}
	sv.sessions, sv.records[id] = append(sv.sessions, id), known.records
	sv.compare(id, log, known.records)
	return nil
}

// compare finds the segments with ranges of a session that are not of the
// records it has: another session had the id, which the checksum tells.
func (sv *survey) compare(id harness.SessionID, log bucket, records int) {
	ranges := sv.ranges[id]
	delete(sv.ranges, id)
	slices.SortStableFunc(ranges, func(a, b partRange) int { return cmp.Compare(a.From, b.From) })
	next := 1
	for _, r := range ranges {
		if r.From < next || r.To > records || stampOf(log.b.Get(number(r.To))) != r.Sum {
			sv.unfit = append(sv.unfit, sv.parts[r.part].name)
			continue
		}
		next = r.To + 1
	}
}

// findGone finds the segments that hold words of sessions that are gone, as a
// cairn that knows no segments leaves them at a purge. What is in the trash is
// not gone, unless another session has its id by now.
func (sv *survey) findGone(t *tx) error {
	for id, ranges := range sv.ranges {
		s, ok, err := t.find(id)
		if err != nil && !errors.Is(err, harness.ErrDamaged) {
			return err
		}
		if err != nil {
			continue
		}
		if ok && !s.info.Hidden {
			log, err := s.conversation()
			if err != nil {
				continue // whoever reads it says so
			}
			sv.compare(id, log, s.info.Records)
			continue
		}
		for _, r := range ranges {
			sv.unfit = append(sv.unfit, sv.parts[r.part].name)
		}
	}
	return nil
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

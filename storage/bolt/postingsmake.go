package bolt

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"cairn/harness"
	"cairn/storage/index"
	"cairn/storage/internal/rules"
)

// cut is how the messages are cut into segments. What is less than least is not
// worth a segment, as it is looked through in some milliseconds; what is more
// than most goes into the next one, as others may not wait for long. Both are in
// messages and in bytes of text, whichever is reached first.
type cut struct {
	least, most           int
	leastBytes, mostBytes int
}

func usualCut() cut { return cut{least: 250, most: 2000, leastBytes: 128 << 10, mostBytes: 1 << 20} }

// errMoved means that somebody else changed the segments or what they are of.
var errMoved = errors.New("the search index was changed meanwhile")

// batch is what one segment is made of.
type batch struct {
	ranges []covered
	docs   []index.Doc
	// records is how many there are in the ranges, size the length of the text.
	records, size int
}

func (b *batch) worth(c cut) bool { return b.records >= c.least || b.size >= c.leastBytes }
func (b *batch) full(c cut) bool  { return b.records >= c.most || b.size >= c.mostBytes }

// maker makes segments of the records that are in none.
type maker struct {
	d    *DB
	cut  cut
	rest []span
	// have are the segments that this process knows.
	have []segment
}

func (d *DB) maker(c *coverage) *maker {
	return &maker{d: d, cut: d.cut, rest: c.rest(), have: slices.Clone(c.all)}
}

// spanned returns how many records there are in spans.
func spanned(spans []span) int {
	n := 0
	for _, s := range spans {
		n += s.to - s.from + 1
	}
	return n
}

// read takes the next messages from the rest.
func (m *maker) read(ctx context.Context) (*batch, error) {
	b := &batch{}
	var later []span
	err := m.d.inSlices(ctx, "search", func(t *tx) (bool, error) {
		switch {
		case len(m.rest) == 0 || b.full(m.cut):
			return true, nil
		case b.parted(m.rest[0]):
			later, m.rest = append(later, m.rest[0]), m.rest[1:]
			return false, nil
		}
		return false, m.take(t, b)
	})
	m.rest = append(later, m.rest...)
	return b, err
}

// parted reports whether the batch has records of the same session that do not
// go on with the span. What a segment has of a session must be in one piece, as
// what is between may be in another: a search knows neighbours by that.
func (b *batch) parted(s span) bool {
	n := slices.IndexFunc(b.ranges, func(r covered) bool { return r.Session == s.session })
	return n >= 0 && b.ranges[n].To != s.from-1
}

// take reads some records of the first span. A session that was purged meanwhile
// is left out.
func (m *maker) take(t *tx, b *batch) error {
	sp := &m.rest[0]
	s, ok, err := t.find(sp.session)
	if err != nil {
		return err
	}
	if !ok || s.info.Hidden {
		m.rest = m.rest[1:]
		return nil
	}
	log, err := s.conversation()
	if err != nil {
		return err
	}
	r := covered{Session: sp.session, From: sp.from}
	for end := min(sp.from+scanBatch-1, sp.to); sp.from <= end && !b.full(m.cut); sp.from++ {
		rec, err := s.recordIn(log, sp.from)
		if err != nil {
			return err
		}
		b.add(sp.session, rec)
		r.To, r.Sum = sp.from, stampOf(log.b.Get(number(sp.from)))
	}
	if r.To != 0 {
		b.cover(r)
	}
	if sp.from > sp.to {
		m.rest = m.rest[1:]
	}
	return nil
}

// add takes a record into the batch.
func (b *batch) add(id harness.SessionID, r harness.Record) {
	b.records++
	if doc, ok := rules.Document(id, r); ok {
		b.docs, b.size = append(b.docs, doc), b.size+len(doc.Text)
	}
}

// cover adds a range, to the last one if it goes on there.
func (b *batch) cover(r covered) {
	if n := len(b.ranges); n > 0 && b.ranges[n-1].Session == r.Session && b.ranges[n-1].To == r.From-1 {
		b.ranges[n-1].To, b.ranges[n-1].Sum = r.To, r.Sum
		return
	}
	b.ranges = append(b.ranges, r)
}

// write stores the segment of a batch, unless what it relies on has changed.
func (m *maker) write(ctx context.Context, b *batch, data []byte) (segment, error) {
	head := segmentHead{Format: int(data[0]), Ranges: b.ranges}
	var made segment
	err := m.d.update(ctx, "write the search index", func(t *tx) (err error) {
		if err := m.unmoved(t); err != nil {
			return err
		}
		for _, r := range b.ranges {
			if err := t.stands(r); err != nil {
				return err
			}
		}
		made, err = t.putSegment(head, data)
		return err
	})
	if err == nil {
		m.have = append(m.have, made)
	}
	return made, err
}

// unmoved returns an error if the segments are not the known ones.
func (m *maker) unmoved(t *tx) error {
	now, err := t.segments()
	if err == nil && !slices.EqualFunc(now, m.have, func(a, b segment) bool { return a.name == b.name && a.stamp == b.stamp }) {
		err = errMoved
	}
	return err
}

// stands returns an error if a range is not that of which a segment was made.
// What was put into the trash meanwhile can come back and so may stay.
func (t *tx) stands(r covered) error {
	s, ok, err := t.find(r.Session)
	if err != nil {
		return err
	}
	if !ok || s.info.Hidden {
		return errMoved
	}
	log, err := s.conversation()
	if err == nil && stampOf(log.b.Get(number(r.To))) != r.Sum {
		err = errMoved
	}
	return err
}

// drop removes segments that are of no use.
func (m *maker) drop(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := m.d.update(ctx, "clear the search index", func(t *tx) error {
		if err := m.unmoved(t); err != nil {
			return err
		}
		for _, name := range names {
			if err := t.dropSegment(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		m.have = slices.DeleteFunc(m.have, func(s segment) bool { return slices.Contains(names, s.name) })
	}
	return err
}

// indexMessages makes all segments that are worth it, for which nobody waits for
// longer than for another commit, and removes those that are of no use. It
// returns how many records it put into segments. That somebody else does the
// same at the same time is no error, nor that the segments are not readable.
func (d *DB) indexMessages(ctx context.Context) (int, error) {
	all := 0
	for range quietTries {
		c, err := d.survey(ctx)
		if err != nil || c.closed {
			return all, err
		}
		// What is not readable is made anew.
		if c, err = d.eachPart(ctx, c, func(segment, *index.Segment, int) {}); err != nil {
			return all, err
		}
		n, err := d.maker(c).run(ctx, c.useless)
		all += n
		if !errors.Is(err, errMoved) {
			return all, err
		}
	}
	d.log.Info("the search index has to wait", slog.Any("error", errMoved))
	return all, nil
}

// run makes all segments that are worth it.
func (m *maker) run(ctx context.Context, useless []string) (int, error) {
	if err := m.drop(ctx, useless); err != nil {
		return 0, err
	}
	done := 0
	for len(m.rest) > 0 {
		b, err := m.read(ctx)
		if err != nil {
			return done, err
		}
		if !b.worth(m.cut) {
			continue
		}
		if _, err := m.write(ctx, b, index.Build(b.docs)); err != nil {
			return done, err
		}
		done += b.records
	}
	return done, nil
}

// clearIndex removes the segments that are of no use, as they may hold words of
// what was purged by a cairn that knows no segments. What is damaged is left to
// those who then come upon it.
func (d *DB) clearIndex(ctx context.Context) error {
	for range quietTries {
		c, err := d.survey(ctx)
		if err == nil && !c.closed {
			err = d.maker(c).drop(ctx, c.useless)
		}
		if errors.Is(err, harness.ErrDamaged) {
			return nil
		}
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return errMoved
}

package bolt

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"

	"cairn/harness"
	"cairn/storage/index"
)

// keptSegments bounds the bytes of the segments that are kept in memory. Those
// of ten thousand messages take about one and a half megabytes.
const keptSegments = 32 << 20

// lookup is what a search looks into: all messages, as segments.
type lookup struct {
	at moment
	// found are the sessions that are not deleted.
	found    map[harness.SessionID]bool
	segments []*index.Segment
	size     int
}

func newLookup(c *coverage) *lookup {
	l := &lookup{at: c.at, found: map[harness.SessionID]bool{}}
	for _, id := range c.sessions {
		l.found[id] = true
	}
	return l
}

func (l *lookup) add(s *index.Segment, size int) {
	l.segments, l.size = append(l.segments, s), l.size+size
}

// searched is what searches leave to the next ones of the process.
type searched struct {
	// making is held by who makes segments.
	making sync.Mutex

	// mu guards what follows.
	mu   sync.Mutex
	last *lookup
	// open are segments by their names.
	open map[string]openSegment
	size int
	// known is what was read of sessions that are not deleted.
	known map[harness.SessionID]*knownSession
}

// knownSession is what a search needs of a session's info.
type knownSession struct {
	// sum tells the stored info from every other.
	sum     [sha256.Size]byte
	records int
	recent  []byte
}

// session returns a session that is not deleted, nil if there is none. It is
// [tx.find] for thousands: an info that was read before is only compared.
func (s *searched) session(t *tx, id harness.SessionID) (bucket, *knownSession, error) {
	sessions, err := t.root("sessions")
	if err != nil {
		return bucket{}, nil, err
	}
	recent, err := t.root("recent")
	if err != nil {
		return bucket{}, nil, err
	}
	b, ok := sessions.sub(string(id))
	if !ok {
		_, _, err := t.find(id)
		return b, nil, err
	}
	b.t.touch(b.path, keyInfo)
	sum := sha256.Sum256(b.b.Get(keyInfo))
	s.mu.Lock()
	known := s.known[id]
	s.mu.Unlock()
	if known != nil && known.sum == sum && recent.has(known.recent) {
		return b, known, nil
	}
	info, err := b.briefInfo()
	if err != nil {
		return b, nil, err
	}
	listed := session{info: sessionInfo{Session: harness.Session{ID: id, Pinned: info.pinned}, Order: info.order}}
	known = &knownSession{sum: sum, records: info.records, recent: listed.recentKey()}
	if info.deleted || !recent.has(known.recent) {
		_, _, err := t.find(id) // which says what is wrong with it
		return b, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[harness.SessionID]*knownSession{}
	}
	s.known[id] = known
	return b, known, nil
}

type openSegment struct {
	*index.Segment
	stamp uint32
	size  int
}

// lastAt returns the last lookup if it is of this state of the file.
func (s *searched) lastAt(now moment) *lookup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || !s.last.at.same(now) {
		return nil
	}
	return s.last
}

// get returns a segment that was opened before.
func (s *searched) get(of segment) (openSegment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.open[of.name]
	return have, ok && have.stamp == of.stamp
}

// put keeps an opened segment if there is room.
func (s *searched) put(of segment, o *index.Segment, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.open[of.name]; ok {
		s.size -= have.size
		delete(s.open, of.name)
	}
	if s.size+size > keptSegments {
		return
	}
	if s.open == nil {
		s.open = map[string]openSegment{}
	}
	s.open[of.name] = openSegment{o, of.stamp, size}
	s.size += size
}

// keep keeps the lookup, if it is not too large, and the opened segments only
// that there still are.
func (s *searched) keep(l *lookup, c *coverage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last = nil; l.size <= keptSegments {
		s.last = l
	}
	for id := range s.known {
		if !l.found[id] {
			delete(s.known, id)
		}
	}
	there := map[string]bool{}
	for _, p := range c.parts {
		there[p.name] = true
	}
	for name, o := range s.open {
		if !there[name] {
			s.size -= o.size
			delete(s.open, name)
		}
	}
}

// lookup returns what to search. It is the last one if nobody wrote since.
func (d *DB) lookup(ctx context.Context) (*lookup, error) {
	now, err := d.moment(ctx)
	if err != nil {
		return nil, err
	}
	if l := d.searched.lastAt(now); l != nil {
		return l, nil
	}
	c, err := d.survey(ctx)
	if err != nil {
		return nil, err
	}
	l := newLookup(c)
	c, err = d.eachPart(ctx, c, func(s segment, o *index.Segment, size int) {
		l.add(o, size)
		d.searched.put(s, o, size)
	})
	if err == nil {
		err = d.addRest(ctx, l, c, !c.closed)
	}
	if err != nil {
		return nil, err
	}
	if now, err = d.moment(ctx); err == nil && now.same(l.at) {
		d.searched.keep(l, c)
	}
	return l, err
}

// lookAtAll returns what to search without the stored segments.
func (d *DB) lookAtAll(ctx context.Context) (*lookup, error) {
	c, err := d.survey(ctx)
	if err != nil {
		return nil, err
	}
	l := newLookup(c)
	bare := *c
	bare.parts = nil
	return l, d.addRest(ctx, l, &bare, false)
}

// eachPart opens the segments one after the other, each in a transaction of its
// own, and returns the coverage without those that cannot be opened.
func (d *DB) eachPart(ctx context.Context, c *coverage, use func(s segment, o *index.Segment, size int)) (*coverage, error) {
	var unfit []string
	for _, s := range c.parts {
		o, size, err := d.openSegment(ctx, s)
		switch {
		case err == nil:
			use(s, o, size)
			continue
		case errors.Is(err, errUnreadable), errors.Is(err, harness.ErrDamaged):
			d.log.Warn("a part of the search index is not readable; its messages are looked at", slog.Any("error", err))
		case !errors.Is(err, harness.ErrNotFound): // which means that it was dropped meanwhile
			return nil, err
		}
		unfit = append(unfit, s.name)
	}
	return c.without(unfit...), nil
}

func (d *DB) openSegment(ctx context.Context, s segment) (*index.Segment, int, error) {
	if have, ok := d.searched.get(s); ok {
		return have.Segment, have.size, nil
	}
	var data []byte
	err := d.view(ctx, "read the search index", func(t *tx) (err error) {
		data, err = t.segmentData(s)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	o, err := index.OpenSegment(data)
	if err != nil {
		err = s.unreadable(err)
	}
	return o, len(data), err
}

// addRest adds the messages that are in no segment. The segments that this makes
// are stored, if that is wanted and they are worth it, each as soon as it is made:
// a search that is broken off leaves the next one less to do.
func (d *DB) addRest(ctx context.Context, l *lookup, c *coverage, store bool) error {
	if store = store && d.searched.making.TryLock(); store {
		defer d.searched.making.Unlock()
	}
	m := d.maker(c)
	cleared := false
	for len(m.rest) > 0 {
		b, err := m.read(ctx)
		if err != nil {
			return err
		}
		data := index.Build(b.docs)
		o, err := index.OpenSegment(data)
		if err != nil {
			return err
		}
		l.add(o, len(data))
		if !store || !b.worth(m.cut) {
			continue
		}
		if !cleared {
			err, cleared = m.drop(ctx, c.useless), true
		}
		if err == nil {
			var made segment
			if made, err = m.write(ctx, b, data); err == nil {
				d.searched.put(made, o, len(data))
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			// That the search is as slow the next time is all that follows.
			d.log.Info("the search index is not stored", slog.Any("error", err))
			store = false
		}
	}
	return nil
}

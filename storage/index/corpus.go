package index

import (
	"cmp"
	"slices"
)

// corpus is all messages of several segments in one row: those of one session
// side by side and in order, so that the neighbours of a message are the ones
// next to it. Messages of skipped sessions have no place in it.
type corpus struct {
	sessions []span
	// of is the session of each message.
	of      []int32
	numbers []int32
	times   []int64
	lengths []byte
	// unpacked is what the lengths mean.
	unpacked *[256]float64
	// tokens is the sum of all lengths.
	tokens float64
	// homes are, for each segment, where its messages went.
	homes [][]home
}

// span is one session's messages.
type span struct {
	id         string
	start, end int
}

// home says that the messages of a segment up to end are moved by shift.
type home struct {
	end, shift int
	skipped    bool
}

// piece is one session's messages in one segment.
type piece struct {
	run
	segment int
	numbers []int32
	times   []int64
}

func newCorpus(segments []*Segment, skip func(segment int, session string) bool) (*corpus, error) {
	c := &corpus{unpacked: unpackedLengths(), homes: make([][]home, len(segments))}
	var pieces []piece
	total := 0
	for i, s := range segments {
		own, err := s.pieces(i)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, own...)
		total += s.docs
	}
	c.of, c.numbers, c.times, c.lengths = make([]int32, 0, total), make([]int32, 0, total), make([]int64, 0, total), make([]byte, 0, total)
	order := make([]int, len(pieces))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &pieces[a], &pieces[b]
		return cmp.Or(cmp.Compare(x.session, y.session), cmp.Compare(x.numbers[0], y.numbers[0]), cmp.Compare(a, b))
	})
	places := make([]home, len(pieces))
	for _, at := range order {
		p := &pieces[at]
		skipped := skip != nil && skip(p.segment, p.session)
		places[at] = home{p.start + p.count, len(c.numbers) - p.start, skipped}
		if !skipped {
			c.append(p, segments[p.segment].part[partLengths])
		}
	}
	for i, p := range pieces {
		c.homes[p.segment] = append(c.homes[p.segment], places[i])
	}
	return c, nil
}

func (c *corpus) append(p *piece, lengths []byte) {
	if n := len(c.sessions); n == 0 || c.sessions[n-1].id != p.session {
		c.sessions = append(c.sessions, span{id: p.session, start: len(c.numbers)})
	}
	c.numbers = append(c.numbers, p.numbers...)
	c.times = append(c.times, p.times...)
	c.lengths = append(c.lengths, lengths[p.start:p.start+p.count]...)
	at := len(c.sessions) - 1
	c.sessions[at].end = len(c.numbers)
	for _, l := range lengths[p.start : p.start+p.count] {
		c.of = append(c.of, int32(at))
		c.tokens += c.unpacked[l]
	}
}

// pieces decodes what a segment holds of each session.
func (s *Segment) pieces(segment int) ([]piece, error) {
	var pieces []piece
	err := s.runs(func(r run) { pieces = append(pieces, piece{run: r, segment: segment}) })
	if err != nil {
		return nil, err
	}
	numbers, times := make([]int32, 0, s.docs), make([]int64, 0, s.docs)
	n, t, at := reader{s.part[partNumbers]}, reader{s.part[partTimes]}, int64(0)
	for i := range pieces {
		p := &pieces[i]
		last := 0
		for range p.count {
			step, err := n.number()
			if err != nil {
				return nil, err
			}
			later, err := t.signed()
			if err != nil {
				return nil, err
			}
			last, at = last+step, at+later
			if step == 0 || int(int32(last)) != last {
				return nil, damaged("message %d of %q", last, p.session)
			}
			numbers, times = append(numbers, int32(last)), append(times, at)
		}
		p.numbers, p.times = numbers[p.start:], times[p.start:]
	}
	return pieces, nil
}

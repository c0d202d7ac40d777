package index

import "math"

// How a message is ranked: BM25, over the words of the message and, weaker,
// those around it. The values were found on long conversations with questions
// about them, and are flat: none matters to a tenth.
const (
	saturation = 1.2
	// longText is how many average lengths a text may have before it counts as
	// long, and its words less. Among short texts the shorter is no better.
	longText    = 1.5
	lengthShare = 0.4
	// What an occurrence of a word counts: whole, or as the beginning of a
	// longer one, in the message itself and in those around it. The message
	// after one that asks is taken for the answer. These are whole numbers, as
	// sums of fractions would depend on the order of the messages.
	wholeCount  = 2
	prefixCount = 1
	ownShare    = 20
	answerShare = 16
	besideShare = 9
	nearShare   = 5
	oneWord     = wholeCount * ownShare
	// countLimit bounds how often a word can count in one message.
	countLimit = 1000

	askingWeight = 0.75
	// speakerWeight is for messages of somebody whom the query names.
	speakerWeight = 1.4
	// selfWeight is for messages in which somebody tells of themselves, if a
	// question looks for them: they state what others only talk about.
	selfWeight  = 1.2
	frameWeight = 0.5 // a word that may belong to the question alone
	// sessionWeight is for how well the whole session fits, in which a word
	// that occurs sessionHalf times has half its worth.
	sessionWeight = 0.3
	sessionHalf   = 3
	// apart is how far the numbers of neighbours may differ: what stands
	// between messages (settings, edits) has numbers too.
	apart = 8
)

// ranking sums up what every message is worth.
type ranking struct {
	c        *corpus
	q        Query
	segments []*Segment
	average  float64
	// scores are by message, own tells which have a word of the query
	// themselves, and quoted counts the quoted words of each, of which it must
	// have all that are wanted.
	scores  []float32
	own     []bool
	quoted  []uint8
	wanted  uint8
	session []float64
	// asking, named and self are the messages that end with a question, those of
	// speakers whom the query names, and those of speakers about themselves.
	asking, named, self []bool
	// counts is how often the present term occurs in the messages that holders
	// lists, and around is with what comes from the neighbours, in those that
	// touched lists.
	counts, around   []int32
	inSession        []int
	holders, touched []int32
}

// rank ranks all messages for a query.
func rank(c *corpus, q Query, segments []*Segment) (*ranking, error) {
	n := len(c.numbers)
	r := &ranking{
		c: c, q: q, segments: segments, average: max(1, c.tokens/float64(max(1, n))),
		scores: make([]float32, n), own: make([]bool, n), asking: make([]bool, n), named: make([]bool, n), self: make([]bool, n),
		counts: make([]int32, n), around: make([]int32, n),
		session: make([]float64, len(c.sessions)), inSession: make([]int, len(c.sessions)),
	}
	if len(q.phrases) > 0 {
		r.quoted = make([]uint8, n)
	}
	if err := r.mark(r.asking, signAsks); err != nil {
		return nil, err
	}
	if err := r.mark(r.self, signSelf); err != nil {
		return nil, err
	}
	for i := range q.terms {
		t := &q.terms[i]
		if err := r.mark(r.named, signSpeaker+t.stem); err != nil {
			return nil, err
		}
		if err := r.term(t); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// mark notes which messages have a sign.
func (r *ranking) mark(has []bool, sign string) error {
	for i, s := range r.segments {
		e, ok, err := s.terms.find(sign)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := r.each(i, e, func(at, _ int) { has[at] = true }); err != nil {
			return err
		}
	}
	return nil
}

// each calls yield with the messages that hold a word of a segment.
func (r *ranking) each(segment int, e entry, yield func(at, n int)) error {
	homes := r.c.homes[segment]
	return r.segments[segment].postings(e, func(doc, n int) {
		for doc >= homes[0].end {
			homes = homes[1:]
		}
		if !homes[0].skipped {
			yield(doc+homes[0].shift, n)
		}
	})
}

// term adds what one term is worth in each message.
func (r *ranking) term(t *queryTerm) error {
	r.holders, r.touched = r.holders[:0], r.touched[:0]
	if err := r.look(t, (*Segment).whole, wholeCount); err != nil {
		return err
	}
	if err := r.look(t, (*Segment).beginning, prefixCount); err != nil {
		return err
	}
	if t.quoted && r.wanted < math.MaxUint8 {
		r.wanted++
		for _, at := range r.holders {
			r.quoted[at]++
		}
	}
	r.spread()
	worth := idf(len(r.holders), len(r.c.numbers))
	if t.frame {
		worth *= frameWeight
	}
	r.add(worth)
	return nil
}

// spread lets each message have a part of what its neighbours have, and sums up
// the sessions.
func (r *ranking) spread() {
	for _, holder := range r.holders {
		at := int(holder)
		count := r.counts[at]
		r.own[at] = true
		r.inSession[r.c.of[at]] += int(count)
		for i, share := range [...]int32{nearShare, besideShare, ownShare, r.nextShare(at), nearShare} {
			if to := at + i - 2; r.c.neighbours(at, to) {
				r.give(to, share*count)
			}
		}
	}
}

func (r *ranking) give(at int, count int32) {
	if r.around[at] == 0 {
		r.touched = append(r.touched, int32(at))
	}
	r.around[at] += count
}

// nextShare is what a word of a message counts in the next.
func (r *ranking) nextShare(at int) int32 {
	if r.asking[at] {
		return answerShare
	}
	return besideShare
}

// neighbours reports whether two messages stand near each other in one session,
// or are the same.
func (c *corpus) neighbours(a, b int) bool {
	if b < 0 || b >= len(c.of) || c.of[a] != c.of[b] {
		return false
	}
	d := c.numbers[a] - c.numbers[b]
	return d <= apart && d >= -apart
}

// add adds the counted term to the scores and clears the counts.
func (r *ranking) add(worth float64) {
	for _, at := range r.touched {
		n := float64(r.around[at]) / oneWord
		long := max(longText, r.c.unpacked[r.c.lengths[at]]/r.average) / longText
		norm := 1 - lengthShare + lengthShare*long
		r.scores[at] += float32(worth * n * (saturation + 1) / (n + saturation*norm))
		r.around[at] = 0
	}
	for _, at := range r.holders {
		r.counts[at] = 0
		s := r.c.of[at]
		n := float64(r.inSession[s]) / wholeCount
		r.session[s] += worth * n / (n + sessionHalf)
		r.inSession[s] = 0
	}
}

// within adds what it is worth to be of the time that the query names: as much
// as a word that so many messages have.
func (r *ranking) within(p period) {
	from, until := p.from.Unix(), p.until.Unix()
	r.touched = r.touched[:0]
	for at, t := range r.c.times {
		if t >= from && t < until && (r.q.asks || r.scores[at] > 0) {
			r.touched = append(r.touched, int32(at))
		}
	}
	worth := float32(idf(len(r.touched), len(r.c.numbers)))
	for _, at := range r.touched {
		r.scores[at] += worth
	}
}

// idf is what a term is worth that n of all messages have: rare ones more.
func idf(n, all int) float64 {
	return math.Log(1 + (float64(all-n)+0.5)/(float64(n)+0.5))
}

// candidates returns the messages that may be found.
func (r *ranking) candidates(o Options) []candidate {
	var list []candidate
	for at, score := range r.scores {
		if score == 0 || !r.own[at] && !r.q.asks || r.wanted > 0 && r.quoted[at] < r.wanted || !o.within(r.c.times[at]) {
			continue
		}
		worth := float64(score)
		if r.named[at] {
			worth *= speakerWeight
		}
		if r.asking[at] && r.q.asks {
			worth *= askingWeight
		}
		if r.self[at] && r.q.asks {
			worth *= selfWeight
		}
		list = append(list, candidate{at, worth + sessionWeight*r.session[r.c.of[at]]})
	}
	return list
}

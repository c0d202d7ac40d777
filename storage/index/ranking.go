package index

import (
	"math"
	"time"
)

// How a message is ranked: BM25 with its usual saturation and length
// normalisation, over the words of the message and, weaker, those around it.
const (
	saturation    = 1.2
	lengthShare   = 0.5
	besideWeight  = 0.5  // a word in the message before or after
	nearWeight    = 0.25 // a word two messages away
	prefixWeight  = 0.5  // a word that only begins like the term
	sessionWeight = 0.3  // how well the whole session fits
	// apart is how far the numbers of neighbours may differ: what stands
	// between messages (settings, edits) has numbers too.
	apart = 8
)

// ranking sums up what every message is worth.
type ranking struct {
	c *corpus
	q Query
	// scores are by message, and own tells which have a word of the query
	// themselves; phrased counts the quoted words of each message.
	scores  []float32
	own     []bool
	quoted  []uint8
	wanted  uint8
	session []float64
	// counts is how often one term occurs in or around each message that
	// touched lists; ownCounts only in it.
	counts, ownCounts []float32
	touched, holders  []int32
	inSession         []float32
	average           float64
}

func newRanking(c *corpus, q Query) *ranking {
	n := len(c.numbers)
	r := &ranking{
		c: c, q: q, scores: make([]float32, n), own: make([]bool, n), session: make([]float64, len(c.sessions)),
		counts: make([]float32, n), ownCounts: make([]float32, n), inSession: make([]float32, len(c.sessions)),
		average: max(1, c.tokens/float64(max(1, n))),
	}
	if len(q.phrases) > 0 {
		r.quoted = make([]uint8, n)
	}
	return r
}

// term adds what one term is worth in each message.
func (r *ranking) term(segments []*Segment, t *queryTerm) error {
	r.holders, r.touched = r.holders[:0], r.touched[:0]
	if err := r.look(segments, t, false); err != nil {
		return err
	}
	if !t.quoted && (len(r.holders) == 0 || t.last && !r.q.asks) {
		if err := r.look(segments, t, true); err != nil {
			return err
		}
	}
	if t.quoted && r.wanted < math.MaxUint8 {
		r.wanted++
		for _, at := range r.holders {
			r.quoted[at]++
		}
	}
	r.spread()
	r.add(idf(len(r.holders), len(r.c.numbers)))
	return nil
}

// look counts the term, or the words that begin with it, in all messages.
func (r *ranking) look(segments []*Segment, t *queryTerm, prefix bool) error {
	for i, s := range segments {
		entries, weight, err := s.entries(t, prefix)
		if err != nil {
			return err
		}
		for _, e := range entries {
			cursor := 0
			err := s.postings(e, func(doc, n int) {
				at, ok := r.c.place(i, doc, &cursor)
				if !ok {
					return
				}
				if r.ownCounts[at] == 0 {
					r.holders = append(r.holders, int32(at))
				}
				r.ownCounts[at] += weight * float32(n)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// entries returns the words of a segment that a term stands for.
func (s *Segment) entries(t *queryTerm, prefix bool) (found []entry, weight float32, err error) {
	if !prefix {
		e, ok, err := s.terms.find(t.stem)
		if ok {
			found = append(found, e)
		}
		return found, 1, err
	}
	if len([]rune(t.form)) < 2 {
		return nil, 0, nil
	}
	seen := map[int]bool{}
	add := func(e entry) {
		if !seen[e.ordinal] && e.word != t.stem {
			seen[e.ordinal] = true
			found = append(found, e)
		}
	}
	if err := s.terms.starting(t.form, add); err != nil {
		return nil, 0, err
	}
	var forms []entry
	if err := s.forms.starting(t.form, func(e entry) { forms = append(forms, e) }); err != nil {
		return nil, 0, err
	}
	for _, f := range forms {
		e, err := s.terms.at(f.value)
		if err != nil {
			return nil, 0, err
		}
		add(e)
	}
	return found, prefixWeight, nil
}

// spread lets each message have a part of what its neighbours have, and sums up
// the sessions.
func (r *ranking) spread() {
	for _, at32 := range r.holders {
		at := int(at32)
		own := r.ownCounts[at]
		r.own[at] = true
		r.inSession[r.c.of[at]] += own
		for d := -2; d <= 2; d++ {
			weight := float32(1)
			switch d {
			case -1, 1:
				weight = besideWeight
			case -2, 2:
				weight = nearWeight
			}
			if to := at + d; d == 0 || r.c.neighbours(at, to) {
				if r.counts[to] == 0 {
					r.touched = append(r.touched, int32(to))
				}
				r.counts[to] += weight * own
			}
		}
	}
}

// neighbours reports whether two messages stand near each other in one session.
func (c *corpus) neighbours(a, b int) bool {
	if b < 0 || b >= len(c.of) || c.of[a] != c.of[b] {
		return false
	}
	d := c.numbers[a] - c.numbers[b]
	return d <= apart && d >= -apart
}

// add adds the counted term to the scores and clears the counts.
func (r *ranking) add(idf float64) {
	sessions := 0
	for _, at := range r.touched {
		n := float64(r.counts[at])
		norm := 1 - lengthShare + lengthShare*unpackLength(r.c.lengths[at])/r.average
		r.scores[at] += float32(idf * n * (saturation + 1) / (n + saturation*norm))
		r.counts[at] = 0
	}
	for _, at := range r.holders {
		r.ownCounts[at] = 0
		if s := r.c.of[at]; r.inSession[s] > 0 {
			sessions++
			n := float64(r.inSession[s])
			r.session[s] += idf * n / (n + 3)
			r.inSession[s] = 0
		}
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
		list = append(list, candidate{at, float64(score) + sessionWeight*r.session[r.c.of[at]]})
	}
	return list
}

func (o Options) within(at int64) bool {
	t := time.Unix(at, 0)
	return (o.Since.IsZero() || !t.Before(o.Since)) && (o.Until.IsZero() || t.Before(o.Until))
}

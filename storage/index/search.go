package index

import (
	"cmp"
	"container/heap"
	"time"
)

// Options say where to search. The zero value searches everything, but finds
// no phrases.
type Options struct {
	// Skip tells whether what a segment has of a session is not to be looked at
	// and does not count, as the session is deleted or the messages are in
	// another segment. Segment is its index, or their number for the tail.
	Skip func(segment int, session string) bool
	// Hide tells whether a single message is not to be found.
	Hide func(session string, message int) bool
	// Text returns the text of a message. It is asked for the few messages that
	// hold all words of a quoted phrase, to see whether they stand in order;
	// without it a query with a phrase finds nothing.
	Text func(session string, message int) (string, error)
	// Since and Until bound the time of the messages, if they are not zero:
	// not before Since, and before Until.
	Since, Until time.Time
	// Now is what "last week" in a query is told from, and where days begin.
	// Without it only dates with a year mean a time, and that in UTC.
	Now time.Time
}

// Match is one found message.
type Match struct {
	Session string
	Message int
	// Score is positive; more is better. Scores of different queries or stores
	// do not compare.
	Score float64
}

// Search ranks messages for a query and returns the best, at most limit or all
// if it is 0. Tail is what no segment holds yet; where it holds a message that
// a segment has too, it is found once. How sessions are cut into segments and
// tail does not change what is found or its order.
//
// A message counts by its words, rare ones more, and less by those of the two
// messages before and after it and by how well its session fits. A message
// that has no word of the query is found only next to one that has, if the
// query is a question.
//
// Where the query names a time, as in "last week" or "in May 2023", messages of
// then are better, and a question finds them also without a word of it.
//
// Errors are [ErrSegment] and those of Text.
func Search(q Query, segments []*Segment, tail []Doc, limit int, o Options) ([]Match, error) {
	if q.Empty() {
		return nil, nil
	}
	if len(tail) > 0 {
		last, err := OpenSegment(Build(tail))
		if err != nil {
			return nil, err
		}
		segments = append(segments[:len(segments):len(segments)], last)
	}
	c, err := newCorpus(segments, o.Skip)
	if err != nil {
		return nil, err
	}
	r, err := rank(c, q, segments)
	if err != nil {
		return nil, err
	}
	if p, ok := periodOf(q.words, o.Now); ok {
		r.within(p)
	}
	return best(c, q, r.candidates(o), limit, o)
}

// within reports whether a time in Unix seconds is in the bounds.
func (o Options) within(at int64) bool {
	return (o.Since.IsZero() || at >= o.Since.Unix()) && (o.Until.IsZero() || at < o.Until.Unix())
}

// candidate is a message that may be found.
type candidate struct {
	at    int
	score float64
}

// queue is candidates as a heap, the best first.
type queue struct {
	c    *corpus
	list []candidate
}

func (q *queue) Len() int      { return len(q.list) }
func (q *queue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *queue) Push(any)      {}
func (q *queue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

func (q *queue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(q.c.times[b.at], q.c.times[a.at]), cmp.Compare(a.at, b.at)) < 0
}

// best returns the best candidates that stand up to a closer look.
func best(c *corpus, q Query, candidates []candidate, limit int, o Options) ([]Match, error) {
	queue := &queue{c, candidates}
	heap.Init(queue)
	var found []Match
	seen := map[Match]bool{}
	for queue.Len() > 0 && (limit <= 0 || len(found) < limit) {
		next := heap.Pop(queue).(candidate)
		m := Match{Session: c.sessions[c.of[next.at]].id, Message: int(c.numbers[next.at])}
		if seen[m] || o.Hide != nil && o.Hide(m.Session, m.Message) {
			continue
		}
		seen[m] = true
		if len(q.phrases) > 0 {
			ok, err := phrased(q, m, o)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		m.Score = next.score
		found = append(found, m)
	}
	return found, nil
}

// phrased reports whether the message holds the phrases of the query.
func phrased(q Query, m Match, o Options) (bool, error) {
	if o.Text == nil {
		return false, nil
	}
	text, err := o.Text(m.Session, m.Message)
	return err == nil && q.inOrder(Terms(text)), err
}

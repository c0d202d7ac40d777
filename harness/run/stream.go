package run

import (
	"context"
	"sync"
	"time"

	"cairn/harness"
)

// gatherFor is the least time between two pieces of text that a reader gets in a
// row: about as many as an eye tells apart. What comes in between is merged, since
// each piece wakes the reader and has the screen drawn, which costs many times more
// than the piece itself. The first after a pause goes at once.
const gatherFor = 33 * time.Millisecond

// stream is everything that happened in one stretch of a run, in order. Pieces
// of text in a row grow one item, so a reader gets merged what came since it read
// last; nothing is ever dropped, and readers cost the run nothing.
type stream struct {
	mu    sync.Mutex
	items []item
	// changed tells of everything, turned of all but text.
	changed, turned signal
	// last is the number of the last journal entry that was stored.
	last   int
	done   bool
	result harness.Result
	err    error
}

type item struct {
	event harness.Event
	text  []byte
	// after is the last journal entry before the event.
	after int
}

// newStream returns a stream that begins after journal entry last.
func newStream(last int) *stream { return &stream{last: last} }

// signal wakes those who wait for something. It is guarded by its stream.
type signal struct{ more chan struct{} }

// on returns a channel that closes with the next wake.
func (g *signal) on() <-chan struct{} {
	if g.more == nil {
		g.more = make(chan struct{})
	}
	return g.more
}

func (g *signal) wake() {
	if g.more != nil {
		close(g.more)
		g.more = nil
	}
}

// add appends an event. A stream that has ended takes none.
func (s *stream) add(e harness.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return
	}
	if n := len(s.items); n > 0 && grows(s.items[n-1], e) {
		s.items[n-1].text = append(s.items[n-1].text, e.Text...)
	} else {
		it := item{event: e, after: s.last}
		if streamed(e.Type) {
			it.text = []byte(e.Text)
		}
		s.items = append(s.items, it)
	}
	s.last = max(s.last, e.Seq)
	s.changed.wake()
	if !streamed(e.Type) {
		s.turned.wake()
	}
}

// flush has readers get now what streamed.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turned.wake()
}

// reached says that journal entry n is stored, told or not.
func (s *stream) reached(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.last {
		s.last = n
		s.turned.wake()
	}
}

func streamed(t harness.EventType) bool {
	return t == harness.EventText || t == harness.EventThinking
}

func grows(last item, e harness.Event) bool {
	return streamed(e.Type) && last.event.Type == e.Type && last.event.Attempt == e.Attempt &&
		last.event.Offset+len(last.text) == e.Offset
}

// end says that the stretch is over.
func (s *stream) end(r harness.Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return
	}
	s.done, s.result, s.err = true, r, err
	s.changed.wake()
	s.turned.wake()
}

// place is how far a reader has come. after is the journal entry up to which it
// knows everything.
type place struct{ item, offset, after int }

// known reports whether a reader that knows everything up to journal entry
// after knows the item: text of an answer that it has is not shown again. The
// result is told to everybody.
func (it item) known(after int) bool {
	switch {
	case it.event.Type == harness.EventResult:
		return false
	case it.event.Seq > 0:
		return it.event.Seq <= after
	default:
		return it.after < after
	}
}

// next returns what is new since p and moves p. If nothing is, it returns a
// channel that closes when something is, or done.
func (s *stream) next(p *place) (events []harness.Event, more <-chan struct{}, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p.item < len(s.items) {
		it := s.items[p.item]
		if e, ok := it.since(p.offset); ok && !it.known(p.after) {
			events = append(events, e)
		}
		if p.item == len(s.items)-1 && streamed(it.event.Type) {
			p.offset = len(it.text) // it may still grow
			break
		}
		p.item, p.offset = p.item+1, 0
	}
	if len(events) == 0 && !s.done {
		return nil, s.changed.on(), false
	}
	return events, nil, s.done && len(events) == 0
}

// newest is the place of a reader that knows what is in the entries by now.
func (s *stream) newest() place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return place{after: s.last}
}

// pipe sends what is new since a place to out, until the stretch is over or ctx
// ends.
func (s *stream) pipe(ctx context.Context, at place, out chan<- harness.Event) {
	for {
		events, more, done := s.next(&at)
		for _, e := range events {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
		switch {
		case done:
			return
		case more != nil:
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		case streamed(events[len(events)-1].Type):
			if !s.rest(ctx, at) {
				return
			}
		}
	}
}

// rest lets text gather for a reader that has come to a place. It ends early when
// something else comes, and is false if ctx ends.
func (s *stream) rest(ctx context.Context, at place) bool {
	s.mu.Lock()
	if s.done || at.item < len(s.items)-1 {
		s.mu.Unlock()
		return true
	}
	turned := s.turned.on()
	s.mu.Unlock()
	t := time.NewTimer(gatherFor)
	defer t.Stop()
	select {
	case <-t.C:
	case <-turned:
	case <-ctx.Done():
		return false
	}
	return true
}

// since returns the item without the first offset bytes of its text; ok is
// false if a text item has nothing more.
func (it item) since(offset int) (e harness.Event, ok bool) {
	e = it.event
	if !streamed(e.Type) {
		return e, true
	}
	e.Text, e.Offset = string(it.text[offset:]), e.Offset+offset
	return e, e.Text != ""
}

// wait returns the result once the stretch is over.
func (s *stream) wait(ctx context.Context) (harness.Result, error) {
	for {
		s.mu.Lock()
		if s.done {
			defer s.mu.Unlock()
			return s.result, s.err
		}
		more := s.turned.on()
		s.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return harness.Result{}, ctx.Err()
		}
	}
}

package run

import (
	"context"
	"sync"

	"cairn/harness"
)

// Live is what runs that are driven in this process show beside their entries,
// for those who watch from the same process: streamed text, retries, signs of
// life. Text is merged for slow readers and never dropped; what an entry holds by
// now is not shown to those who come after it. The zero value is ready, and it is
// safe for concurrent use.
type Live struct {
	mu      sync.Mutex
	streams map[harness.RunID]*stream
}

// Begin says that a run is driven here from now on. after is the number of its
// last entry.
func (l *Live) Begin(id harness.RunID, after int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams == nil {
		l.streams = map[harness.RunID]*stream{}
	}
	if old := l.streams[id]; old != nil {
		old.end(harness.Result{}, nil)
	}
	l.streams[id] = newStream(after)
}

// Add shows an event. Of a run that is not driven here it is of no interest.
func (l *Live) Add(id harness.RunID, e harness.Event) {
	if s := l.stream(id); s != nil {
		s.add(e)
	}
}

// Reached says that the entries of a run are stored up to a number: what was shown
// before is in them.
func (l *Live) Reached(id harness.RunID, seq int) {
	if s := l.stream(id); s != nil {
		s.reached(seq)
	}
}

// End says that a run is driven here no more. Its followers' channels close when
// they have read what was shown.
func (l *Live) End(id harness.RunID) {
	l.mu.Lock()
	s := l.streams[id]
	delete(l.streams, id)
	l.mu.Unlock()
	if s != nil {
		s.end(harness.Result{}, nil)
	}
}

// Follow returns what a run shows since its last entry, then what comes, until it
// is driven here no more or ctx ends. ok is false if it is not driven here.
func (l *Live) Follow(ctx context.Context, id harness.RunID) (events <-chan harness.Event, ok bool) {
	s := l.stream(id)
	if s == nil {
		return nil, false
	}
	out := make(chan harness.Event, 16)
	go func() {
		defer close(out)
		s.pipe(ctx, s.newest(), out)
	}()
	return out, true
}

func (l *Live) stream(id harness.RunID) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams[id]
}

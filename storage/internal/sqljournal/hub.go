package sqljournal

import (
	"context"
	"sync"

	"cairn/harness"
)

// Hub tells watchers of changes. Its zero value has none.
type Hub struct {
	mu       sync.Mutex
	watchers map[*watcher]struct{}
	closed   bool
}

type watcher struct {
	run harness.RunID
	ch  chan struct{}
}

// Watch returns a channel that receives after the run was told of, several times
// possibly as once, until ctx or the hub ends: then it is closed.
func (h *Hub) Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	w := &watcher{run: id, ch: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, harness.ErrClosed
	}
	if h.watchers == nil {
		h.watchers = map[*watcher]struct{}{}
	}
	h.watchers[w] = struct{}{}
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(w)
	})
	return w.ch, nil
}

func (h *Hub) drop(w *watcher) {
	if _, ok := h.watchers[w]; ok {
		delete(h.watchers, w)
		close(w.ch)
	}
}

// Tell tells the watchers of runs.
func (h *Hub) Tell(ids ...harness.RunID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		for _, id := range ids {
			if w.run == id {
				w.tell()
			}
		}
	}
}

// TellAll tells all watchers: anything may have changed.
func (h *Hub) TellAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		w.tell()
	}
}

func (w *watcher) tell() {
	select {
	case w.ch <- struct{}{}:
	default: // it has not looked since the last time
	}
}

// Watched returns how many watch.
func (h *Hub) Watched() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers)
}

// Close ends all watching, and lets nobody begin.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.watchers {
		h.drop(w)
	}
}

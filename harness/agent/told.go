package agent

import (
	"sync"

	"cairn/harness"
)

// Told remembers which quiet lines people were shown of sessions, so that what is
// true of every turn is not said in each. It is for one process; the zero value
// knows of nothing, and it is safe for concurrent use.
type Told struct {
	mu    sync.Mutex
	sizes map[toldKey]int
}

type toldKey struct {
	session harness.SessionID
	what    string
}

// What is told once.
const (
	toldLarge    = "large"
	toldFixed    = "fixed"
	toldUnpinned = "unpinned"
)

// news reports whether something of a size is worth telling: it was not told yet,
// or has grown by half since. Of size 0 it is over, so that it is news again.
func (t *Told) news(id harness.SessionID, what string, size int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := toldKey{id, what}
	if size == 0 {
		delete(t.sizes, key)
		return false
	}
	if was, ok := t.sizes[key]; ok && size < was+(was+1)/2 {
		return false
	}
	if t.sizes == nil {
		t.sizes = map[toldKey]int{}
	}
	t.sizes[key] = size
	return true
}

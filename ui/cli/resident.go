package cli

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// shedAfter is how long after its beginning the memory that only the beginning of
// something took is given back: what was opened is on the screen by then, what was
// asked is under way.
const shedAfter = 250 * time.Millisecond

// Shedder returns what has memory given back soon, see [Shed]; the first time also
// the heap of the start, whose collection would cost too much each time. It returns
// at once.
func Shedder(logger *slog.Logger) func() {
	var soon atomic.Bool
	var heap sync.Once
	return func() {
		if soon.Swap(true) {
			return
		}
		time.AfterFunc(shedAfter, func() {
			soon.Store(false)
			heap.Do(debug.FreeOSMemory)
			if err := Shed(); err != nil {
				logger.Debug("shed", slog.String("error", err.Error()))
			}
		})
	}
}

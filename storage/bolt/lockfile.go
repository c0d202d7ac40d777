package bolt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"cairn/harness"
)

const (
	// lockPoll is how often a waiting process looks again.
	lockPoll = time.Millisecond
	// lockWait bounds the wait for a holder that shows no progress.
	lockWait = 2 * time.Second
	// lockNote is the length of the note in the lock file. It is written over
	// as a whole, so that a reader hardly ever sees half of one.
	lockNote = 512
)

// lockHolder is the note that the holder of the lock leaves for others.
type lockHolder struct {
	harness.Holder
	// Work names something that takes long, such as "backup"; Progress changes
	// as long as it moves, and others wait for that.
	Work     string `json:"work,omitempty"`
	Progress int64  `json:"progress,omitempty"`
}

// fileLock is the lock in front of the database. Who waits for it holds the
// queue, so a busy process sees that it is wanted and cannot overtake.
type fileLock struct {
	main, queue *flock.Flock
	// waited says that somebody else had the lock when it was asked for.
	waited bool
}

func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

func lockPath(dbPath string) string { return dbPath + ".lock" }

// takeLock takes the lock of the database at dbPath and leaves a note of self.
func takeLock(ctx context.Context, dbPath string, self harness.Holder, now func() time.Time) (*fileLock, error) {
	l := &fileLock{main: newLock(lockPath(dbPath)), queue: newLock(dbPath + ".queue")}
	w := waiter{path: lockPath(dbPath)}
	defer w.stop()
	if err := w.lock(ctx, l.queue); err != nil {
		return nil, err
	}
	err := w.lock(ctx, l.main)
	if unlockErr := l.queue.Unlock(); err == nil && unlockErr != nil {
		err = fmt.Errorf("leave the queue: %w", unlockErr)
	}
	if err != nil {
		return nil, err
	}
	l.waited = w.ticker != nil
	self.Since = now()
	if err := writeNote(lockPath(dbPath), lockHolder{Holder: self}); err != nil {
		return nil, fmt.Errorf("%w (and unlock: %w)", err, l.release())
	}
	return l, nil
}

// wanted reports whether another process waits for the lock.
func (l *fileLock) wanted() bool {
	free, err := l.queue.TryLock()
	if err != nil || !free {
		return true
	}
	return l.queue.Unlock() != nil
}

func (l *fileLock) release() error {
	if err := l.main.Unlock(); err != nil {
		return fmt.Errorf("unlock %s: %w", l.main.Path(), err)
	}
	return nil
}

// waiter waits for locks, in all no longer than [lockWait] after the holder's
// last sign of progress.
type waiter struct {
	path     string
	ticker   *time.Ticker
	deadline time.Time
	progress int64
}

func (w *waiter) lock(ctx context.Context, f *flock.Flock) error {
	for {
		ok, err := f.TryLock()
		if err != nil {
			if !strings.Contains(err.Error(), f.Path()) {
				err = fmt.Errorf("%s: %w", f.Path(), err)
			}
			return fmt.Errorf("lock: %w", err)
		}
		if ok {
			return nil
		}
		if w.ticker == nil {
			w.ticker = time.NewTicker(lockPoll)
			w.progress = readNote(w.path).Progress
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case at := <-w.ticker.C:
			if w.deadline.IsZero() {
				w.deadline = at.Add(lockWait)
			}
			if at.After(w.deadline) && !w.moves(at) {
				return w.busy()
			}
		}
	}
}

// moves gives the holder more time if its work went on.
func (w *waiter) moves(now time.Time) bool {
	note := readNote(w.path)
	if note.Work == "" || note.Progress == w.progress {
		return false
	}
	w.progress, w.deadline = note.Progress, now.Add(lockWait)
	return true
}

// busy names the holder. What to do about it depends on who waits, so it is left
// to the caller to say.
func (w *waiter) busy() error {
	note := readNote(w.path)
	if note.PID == 0 {
		return fmt.Errorf("%w by another process", harness.ErrLocked)
	}
	what := note.String()
	if note.Work != "" {
		what += ", which makes a " + note.Work
	}
	return fmt.Errorf("%w by %s since %s", harness.ErrLocked, what, note.Since.Format(time.DateTime))
}

func (w *waiter) stop() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
}

func writeNote(path string, note lockHolder) error {
	raw, err := json.Marshal(note)
	if err != nil {
		return fmt.Errorf("note in %s: %w", path, err)
	}
	if pad := lockNote - len(raw); pad > 0 {
		raw = append(raw, bytes.Repeat([]byte(" "), pad)...)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("note in the lock: %w", err)
	}
	_, err = f.WriteAt(raw, 0)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("note in the lock: %w", err)
	}
	return nil
}

// readNote returns who holds the lock, zero if it cannot be read: it only makes
// a message better.
func readNote(path string) lockHolder {
	var note lockHolder
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(bytes.TrimRight(raw, " \x00"), &note) != nil {
		return lockHolder{}
	}
	return note
}

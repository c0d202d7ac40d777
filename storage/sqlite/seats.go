package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

// locksSuffix follows the name of the database in that of the directory of the
// files that tell which drivers live.
const locksSuffix = ".locks"

// seats are the lock files. Each is that of one generation of a run, so a claim
// that is taken from a living driver needs no lock that this one has.
type seats struct {
	dir  string
	log  *slog.Logger
	mu   sync.Mutex
	held map[sqljournal.Seat]*flock.Flock
}

func newSeats(dir string, log *slog.Logger) *seats {
	return &seats{dir: dir, log: log, held: map[sqljournal.Seat]*flock.Flock{}}
}

func (s *seats) path(k sqljournal.Seat) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s.%d.lock", url.PathEscape(string(k.Run)), k.Generation))
}

// making takes the lock of whoever makes the database.
func (s *seats) making(ctx context.Context) (*flock.Flock, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.dir, "making.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err := lock.TryLockContext(ctx, makePoll)
	return lock, err
}

// parseSeat reads the name of a lock file.
func parseSeat(name string) (sqljournal.Seat, bool) {
	name, ok := strings.CutSuffix(name, ".lock")
	dot := strings.LastIndexByte(name, '.')
	if !ok || dot < 0 {
		return sqljournal.Seat{}, false
	}
	id, err := url.PathUnescape(name[:dot])
	n, numberErr := strconv.Atoi(name[dot+1:])
	return sqljournal.Seat{Run: harness.RunID(id), Generation: n}, err == nil && numberErr == nil && n > 0
}

// takeTries bounds how often a lock file is made again that somebody removes.
const takeTries = 100

// Take implements [sqljournal.Seats]. Within the transaction that writes nobody
// else takes one.
func (s *seats) Take(id harness.RunID, generation int) error {
	k := sqljournal.Seat{Run: id, Generation: generation}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for range takeTries {
		lock := flock.New(s.path(k), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		if err != nil {
			return err
		}
		if !ok {
			// Whoever took it before did not store that, and is about to remove it.
			return fmt.Errorf("another process is at it: %w", harness.ErrBusy)
		}
		there, err := inPlace(lock)
		if err != nil {
			return errors.Join(err, lock.Unlock())
		}
		if there {
			s.mu.Lock()
			s.held[k] = lock
			s.mu.Unlock()
			return nil
		}
		if err := lock.Unlock(); err != nil {
			return err
		}
	}
	return fmt.Errorf("its lock file %s is removed again and again: %w", s.path(k), harness.ErrBusy)
}

// inPlace reports whether a locked file is the one of its name: it may have been
// removed between opening and locking it.
func inPlace(lock *flock.Flock) (bool, error) {
	own, err := lock.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(lock.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(own, named), err
}

// Alive implements [sqljournal.Seats].
func (s *seats) Alive(id harness.RunID, generation int) (bool, error) {
	k := sqljournal.Seat{Run: id, Generation: generation}
	s.mu.Lock()
	_, own := s.held[k]
	s.mu.Unlock()
	if own {
		return true, nil
	}
	return lockedByAnother(s.path(k))
}

// lockedByAnother reports whether somebody has the lock of a file.
func lockedByAnother(path string) (bool, error) {
	probe := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := probe.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for a driver: %w", err)
	case free:
		return false, probe.Unlock()
	}
	return true, nil
}

// Drop implements [sqljournal.Seats]. The name goes before the lock, so that
// nobody takes the lock of a file that has its name.
func (s *seats) Drop(id harness.RunID, generation int) {
	k := sqljournal.Seat{Run: id, Generation: generation}
	s.mu.Lock()
	lock := s.held[k]
	delete(s.held, k)
	s.mu.Unlock()
	err := removeIfThere(s.path(k))
	if lock != nil {
		if unlocked := lock.Unlock(); unlocked != nil {
			err = errors.Join(err, unlocked)
		} else if err != nil {
			err = removeIfThere(s.path(k)) // not every system removes an open file
		}
	}
	if err != nil {
		s.log.Warn("give back a run", slog.String("run", string(id)), slog.Any("error", err))
	}
}

// sweep removes the lock files that tell nothing: their drivers died, and the
// runs were given back, claimed again or removed. It is called within a
// transaction that writes, so nobody takes one meanwhile.
func (s *seats) sweep(claimed map[sqljournal.Seat]bool) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for drivers: %w", err)
	}
	for _, e := range entries {
		k, ok := parseSeat(e.Name())
		if !ok || claimed[k] {
			continue
		}
		path := filepath.Join(s.dir, e.Name())
		held, err := lockedByAnother(path)
		if err != nil {
			return err
		}
		if !held {
			if err := removeIfThere(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// close gives back all seats.
func (s *seats) close() {
	s.mu.Lock()
	var all []sqljournal.Seat
	for k := range s.held {
		all = append(all, k)
	}
	s.mu.Unlock()
	for _, k := range all {
		s.Drop(k.Run, k.Generation)
	}
}

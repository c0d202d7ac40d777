package mem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

const (
	// spoolLock is the file that is locked as long as the process lives.
	spoolLock = "lock"
	// spoolTries bounds how often a directory is made anew because a sweep took it
	// for one that was left.
	spoolTries = 5
	// spoolUnlocked is how old a directory without a lock file is before it counts
	// as left by a process that was killed while it made it.
	spoolUnlocked = time.Hour
)

// Spool lets the store keep its artifacts in files instead of memory, in a private
// directory of its own below dir, empty for that of the system for temporary files.
// It is made when the first artifact comes. [Store.Close] removes it; what a killed
// process left is removed by [Sweep]. Call it before the store is used.
func (st *Store) Spool(dir string) {
	if dir == "" {
		dir = os.TempDir()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.blobs = &spool{base: dir}
}

// Close forgets the artifacts, with the directory that they are in. Later ones are
// [harness.ErrClosed]. It is idempotent.
func (st *Store) Close() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.blobs.close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// spool are blobs in files. It is guarded by the store's mutex.
type spool struct {
	base   string
	closed bool
	root   *os.Root
	lock   *flock.Flock
}

// spoolPrefix begins the names of the directories of this person.
func spoolPrefix() string { return fmt.Sprintf("cairn-%d-", os.Getuid()) }

func (s *spool) put(b rules.Bytes) error {
	if s.closed {
		return harness.ErrClosed
	}
	if s.root == nil {
		if err := s.make(); err != nil {
			return fmt.Errorf("keep artifacts in a temporary directory: %w", err)
		}
	}
	if _, err := s.root.Lstat(b.SHA256); err == nil {
		return nil
	}
	f, err := s.root.OpenFile(b.SHA256, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.root.Remove(b.SHA256))
	}
	return nil
}

func (s *spool) get(name string) ([]byte, error) {
	if s.closed {
		return nil, harness.ErrClosed
	}
	if s.root == nil {
		return nil, harness.ErrNotFound
	}
	data, err := s.root.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: the file in %s: %w", harness.ErrDamaged, s.root.Name(), err)
	}
	if b, err := rules.NewBytes(data); err != nil || b.SHA256 != name {
		return nil, fmt.Errorf("%w: %s was changed", harness.ErrDamaged, filepath.Join(s.root.Name(), name))
	}
	return data, nil
}

// make makes the directory and locks it.
func (s *spool) make() error {
	for range spoolTries {
		dir := filepath.Join(s.base, spoolPrefix()+harness.NewID())
		if err := os.Mkdir(dir, 0o700); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return err
		}
		root, lock, err := takeSpool(dir)
		if err != nil {
			return err
		}
		if root != nil {
			s.root, s.lock = root, lock
			return nil
		}
	}
	return fmt.Errorf("%s: no directory there stays", s.base)
}

// takeSpool opens a directory that was just made and locks it. Both are nil if it
// was swept before it was locked.
func takeSpool(dir string) (*os.Root, *flock.Flock, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, nothing(err)
	}
	// Where everybody may rename what is in the base, another directory can be in
	// the place of the one that was made.
	if info, err := root.Stat("."); err != nil || !private(info) {
		return nil, nil, errors.Join(fmt.Errorf("%s is not the directory that was made there; give a TMPDIR that others cannot change", dir), err, root.Close())
	}
	lock := newSpoolLock(dir)
	locked, err := lock.TryLock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.Join(err, root.Close())
	}
	if locked && sameFile(root, lock) {
		return root, lock, nil
	}
	return nil, nil, errors.Join(lock.Close(), root.Close())
}

// sameFile reports whether a lock is that of a directory.
func sameFile(root *os.Root, lock *flock.Flock) bool {
	inside, err := root.Lstat(spoolLock)
	if err != nil {
		return false
	}
	locked, err := os.Lstat(lock.Path())
	return err == nil && os.SameFile(inside, locked)
}

// private reports whether a directory is this person's and nobody else may look
// into it.
func private(info fs.FileInfo) bool {
	return info.IsDir() && mine(info) && (info.Mode().Perm()&0o077 == 0 || !privateModes)
}

func newSpoolLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, spoolLock), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

func (s *spool) close() error {
	if s.closed || s.root == nil {
		s.closed = true
		return nil
	}
	s.closed = true
	return removeSpool(s.root, s.lock)
}

// removeSpool removes the directory of a lock that is held, and gives both up. What
// is not of a spool is left, and the directory then, too.
func removeSpool(root *os.Root, lock *flock.Flock) error {
	names, ours, err := spoolFiles(root)
	if err == nil && !ours {
		err = fmt.Errorf("%s holds what is not of cairn and is left", root.Name())
	}
	for _, name := range names {
		if err == nil {
			err = root.Remove(name)
		}
	}
	// The lock is given up first where a file that is open cannot be removed.
	err = errors.Join(err, lock.Close())
	if err == nil {
		err = root.Remove(spoolLock)
	}
	err = errors.Join(err, root.Close())
	if err == nil {
		err = os.Remove(root.Name())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody cleans there
	}
	return err
}

// spoolFiles returns the artifacts in a directory, and whether there is nothing
// else but the lock file.
func spoolFiles(root *os.Root) (names []string, ours bool, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.Type().IsRegular():
			return nil, false, err
		case name == spoolLock:
		case len(name) == rules.DigestLength && strings.Trim(name, "0123456789abcdef") == "":
			names = append(names, name)
		default:
			return nil, false, err
		}
	}
	return names, true, err
}

// Sweep removes the directories below dir, empty for that of the system for
// temporary files, in which stores kept artifacts whose processes were killed, and
// returns how many. Those of others, those of the living, and whatever only looks
// like one are left. An error says what could not be removed; the rest was.
func Sweep(dir string, now time.Time) (removed int, err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("look for what killed processes left: %w", err)
	}
	for _, e := range entries {
		id, like := strings.CutPrefix(e.Name(), spoolPrefix())
		if !like || len(id) != 10 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" || !e.IsDir() {
			continue
		}
		gone, sweepErr := sweep(filepath.Join(dir, e.Name()), now)
		if sweepErr != nil {
			err = errors.Join(err, fmt.Errorf("remove what a killed process left: %w", sweepErr))
		}
		if gone {
			removed++
		}
	}
	return removed, err
}

// sweep removes one directory if its process is dead.
func sweep(dir string, now time.Time) (gone bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !private(info) {
		return false, nothing(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, nothing(err)
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(info, now) {
		return false, errors.Join(nothing(err), root.Close())
	}
	names, ours, err := spoolFiles(root)
	if err != nil || !ours {
		return false, errors.Join(nothing(err), root.Close())
	}
	if _, err := root.Lstat(spoolLock); err != nil {
		// It is being made, or its process was killed as it made it.
		err = root.Close()
		if len(names) > 0 || now.Sub(info.ModTime()) < spoolUnlocked || err != nil {
			return false, err
		}
		err = os.Remove(dir)
		return err == nil, nothing(err)
	}
	lock := newSpoolLock(dir)
	free, err := lock.TryLock()
	if err != nil || !free {
		return false, errors.Join(nothing(err), root.Close())
	}
	if err := removeSpool(root, lock); err != nil {
		return false, err
	}
	return true, nil
}

// nothing returns err unless it says that something is gone already.
func nothing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

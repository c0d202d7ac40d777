package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"cairn/harness"
)

// locksName is the directory of the files that tell which owners live.
const locksName = "locks"

// leaseKey names one generation of a session.
type leaseKey struct {
	session    harness.SessionID
	generation int
}

func (k leaseKey) fileName() string {
	return fmt.Sprintf("%s.%d.lock", k.session, k.generation)
}

// parseLeaseKey reads the name of a lock file.
func parseLeaseKey(name string) (leaseKey, bool) {
	name, ok := strings.CutSuffix(name, ".lock")
	if !ok {
		return leaseKey{}, false
	}
	id, gen, ok := strings.Cut(name, ".")
	n, err := strconv.Atoi(gen)
	return leaseKey{harness.SessionID(id), n}, ok && err == nil && n > 0
}

// heldLock is a lock file that this process holds.
type heldLock struct {
	lock   *flock.Flock
	holder harness.Holder
}

func (d *DB) locksDir() string { return filepath.Join(d.dir, locksName) }

func (d *DB) locksPath(k leaseKey) string { return filepath.Join(d.locksDir(), k.fileName()) }

// lockFiles are the generations of which there are lock files, by session,
// as they were when the transaction first looked.
type lockFiles map[harness.SessionID][]int

// lockFiles returns the lock files. All who make or remove one hold the lock of
// the database, so the list stays right for the transaction.
func (t *tx) lockFiles() (lockFiles, error) {
	if t.locks != nil {
		return t.locks, nil
	}
	entries, err := os.ReadDir(t.d.locksDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for owners: %w", err)
	}
	t.locks = lockFiles{}
	for _, e := range entries {
		if k, ok := parseLeaseKey(e.Name()); ok {
			t.locks[k.session] = append(t.locks[k.session], k.generation)
		}
	}
	return t.locks, nil
}

// lastGeneration returns the highest generation that has a lock file, or 0.
func (t *tx) lastGeneration(id harness.SessionID) (int, error) {
	files, err := t.lockFiles()
	if err != nil || len(files[id]) == 0 {
		return 0, err
	}
	return slices.Max(files[id]), nil
}

// owner returns who holds the generation of a session, if somebody living does.
func (t *tx) owner(id harness.SessionID, generation int) (harness.Holder, bool, error) {
	k := leaseKey{id, generation}
	if holder, ok := t.d.holds(k); ok {
		return holder, true, nil
	}
	files, err := t.lockFiles()
	if err != nil || !slices.Contains(files[id], generation) {
		return harness.Holder{}, false, err
	}
	path := t.d.locksPath(k)
	probe := flock.New(path, flock.SetFlag(os.O_RDWR), flock.SetPermissions(0o600))
	free, err := probe.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return harness.Holder{}, false, nil
	case err != nil:
		return harness.Holder{}, false, fmt.Errorf("look for the owner of session %s: %w", id, err)
	case free:
		return harness.Holder{}, false, probe.Unlock()
	}
	return readNote(path).Holder, true, nil
}

// holds returns what this process said when it took the lease.
func (d *DB) holds(k leaseKey) (harness.Holder, bool) {
	d.heldMu.Lock()
	defer d.heldMu.Unlock()
	if h, ok := d.held[k]; ok {
		return h.holder, true
	}
	return harness.Holder{}, false
}

// reserved reports whether a living process has taken a session that is not
// stored yet.
func (t *tx) reserved(id harness.SessionID) (bool, error) {
	generation, err := t.lastGeneration(id)
	if err != nil || generation == 0 {
		return false, err
	}
	_, alive, err := t.owner(id, generation)
	return alive, err
}

// takeOwnership makes and locks the lock file of a generation. It is undone if
// the transaction fails.
func (t *tx) takeOwnership(k leaseKey, h harness.Holder) error {
	path := t.d.locksPath(k)
	if err := os.MkdirAll(t.d.locksDir(), 0o700); err != nil {
		return err
	}
	lock := newLock(path)
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = harness.ErrBusy
	}
	if err == nil {
		err = writeNote(path, lockHolder{Holder: h})
	}
	if err != nil {
		return fmt.Errorf("take session %s: %w", k.session, err)
	}
	t.d.heldMu.Lock()
	t.d.held[k] = &heldLock{lock, h}
	t.d.heldMu.Unlock()
	t.undo = append(t.undo, func() { t.d.dropOwnership(k, true) })
	return nil
}

// dropOwnership unlocks a lock file of this process and removes it. The file of
// a forced generation of a session without messages is kept: the number in its
// name is all that says that older leases are lost.
func (d *DB) dropOwnership(k leaseKey, remove bool) {
	d.heldMu.Lock()
	h, ok := d.held[k]
	delete(d.held, k)
	d.heldMu.Unlock()
	if !ok {
		return
	}
	err := h.lock.Unlock()
	if remove {
		err = errors.Join(err, removeIfThere(h.lock.Path()))
	}
	if err != nil {
		d.log.Error("give back a session", slog.String("session", string(k.session)), slog.Any("error", err))
	}
}

// dropHeld gives back everything.
func (d *DB) dropHeld() {
	d.heldMu.Lock()
	var keys []leaseKey
	for k := range d.held {
		keys = append(keys, k)
	}
	d.heldMu.Unlock()
	for _, k := range keys {
		d.dropOwnership(k, k.generation == 1)
	}
}

// removeIfThere removes a file unless somebody else did.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// dropOlder removes the lock files of a session before a generation. Their
// owners are dead or have lost the session.
func (t *tx) dropOlder(id harness.SessionID, generation int) {
	for _, g := range t.locks[id] {
		if g >= generation {
			continue
		}
		if err := removeIfThere(t.d.locksPath(leaseKey{id, g})); err != nil {
			t.d.log.Error("remove an old lock file", slog.String("session", string(id)), slog.Any("error", err))
		}
	}
}

// sweepLocks removes the lock files of dead owners, which only say what their
// absence says as well. It keeps those of forced generations of sessions
// without messages; see dropOwnership.
func (t *tx) sweepLocks() error {
	files, err := t.lockFiles()
	if err != nil {
		return err
	}
	for id, generations := range files {
		_, stored, err := t.find(id)
		if err != nil {
			return err
		}
		for _, g := range generations {
			if g > 1 && !stored {
				continue
			}
			if _, alive, err := t.owner(id, g); err != nil {
				return err
			} else if !alive {
				if err := removeIfThere(t.d.locksPath(leaseKey{id, g})); err != nil {
					return err
				}
			}
		}
	}
	t.locks = nil
	return nil
}

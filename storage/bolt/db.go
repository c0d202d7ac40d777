package bolt

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cairn/harness"
)

// FileName is the usual name of the database in its directory.
const FileName = "cairn.db"

// Engine is the name that runs kept here carry.
const Engine = "bbolt"

// Options are what a [DB] needs besides its path.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger gets what is worth knowing and no error of the caller; nil
	// discards it.
	Logger *slog.Logger
	// Purpose says in one word what this process does, such as "chat". Others
	// read it when they have to wait.
	Purpose string
	// Terminal names the terminal; empty means that of standard input.
	Terminal string
	// Notify is told what a person should know. It is called by whoever finds
	// that, at any time after Open began and from any goroutine, returns at once
	// and does not use the database. Nil leaves it to the log.
	Notify func(Notice)
}

// DB is one database file. It is safe for concurrent use by any number of
// goroutines and processes; in one process transactions take turns.
type DB struct {
	path, dir string
	now       func() time.Time
	log       *slog.Logger
	self      harness.Holder
	// spare says that this is some copy and not the database in use.
	spare bool
	// apart says that only this process knows the file, which has no lock and
	// whose handle is kept.
	apart bool
	// steps are the migrations that this program knows, and asIs leaves an older
	// file in its schema.
	steps []step
	asIs  bool
	// migrated is what opening the file brought to the present schema, if it did.
	migrated *Migration
	notify   func(Notice)

	// exams is held by who checks the file in the background, exam is how far
	// that is, and faults asks for it.
	exams  sync.Mutex
	exam   *exam
	faults chan struct{}

	// toldMu guards told, the notices that were given.
	toldMu sync.Mutex
	told   map[string]bool

	// gate is held by whoever uses the fields below, for one transaction.
	gate   chan struct{}
	handle *handle
	idle   *time.Timer
	closed bool

	// heldMu guards held, which Interrupted and Owner look at.
	heldMu sync.Mutex
	held   map[leaseKey]*heldLock
	// process names the lock file that says that this process lives, once it
	// is needed. It is guarded by gate.
	process harness.SessionID

	// store is the id in the file as it was last opened.
	store atomic.Pointer[string]

	// cut and searched are for the search index.
	cut      cut
	searched searched
}

// Open checks the database at path and makes it if there is none. The errors
// of a file that cannot be used are [harness.ErrDamaged], [harness.ErrForeign],
// [harness.ErrNewer] and [harness.ErrLocked]; the file is left as it is.
func Open(path string, o Options) (*DB, error) {
	d, err := newDB(path, o)
	if err != nil {
		return nil, err
	}
	if err := d.prepare(context.Background()); err != nil {
		return nil, err
	}
	d.warnOfNetwork()
	return d, nil
}

// newDB returns a DB that has not touched its file yet.
func newDB(path string, o Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	// One file has one lock, whatever name it is opened by.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	d := &DB{
		path: path, dir: filepath.Dir(path), now: o.Now, log: o.Logger,
		gate: make(chan struct{}, 1), held: map[leaseKey]*heldLock{}, cut: usualCut(),
		steps: steps(), notify: o.Notify, faults: make(chan struct{}, 1),
	}
	if d.now == nil {
		d.now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.self = harness.Holder{PID: os.Getpid(), Terminal: o.Terminal, Purpose: o.Purpose, Since: d.now()}
	if d.self.Terminal == "" {
		d.self.Terminal = terminalName()
	}
	if host, err := os.Hostname(); err == nil {
		d.self.Host = host
	}
	d.idle = time.AfterFunc(time.Hour, d.expire)
	d.idle.Stop()
	return d, nil
}

// prepare makes the directory and the file if they are missing, and reads the
// file once.
func (d *DB) prepare(ctx context.Context) error {
	if err := d.prepareDir(); err != nil {
		return d.unusable(err)
	}
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer d.leave()
	if err := d.lockOnly(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(d.path); os.IsNotExist(err) {
		if err := d.create(); err != nil {
			d.giveUp()
			return d.unusable(err)
		}
	}
	if err := d.openLocked(ctx); err != nil {
		return err
	}
	if err := d.checkSmall(); err != nil {
		d.giveUp()
		return err
	}
	err := d.guarded(true, func(t *tx) error { return t.sweepLocks() })
	if err != nil {
		d.giveUp()
		return err
	}
	d.keep()
	return nil
}

// Close gives back every session this process holds and ends the use of d. It
// is idempotent.
func (d *DB) Close() error {
	d.gate <- struct{}{}
	defer d.leave()
	if d.closed {
		return nil
	}
	d.closed = true
	d.idle.Stop()
	d.dropHeld()
	return d.closeHandle()
}

// ID returns the id of the store, which stays as long as the file, also through
// copies of it.
func (d *DB) ID() string { return *d.store.Load() }

// Path returns the path of the file.
func (d *DB) Path() string { return d.path }

// Sessions returns the view that implements [harness.Sessions].
func (d *DB) Sessions() *Sessions { return &Sessions{d} }

// Transcript returns the view that implements [harness.Transcript].
func (d *DB) Transcript() *Transcript { return &Transcript{d} }

// Owners returns the view that implements [harness.Owners].
func (d *DB) Owners() *Owners { return &Owners{d} }

// Journal returns the view that implements the journal of runs.
func (d *DB) Journal() *Journal { return &Journal{d} }

// terminalName returns the terminal of standard input, "" if it is none.
func terminalName() string {
	target, err := os.Readlink("/proc/self/fd/0")
	if err != nil || !strings.HasPrefix(target, "/dev/") {
		return ""
	}
	name := strings.TrimPrefix(target, "/dev/")
	if strings.HasPrefix(name, "pts/") || strings.HasPrefix(name, "tty") {
		return name
	}
	return ""
}

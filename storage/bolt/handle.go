package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	"cairn/harness"
)

const (
	// keepOpen is how long an unused handle stays open. It keeps a burst, such
	// as the reads at the start, from opening the file again and again. Others
	// wait for it, and opening takes a tenth of a millisecond.
	keepOpen = 2 * time.Millisecond
	// boltWait bounds bbolt's own wait for its lock, which only a program that
	// does not take cairn.db.lock can hold.
	boltWait = time.Second
)

// handle is the open file with the lock in front of it. Either can be missing:
// the file while it is made, copied or replaced, the lock of a file that only
// this process knows.
type handle struct {
	lock *fileLock
	db   *boltFile
}

// boltFile is an open database file.
type boltFile struct {
	*bbolt.DB
	// file is what the DB uses; nil for a copy that nobody else knows.
	file *os.File
	// stuck says that a transaction began and got no further.
	stuck bool
}

// Begin begins a transaction. It panics if the first pages cannot be read, which
// happens when somebody cuts the file while it is open.
func (f *boltFile) Begin(writable bool) (*bbolt.Tx, error) {
	f.stuck = true
	t, err := f.DB.Begin(writable)
	f.stuck = false
	return t, err
}

// Close closes the file. A DB that is stuck has kept its own locks and would wait
// for them for ever, so that only what it opened is closed.
func (f *boltFile) Close() error {
	switch {
	case !f.stuck:
		return f.DB.Close()
	case f.file == nil:
		return nil
	}
	return f.file.Close()
}

// open makes d.handle usable. It keeps one that is open unless somebody waits.
func (d *DB) open(ctx context.Context) error {
	if d.apart {
		if d.handle == nil {
			return harness.ErrClosed
		}
		return nil
	}
	d.idle.Stop()
	if d.handle != nil {
		if !d.handle.lock.wanted() {
			return nil
		}
		d.giveUp()
	}
	if err := d.lockOnly(ctx); err != nil {
		return err
	}
	return d.openLocked(ctx)
}

// lockOnly takes the lock in front of the file.
func (d *DB) lockOnly(ctx context.Context) error {
	lock, err := takeLock(ctx, d.path, d.self, d.now)
	if err != nil {
		return d.unusable(err)
	}
	d.handle = &handle{lock: lock}
	return nil
}

// openLocked opens the file behind the lock that d.handle has, and brings an
// older one to the present schema. On an error the lock is given up.
func (d *DB) openLocked(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			d.giveUp()
		}
	}()
	info, err := os.Lstat(d.path)
	if err != nil {
		return d.unusable(err)
	}
	if err := d.checkFile(info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(d.path, 0o600); err != nil {
			return d.unusable(err)
		}
		d.log.Warn("made the database private", slog.String("path", d.path), slog.String("mode", info.Mode().Perm().String()))
	}
	if d.handle.db, err = d.openBolt(); err != nil {
		return err
	}
	f, err := d.checkFormat()
	d.store.Store(&f.Store)
	if err != nil || d.asIs || f.Schema == d.schema() {
		return err
	}
	return d.migrate(ctx, f.Schema)
}

// openBolt opens the checked file. bbolt panics on damage of the free list.
func (d *DB) openBolt() (opened *boltFile, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var file *os.File
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("damage in the database", slog.String("path", d.path), slog.Any("panic", p))
			// bbolt never got to the point of owning the file.
			err = errors.Join(d.damaged("the free list", fmt.Sprint(p)), file.Close())
		}
	}()
	db, err := bbolt.Open(d.path, 0o600, &bbolt.Options{
		Timeout: boltWait, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			// The file was there a moment ago. Making it anew would replace a
			// conversation with nothing.
			f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
			file = f
			return f, err
		},
	})
	if err != nil {
		return nil, d.unusable(err)
	}
	return &boltFile{DB: db, file: file}, nil
}

// keep leaves the handle open for a moment, unless somebody waits for it or is
// likely to.
func (d *DB) keep() {
	if d.handle == nil || d.apart {
		return
	}
	if d.handle.lock.waited || d.handle.lock.wanted() {
		d.giveUp()
		return
	}
	d.idle.Reset(keepOpen)
}

// expire closes a handle that was not used for a while. If a transaction is
// under way it looks again later: that one may have started the time already and
// not left yet.
func (d *DB) expire() {
	select {
	case d.gate <- struct{}{}:
		d.giveUp()
		d.leave()
	default:
		d.idle.Reset(keepOpen)
	}
}

// Rest closes the file at once, as happens by itself some moments after its last
// use. A process that is about to be stopped calls it, as others would wait for
// one that holds the file and cannot let go.
func (d *DB) Rest() {
	d.gate <- struct{}{}
	d.idle.Stop()
	d.giveUp()
	d.leave()
}

// giveUp closes the handle where nobody can be told of an error.
func (d *DB) giveUp() {
	if err := d.closeHandle(); err != nil {
		d.log.Error("close the database", slog.String("path", d.path), slog.Any("error", err))
	}
}

func (d *DB) closeHandle() (err error) {
	h := d.handle
	if h == nil {
		return nil
	}
	d.handle = nil
	err = h.closeDB()
	if h.lock != nil {
		err = errors.Join(err, h.lock.release())
	}
	return err
}

// closeDB closes the file and keeps the lock.
func (h *handle) closeDB() error {
	db := h.db
	h.db = nil
	if db == nil {
		return nil
	}
	return db.Close()
}

package bolt

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"cairn/harness"
)

// beingMade follows the name of a database in the names of those that are being
// made in its place.
const beingMade = ".new-"

// prepareDir makes the directory of the database, for its owner only, and
// tightens one that is wider and holds nothing else.
func (d *DB) prepareDir() error {
	for _, dir := range []string{d.dir, d.locksDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
			continue
		}
		if !d.ours(dir) {
			d.log.Warn("the directory can be read by others", slog.String("dir", dir), slog.String("mode", info.Mode().Perm().String()))
			continue
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
		d.log.Warn("made the directory private", slog.String("dir", dir), slog.String("mode", info.Mode().Perm().String()))
	}
	return nil
}

// ours reports whether a directory holds nothing but what cairn puts there, so
// that taking it from others takes nothing else.
func (d *DB) ours(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		name := e.Name()
		known := strings.HasPrefix(name, "cairn") || strings.HasPrefix(name, filepath.Base(d.path)) ||
			name == locksName || name == backupsName || filepath.Ext(name) == ".lock"
		if !known {
			return false
		}
	}
	return true
}

// create makes the database as another file and links it into place, so that
// no half-made one is ever at the path. The lock must be held.
func (d *DB) create() (err error) {
	if err := d.dropHalfMade(); err != nil {
		return err
	}
	temp, err := os.CreateTemp(d.dir, filepath.Base(d.path)+beingMade+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeIfThere(temp.Name())) }()
	if err := temp.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(temp.Name(), 0o600, &bbolt.Options{Timeout: boltWait, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(b *bbolt.Tx) error {
		t := &tx{d: d, b: b, now: d.now()}
		return t.writeFormat()
	})
	// The file grew since bbolt last synced its size.
	if err = errors.Join(err, db.Sync(), db.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), d.path); err != nil {
		// Not every file system has links. The lock keeps others away.
		if _, statErr := os.Lstat(d.path); statErr == nil {
			return fmt.Errorf("create %s: %w", d.path, harness.ErrExists)
		}
		if err := os.Rename(temp.Name(), d.path); err != nil {
			return err
		}
	}
	return syncDir(d.dir)
}

// dropHalfMade removes what a killed process left of making the database. It
// compares names: in a pattern the user's directory would have a meaning.
func (d *DB) dropHalfMade() error {
	return dropNamed(d.dir, filepath.Base(d.path)+beingMade, time.Time{})
}

// dropNamed removes the files in dir whose names are prefix and a number, as
// those that are being made have, and that were last written before a time; the
// zero time is for all.
func dropNamed(dir, prefix string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), prefix)
		if !ours || !e.Type().IsRegular() || strings.Trim(number, "0123456789") != "" {
			continue
		}
		if info, err := e.Info(); err != nil || !before.IsZero() && info.ModTime().After(before) {
			continue // gone, or somebody's who is at it
		}
		if err := removeIfThere(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes a new name in dir survive a power cut.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

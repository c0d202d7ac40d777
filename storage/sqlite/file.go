package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

const (
	// application marks our files among those of SQLite: "carn".
	application = 0x6361726e
	// magic begins every file of SQLite, which has no smaller ones than the least
	// page.
	magic     = "SQLite format 3\x00"
	leastPage = 512
	// beingMade follows the name of a file in that of the one that is being made in
	// its place.
	beingMade = ".new"
	// makePoll is how often it is looked whether another process has made the file.
	makePoll = 5 * time.Millisecond
)

// prepare makes the file if there is none, and refuses what is not ours before
// anything is written.
func (q *Queue) prepare(ctx context.Context) error {
	info, err := os.Stat(q.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := q.create(ctx); err != nil {
			return err
		}
		info, err = os.Stat(q.path)
	}
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is no file (%s): %w; name a file", info.Mode().Type(), harness.ErrForeign)
	case info.Size() == 0:
		return fmt.Errorf("the file is empty, and cairn never leaves one so: remove it, or put the right one in its place: %w", harness.ErrDamaged)
	case info.Size() < leastPage:
		return q.checkShort()
	}
	if err := q.checkMark(ctx); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := os.Chmod(q.path, 0o600); err != nil {
			return fmt.Errorf("others can read it, and that cannot be changed: %w", err)
		}
	}
	return nil
}

// checkShort tells what a file is that is too short for a database.
func (q *Queue) checkShort() error {
	data, err := os.ReadFile(q.path)
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(data), magic) {
		return fmt.Errorf("the file was cut off after %d bytes; put the right one in its place, or remove it: %w", len(data), harness.ErrDamaged)
	}
	return notSQLite()
}

func notSQLite() error {
	return fmt.Errorf("the file is not one of SQLite; name another: %w", harness.ErrForeign)
}

// checkMark reads the mark of the file, through SQLite: to close a file that this
// process has open in SQLite too would give up the locks on it.
func (q *Queue) checkMark(ctx context.Context) (err error) {
	look, err := sql.Open(driver, source(q.path, "mode=ro&"+settings()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, look.Close()) }()
	var mark int64
	var e *sqlite.Error
	switch err := look.QueryRowContext(ctx, "PRAGMA application_id").Scan(&mark); {
	case errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_NOTADB:
		return notSQLite()
	case err != nil:
		return err
	case mark != application:
		return fmt.Errorf("the file of SQLite is another program's; name another: %w", harness.ErrForeign)
	}
	return nil
}

// create makes the file under another name, whole, and gives it its own then. Of
// several processes one does that.
func (q *Queue) create(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Dir(q.path), 0o700); err != nil {
		return err
	}
	making, err := q.seats.making(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, making.Unlock()) }()
	if _, err := os.Stat(q.path); !errors.Is(err, fs.ErrNotExist) {
		return err // somebody else was first
	}
	temp := q.path + beingMade
	for _, left := range []string{"", "-journal", "-wal", "-shm"} {
		if err := removeIfThere(temp + left); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := q.fill(ctx, temp); err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	if err := os.Rename(temp, q.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(q.path))
}

// fill makes the tables in an empty file and leaves it on disk, all in one.
func (q *Queue) fill(ctx context.Context, path string) (err error) {
	made, err := sql.Open(driver, source(path, fmt.Sprintf(
		"mode=rw&_txlock=immediate&_auto_vacuum=incremental&_pragma=application_id(%d)&%s", application, settings())))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	made.SetMaxOpenConns(1)
	if _, err := transact(ctx, made, func(t sqljournal.Tx) error { return q.Migrate(ctx, t) }); err != nil {
		return err
	}
	var mode string
	if err := made.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system has no write-ahead log for SQLite (%q): choose a place on a local disk", mode)
	}
	return nil
}

// inPlace refuses to write to a file that has its name no more: what is written
// there is gone with the last process that has it open.
func (q *Queue) inPlace() error {
	info, err := os.Stat(q.path)
	if err == nil && os.SameFile(info, q.file) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return q.explain(err)
	}
	return fmt.Errorf("%s was removed or replaced while it was in use: nothing is written to it any more; put it back and start again: %w", q.path, harness.ErrDamaged)
}

// removeIfThere removes a file unless somebody else did.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
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

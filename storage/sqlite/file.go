package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

const (
	// application marks our files among those of SQLite: "carn".
	application = 0x6361726e
	// magic begins every file of SQLite, and the mark stands at an offset behind it.
	magic       = "SQLite format 3\x00"
	markAt      = 68
	headerBytes = 100
	// beingMade follows the name of a file in the names of those that are being
	// made in its place.
	beingMade = ".new-"
)

// prepare makes the file if there is none, and refuses what is not ours before
// anything is written.
func (q *Queue) prepare(ctx context.Context) error {
	info, err := os.Stat(q.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := q.create(ctx); err != nil {
			return fmt.Errorf("%w; choose a place that you can write", q.explain(err))
		}
		info, err = os.Stat(q.path)
	}
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is no file (%s): %w; name a file", info.Mode().Type(), harness.ErrForeign)
	}
	if err := q.checkHeader(); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := os.Chmod(q.path, 0o600); err != nil {
			return fmt.Errorf("others can read it, and that cannot be changed: %w", err)
		}
	}
	return nil
}

// checkHeader reads the mark of the file.
func (q *Queue) checkHeader() error {
	f, err := os.Open(q.path)
	if err != nil {
		return err
	}
	header := make([]byte, headerBytes)
	n, err := io.ReadFull(f, header)
	if err := f.Close(); err != nil {
		return err
	}
	switch {
	case n == 0:
		return fmt.Errorf("the file is empty, and cairn never leaves one so: remove it, or put the right one in its place: %w", harness.ErrDamaged)
	case !strings.HasPrefix(string(header[:n]), magic[:min(n, len(magic))]):
		return fmt.Errorf("the file is not one of SQLite; name another: %w", harness.ErrForeign)
	case err != nil:
		return fmt.Errorf("the file was cut off after %d bytes; put the right one in its place, or remove it: %w", n, harness.ErrDamaged)
	case binary.BigEndian.Uint32(header[markAt:]) != application:
		return fmt.Errorf("the file of SQLite is another program's; name another: %w", harness.ErrForeign)
	}
	return nil
}

// create makes the file under another name and links it into place, so that no
// half-made one is ever there. Another process may do the same.
func (q *Queue) create(ctx context.Context) (err error) {
	dir := filepath.Dir(q.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, filepath.Base(q.path)+beingMade+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeIfThere(temp.Name())) }()
	if err := temp.Close(); err != nil {
		return err
	}
	if err := q.fill(ctx, temp.Name()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), q.path); err != nil && !errors.Is(err, fs.ErrExist) {
		// Not every file system has links.
		if err := os.Rename(temp.Name(), q.path); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// fill makes the tables in an empty file and leaves it on disk, all in one.
func (q *Queue) fill(ctx context.Context, path string) (err error) {
	made, err := sql.Open("sqlite", source(path, fmt.Sprintf(
		"mode=rw&_txlock=immediate&_auto_vacuum=incremental&_pragma=application_id(%d)&_pragma=journal_mode(DELETE)&%s", application, settings())))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	made.SetMaxOpenConns(1)
	begun, err := made.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := q.Migrate(ctx, sqljournal.Tx(&tx{Tx: begun})); err != nil {
		return errors.Join(err, begun.Rollback())
	}
	if err := begun.Commit(); err != nil {
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

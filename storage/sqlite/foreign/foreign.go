// Package foreign reads the conversations that other programs keep in SQLite: the
// logs of llm and the database of crush. The one thing to know: the file of the
// other program is copied and never opened as a database, so that nothing in it or
// beside it changes and no lock of its owner is met.
package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
)

// Magic begins every file of SQLite.
const Magic = "SQLite format 3\x00"

// Bounds on what is read.
const (
	// maxFile is the size of a database, in bytes, and maxValue that of one value.
	maxFile  = 4 << 30
	maxValue = 64 << 20
	// maxTalks is how many conversations it has, maxRows how many rows one of them.
	maxTalks = 1_000_000
	maxRows  = 500_000
	// maxLoad is the size of all values of one conversation, in bytes.
	maxLoad = 512 << 20
)

// copies is how often a file is copied that changes meanwhile.
const copies = 5

var _ foreign.Source = (*Database)(nil)

// Database is a copy of the database of another program.
type Database struct {
	name string
	dir  string
	db   *sql.DB
	conn *sql.Conn
	// columns are those of each plain table.
	columns map[string]map[string]bool
	each    func(ctx context.Context, do func(foreign.Session) error) error
	// room is what may still be read for one conversation, in bytes.
	room int64
}

// Open copies a database and opens the copy. One that is neither of llm nor of crush
// is [foreign.ErrUnknown], one whose bytes are not what was written
// [harness.ErrDamaged]. The caller closes it, which removes the copy.
func Open(ctx context.Context, path string) (*Database, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	d := &Database{name: path}
	if d.dir, err = os.MkdirTemp("", "cairn-import-"); err != nil {
		return nil, fmt.Errorf("a place for a copy: %w", err)
	}
	if err := d.open(ctx, path); err != nil {
		return nil, errors.Join(explain(err), d.Close())
	}
	return d, nil
}

func (d *Database) open(ctx context.Context, path string) (err error) {
	own := filepath.Join(d.dir, "copy.db")
	if err := copied(ctx, path, own); err != nil {
		return err
	}
	where := (&url.URL{
		Scheme: "file", Path: filepath.ToSlash(own),
		// What the copy needs to be whole is done to it; nothing in it is trusted.
		RawQuery: "mode=rw&_pragma=query_only(ON)&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)",
	}).String()
	if d.db, err = sql.Open("sqlite", where); err != nil {
		return err
	}
	d.db.SetMaxOpenConns(1)
	if d.conn, err = d.db.Conn(ctx); err != nil {
		return err
	}
	if _, err := sqlite.Limit(d.conn, lib.SQLITE_LIMIT_LENGTH, maxValue); err != nil {
		return err
	}
	if err := d.readTables(ctx); err != nil {
		return err
	}
	switch {
	case d.has("sessions", "id", "title") && d.has("messages", "session_id", "role", "parts"):
		d.each = d.crush
	case d.has("responses", "id", "prompt", "response"), d.has("threads", "id") && d.has("messages", "hash"),
		d.has("logs", "prompt", "response"), d.has("log", "prompt", "response"):
		d.each = d.llm
	default:
		return fmt.Errorf("%w: it is a database of SQLite, and neither one of llm nor of crush", foreign.ErrUnknown)
	}
	return nil
}

// Each implements [foreign.Source].
func (d *Database) Each(ctx context.Context, do func(foreign.Session) error) error {
	var stopped error
	err := d.each(ctx, func(s foreign.Session) error {
		stopped = do(s)
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	return explain(err)
}

// Close implements [foreign.Source].
func (d *Database) Close() error {
	var err error
	if d.conn != nil {
		err = d.conn.Close()
	}
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
	}
	if err = errors.Join(err, os.RemoveAll(d.dir)); err != nil {
		return fmt.Errorf("close the copy of %s: %w", d.name, err)
	}
	return nil
}

// explain words what SQLite says of a file.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: it is cut short or no database: %w", harness.ErrDamaged, err)
	case lib.SQLITE_TOOBIG:
		return fmt.Errorf("%w: a value has more than %d MiB", foreign.ErrSize, maxValue>>20)
	}
	return err
}

// beside are the files that belong to a database.
func beside() []string { return []string{"", "-wal", "-journal"} }

// copied copies a database with what is not written to it yet. It is done again if
// somebody writes meanwhile: half of two states would be none.
func copied(ctx context.Context, from, to string) error {
	for range copies {
		before, err := states(from)
		if err != nil {
			return err
		}
		for _, suffix := range beside() {
			if err := copyFile(ctx, from+suffix, to+suffix, before[suffix] != nil); err != nil {
				return err
			}
		}
		after, err := states(from)
		if err != nil {
			return err
		}
		if unchanged(before, after) {
			return nil
		}
	}
	return errors.New("somebody writes to it all the time; close the program that does")
}

// states are the files of a database as they are now.
func states(path string) (map[string]fs.FileInfo, error) {
	all, total := map[string]fs.FileInfo{}, int64(0)
	for _, suffix := range beside() {
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist) && suffix != "":
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%w: it is no plain file", foreign.ErrUnknown)
		}
		all[suffix] = info
		total += info.Size()
	}
	if total > maxFile {
		return nil, fmt.Errorf("%w: it has %d bytes, and at most %d are read", foreign.ErrSize, total, int64(maxFile))
	}
	return all, nil
}

func unchanged(before, after map[string]fs.FileInfo) bool {
	if len(before) != len(after) {
		return false
	}
	for suffix, was := range before {
		is := after[suffix]
		if is == nil || was.Size() != is.Size() || !was.ModTime().Equal(is.ModTime()) || !os.SameFile(was, is) {
			return false
		}
	}
	return true
}

// copyFile copies a file, or removes what an earlier copy left if there is none.
func copyFile(ctx context.Context, from, to string, there bool) (err error) {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !there {
		return nil
	}
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is gone again, which is seen afterwards
	}
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, io.LimitReader(patient{ctx, in}, maxFile)); err != nil {
		return fmt.Errorf("copy it: %w", err)
	}
	return nil
}

// patient is a reader that ends with its context.
type patient struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to one
	in  io.Reader
}

// Read implements [io.Reader].
func (p patient) Read(into []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.in.Read(into)
}

// since is a time that is a number of seconds or of milliseconds since 1970: a
// program that meant to write the one wrote the other.
func since(n int64) time.Time {
	const year5000 = 95_617_584_000
	switch {
	case n <= 0:
		return time.Time{}
	case n > year5000:
		return time.UnixMilli(n).UTC()
	}
	return time.Unix(n, 0).UTC()
}

// moment reads a time as Python writes it in UTC, with or without an offset; none if
// it cannot be read.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

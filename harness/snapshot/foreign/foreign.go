// Package foreign reads the conversations that other programs keep in files: the
// snapshots of HarnessX, the session directories of Strands and the exports of
// ChatGPT and Claude. A [Talk] is what their readers have in common. The one thing
// to know: nothing that is read is trusted. Whatever the bytes are, what comes out
// is a document that can be saved, or an error that names the file and the place.
package foreign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// Sentinels of this package, wrapped with the file and the place. Bytes that are
// no JSON, or JSON of another shape, are [harness.ErrDamaged].
var (
	// ErrUnknown means that something is of no program that is read here.
	ErrUnknown = errors.New("nothing that can be read here")
	// ErrVersion means that a format has a version that this package does not
	// read. The error around it has the version.
	ErrVersion = errors.New("a version that cannot be read")
	// ErrSize means that there is more than can be read at once.
	ErrSize = errors.New("too large")
)

// Bounds on what is read, in bytes.
const (
	// MaxFile is the size of one file.
	MaxFile = 256 << 20
	// maxAll is that of all files of one call.
	maxAll = 1 << 30
)

// Session is one conversation of another harness.
type Session struct {
	snapshot.Document
	// Name is the id as it is spelt there. The id of the document is made from it
	// and may be that of another name, too.
	Name string
	// Source says in words what it was read from, such as "a HarnessX snapshot,
	// version 2".
	Source string
	// Left names what the document has no place for, sorted.
	Left []string
	// Tags, Pinned and Dir describe the session as in [harness.Session].
	Tags   []string
	Pinned bool
	Dir    string
}

// Source gives the conversations of an export or of a database, as often as it is
// asked and the same each time. What is read is bounded to one conversation.
type Source interface {
	// Each calls do with each conversation in turn, until do or the reading fails.
	Each(ctx context.Context, do func(Session) error) error
	// Close releases what was opened.
	Close() error
}

// ReadDir reads all sessions in a directory of either harness.
func ReadDir(root *os.Root) ([]Session, error) {
	list, err := ReadStrands(root)
	if !errors.Is(err, ErrUnknown) {
		return list, err
	}
	return ReadHarnessXDir(root)
}

// legalID returns the id of a session that is called name elsewhere.
func legalID(name string) harness.SessionID {
	id, _, err := harness.ParseSessionID(name)
	if err != nil {
		return harness.SessionID("import-" + digest([]byte(name))[:16])
	}
	return id
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// folder reads files below a directory, never outside of it.
type folder struct {
	root *os.Root
	// room is what may still be read, in bytes.
	room int64
}

func newFolder(root *os.Root) *folder { return &folder{root: root, room: maxAll} }

// read returns a file. The error names it.
func (f *folder) read(name string) (data []byte, err error) {
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		return nil, named(name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: not a plain file", name, harness.ErrDamaged) // a pipe would be waited for
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%s: %w: it has %d bytes, and at most %d are read", name, ErrSize, info.Size(), int64(MaxFile))
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, named(name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data, err = io.ReadAll(io.LimitReader(file, MaxFile+1))
	f.room -= int64(len(data))
	switch {
	case err != nil:
		return nil, named(name, err)
	case len(data) > MaxFile:
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", name, ErrSize, int64(MaxFile))
	case f.room < 0:
		return nil, fmt.Errorf("%s: %w: the files have more than %d bytes together", name, ErrSize, int64(maxAll))
	}
	return data, nil
}

// named is an error of the file system with the path inside the directory alone.
func named(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// dirs returns the names of the directories in a directory, sorted; none if it is
// not there. Symbolic links are not followed.
func (f *folder) dirs(name string) ([]string, error) {
	return f.list(name, fs.DirEntry.IsDir)
}

// files returns the names of the plain files in a directory.
func (f *folder) files(name string) ([]string, error) {
	return f.list(name, func(e fs.DirEntry) bool { return e.Type().IsRegular() })
}

func (f *folder) list(name string, want func(fs.DirEntry) bool) ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, named(name, err)
	}
	var names []string
	for _, e := range entries {
		if want(e) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// has reports whether a directory or file is there, as it is and not by a link.
func (f *folder) has(name string, dir bool) bool {
	info, err := f.root.Lstat(name)
	return err == nil && info.IsDir() == dir && (dir || info.Mode().IsRegular())
}

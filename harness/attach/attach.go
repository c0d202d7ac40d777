// Package attach makes input for a model of files: images, documents and text,
// typed by what they hold and never by their names. The one thing to know: it
// reads the one file that a person named and nothing else, refuses what no model
// can take before anything is sent or stored, and says why in one sentence.
package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cairn/harness"
	"cairn/harness/tool/files"
)

// ErrDirectory means that what has the name is a directory.
var ErrDirectory = errors.New("a directory")

// Missing is the reason of an [Error] that there is nothing of the name.
const Missing = "does not exist"

// Error says why a file is not attached.
type Error struct {
	// Name is the file as it was named.
	Name string
	// Reason goes on from the name to a sentence.
	Reason string
	// Err is the reason of the file system, if there is one: [fs.ErrNotExist]
	// where there is no such file, or what has the name is no file.
	Err error
}

// Error implements error with one sentence.
func (e *Error) Error() string { return e.Name + " " + e.Reason }

// Unwrap returns the reason of the file system.
func (e *Error) Unwrap() error { return e.Err }

// Files finds the files that a person names.
type Files struct {
	// Dir is the working directory, absolute: what relative paths begin at. A link
	// in it does not lead out of it, because a person who names a file there may
	// not know that it is one.
	Dir string
	// Home is what a leading ~ stands for; empty leaves it alone.
	Home string
}

// Seen is a file as it was when it was looked at.
type Seen struct {
	// File has no Data.
	File harness.File
	// Text says that it goes into a message as text.
	Text bool
	// Modified is when it was last changed, zero if nobody knows.
	Modified time.Time
}

// Look says what a file would be attached as. Its errors are those of
// [Files.Read].
func (f Files) Look(ctx context.Context, path string) (Seen, error) {
	part, modified, err := f.load(ctx, path)
	if err != nil {
		return Seen{}, err
	}
	seen := Seen{File: *part.File, Text: part.Kind == harness.PartText, Modified: modified}
	seen.File.Data = nil
	return seen, nil
}

// Read reads a file: as a file part with its Data, or as a text part whose File
// says what it is. A reason not to attach it is an [*Error].
func (f Files) Read(ctx context.Context, path string) (harness.Part, error) {
	part, _, err := f.load(ctx, path)
	return part, err
}

// Path is the absolute path of a file as it was named.
func (f Files) Path(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && f.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		path = f.Home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Dir, path)
	}
	return filepath.Clean(path)
}

func (f Files) load(ctx context.Context, named string) (harness.Part, time.Time, error) {
	if strings.TrimSpace(named) == "" || strings.ContainsRune(named, 0) {
		return harness.Part{}, time.Time{}, &Error{fmt.Sprintf("%q", named), "is no name of a file", fs.ErrNotExist}
	}
	path, err := f.real(named)
	if err != nil {
		return harness.Part{}, time.Time{}, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return harness.Part{}, time.Time{}, unreadable(named, err)
	}
	if err := ordinary(named, info); err != nil {
		return harness.Part{}, time.Time{}, err
	}
	if err := ctx.Err(); err != nil {
		return harness.Part{}, time.Time{}, err
	}
	data, err := read(named, path, info)
	if err != nil {
		return harness.Part{}, time.Time{}, err
	}
	if err := ctx.Err(); err != nil {
		return harness.Part{}, time.Time{}, err
	}
	part, err := typed(named, filepath.Base(f.Path(named)), data)
	return part, info.ModTime(), err
}

// real is the path of a file without links, if it may be read.
func (f Files) real(named string) (string, error) {
	path := f.Path(named)
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, e := os.Lstat(path); e == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", &Error{named, "is a link to nothing; name the file itself", err}
		}
	}
	if err != nil {
		return "", unreadable(named, err)
	}
	if dir, err := filepath.EvalSymlinks(f.Dir); err == nil && f.Dir != "" && below(f.Dir, path) && !below(dir, target) {
		return "", &Error{named, "is a link that leads out of this directory, to " + target + "; name that file itself", nil}
	}
	for _, p := range []string{path, target} {
		switch {
		case files.Secret(p):
			return "", &Error{named, "is where keys and passwords are usually kept, so it is not sent to a model; copy what is needed of it into the message", nil}
		case files.System(p):
			return "", &Error{named, "is no file in the usual sense but a part of the system", nil}
		}
	}
	return target, nil
}

// below reports whether a path is in a directory.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// unreadable words what the file system has against a file.
func unreadable(named string, err error) error {
	reason := err
	var at *fs.PathError
	if errors.As(err, &at) {
		reason = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return &Error{named, Missing, errors.Join(fs.ErrNotExist, err)}
	case errors.Is(err, fs.ErrPermission):
		return &Error{named, "cannot be read: you have no permission", err}
	}
	return &Error{named, "cannot be read: " + reason.Error(), err}
}

// ordinary refuses what is no file that ends.
func ordinary(named string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &Error{named, "is a directory; name the files in it", errors.Join(ErrDirectory, fs.ErrNotExist)}
	case mode&fs.ModeNamedPipe != 0:
		return &Error{named, "is a pipe; give what comes out of it through standard input", nil}
	case mode&fs.ModeSocket != 0:
		return &Error{named, "is a socket, not a file", nil}
	case mode&fs.ModeDevice != 0:
		return &Error{named, "is a device, not a file", nil}
	default:
	}
	return &Error{named, "is no ordinary file", nil}
}

// read reads the file that info tells of, and no other one.
func read(named, path string, info fs.FileInfo) (data []byte, err error) {
	// Without O_NONBLOCK opening what became a pipe would wait for its writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unreadable(named, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	now, err := file.Stat()
	if err != nil {
		return nil, unreadable(named, err)
	}
	if !os.SameFile(info, now) {
		return nil, &Error{named, "was put in the place of another file while it was read; try again", nil}
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, unreadable(named, err)
	}
	head = head[:n]
	kind := sniff(head)
	if now.Size() > kind.most {
		return nil, kind.tooLarge(named, now.Size())
	}
	rest, err := io.ReadAll(io.LimitReader(file, kind.most+1-int64(n)))
	if err != nil {
		return nil, unreadable(named, err)
	}
	return append(head, rest...), nil
}

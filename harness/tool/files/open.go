package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// descend opens the real directory dir, which is base or below it, one name at
// a time and never through a link. With made, missing ones are made and added
// to it, with their paths from base.
func descend(base, dir string, made *[]string) (*os.Root, error) {
	rel, err := filepath.Rel(base, dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(base)
	if err != nil || rel == "." {
		return root, err
	}
	at := ""
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		var next *os.Root
		at = filepath.Join(at, name)
		if made != nil {
			err = ensure(root, name, at, made)
		}
		if err == nil {
			next, err = step(root, name)
		}
		if err = errors.Join(err, root.Close()); err != nil {
			if next != nil {
				err = errors.Join(err, next.Close())
			}
			return nil, err
		}
		root = next
	}
	return root, nil
}

// ensure makes a directory of root if nothing of its name is there, and adds
// its path to made.
func ensure(root *os.Root, name, at string, made *[]string) error {
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch err := root.Mkdir(name, 0o755); {
	case errors.Is(err, fs.ErrExist):
		return nil // somebody else was faster
	case err != nil:
		return err
	}
	*made = append(*made, at)
	return syncDir(root)
}

// unmake removes the directories again that were made for a write that failed.
func unmake(base string, made []string) error {
	if len(made) == 0 {
		return nil
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	for _, at := range slices.Backward(made) {
		if err = root.Remove(at); err != nil {
			break // somebody else put something into it
		}
	}
	return errors.Join(err, root.Close())
}

// step opens a directory of root that is no link, and stays no link while it
// is opened.
func step(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return enter(root, name, info)
}

// enter opens the directory of root that info tells of, and no other one.
func enter(root *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%q is a link by now: it %w", name, ErrChanged)
	case !info.IsDir():
		return nil, fmt.Errorf("%q is no directory: it %w", name, ErrKind)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := next.Stat(".")
	if err == nil && !os.SameFile(now, info) {
		err = fmt.Errorf("%q %w", name, ErrChanged)
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// open opens the place for reading and makes sure that it is still what was
// judged.
func (p place) open() (*os.File, error) {
	f, err := openSame(p.dir, p.name, p.info)
	if err != nil && !errors.Is(err, ErrChanged) {
		err = plainly(p.asked, err)
	}
	return f, err
}

// root opens the place, a directory, as a root of its own.
func (p place) root() (*os.Root, error) {
	root, err := enter(p.dir, p.name, p.info)
	if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrKind) {
		err = plainly(p.asked, err)
	}
	return root, err
}

// openSame opens the file of dir that info tells of, and no other one.
func openSame(dir *os.Root, name string, info fs.FileInfo) (*os.File, error) {
	// Without O_NONBLOCK opening a named pipe would wait for its writer.
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, info) {
		err = fmt.Errorf("%q %w", name, ErrChanged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// regular refuses what is no ordinary file.
func (p place) regular() error {
	switch {
	case p.info.IsDir():
		return fmt.Errorf("%q is a directory; use list_directory: it %w", p.asked, ErrKind)
	case p.info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%q is a link by now: it %w", p.asked, ErrChanged)
	case !p.info.Mode().IsRegular():
		return fmt.Errorf("%q is a device, pipe or socket: it %w", p.asked, ErrKind)
	}
	return nil
}

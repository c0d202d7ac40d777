package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Reasons to refuse a path; the error around them is one sentence for the model.
var (
	// ErrOutside means that the path leads out of the allowed directories.
	ErrOutside = errors.New("leads outside the working directory")
	// ErrSecret means that the file may hold keys or passwords.
	ErrSecret = errors.New("may hold keys or passwords and is never touched by tools")
	// ErrKind means that it is no file, or no directory, of the wanted kind.
	ErrKind = errors.New("is not of the kind asked for")
	// ErrPath means that the text is no usable path.
	ErrPath = errors.New("is not a usable path")
	// ErrChanged means that the file is no longer what it was when it was
	// judged, shown or opened. Nothing was done.
	ErrChanged = errors.New("changed meanwhile")
)

const (
	// maxPath bounds a path, in bytes.
	maxPath = 4_096
	// maxLinks bounds the links whose targets are missing on the way to one place.
	maxLinks = 40
)

// space is where one call may work. The first real directory is the working
// directory; spelled are all of them, also as the caller wrote them.
type space struct {
	real    []string
	spelled []string
}

// newSpace finds where the working directory really is. The further ones are
// real already; one that is missing, or a link by now, allows nothing.
func newSpace(dir string, further []string) (space, error) {
	if dir == "" {
		return space{}, errors.New("there is no working directory")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return space{}, fmt.Errorf("find working directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return space{}, fmt.Errorf("find working directory: %w", plainly("working directory", err))
	}
	s := space{real: []string{real}, spelled: []string{dir, real}}
	for _, root := range further {
		if now, err := filepath.EvalSymlinks(root); err == nil && now == root {
			s.real, s.spelled = append(s.real, root), append(s.spelled, root)
		}
	}
	return s, nil
}

// place is a path that passed: where it really is, in which allowed directory,
// and what was there when it was judged.
type place struct {
	// asked is the path as the model wrote it.
	asked string
	// base is the allowed directory, path the place; both absolute and real.
	base, path string
	// dir is the opened directory that holds the place, nil if it is missing;
	// name is the place's name in it.
	dir  *os.Root
	name string
	// info is what is there, nil if nothing is.
	info fs.FileInfo
}

// close lets go of the place's directory.
func (p place) close() error {
	if p.dir == nil {
		return nil
	}
	return p.dir.Close()
}

// locate finds where a path really leads, without opening anything.
func (s space) locate(name string) (place, error) {
	if err := plausible(name); err != nil {
		return place{}, err
	}
	full := filepath.Clean(filepath.FromSlash(name))
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.real[0], full)
	}
	// What is outside by its spelling is not even looked at, so that a refusal
	// does not tell what exists there.
	base, rel, ok := within(s.spelled, full)
	if !ok {
		return place{}, fmt.Errorf("%q %w", name, ErrOutside)
	}
	if secret(rel) {
		return place{}, fmt.Errorf("%q %w", name, ErrSecret)
	}
	target, err := follow(filepath.Join(base, rel), maxLinks)
	if err != nil {
		return place{}, plainly(name, err)
	}
	base, _, ok = within(s.real, target)
	if !ok {
		return place{}, fmt.Errorf("%q %w", name, ErrOutside)
	}
	if secret(target) || system(target) {
		return place{}, fmt.Errorf("%q %w", name, ErrSecret)
	}
	return place{asked: name, base: base, path: target, name: filepath.Base(target)}, nil
}

// resolve finds where a path really leads and opens the directory that holds
// the place. The caller closes the place.
func (s space) resolve(name string) (place, error) {
	p, err := s.locate(name)
	if err != nil {
		return place{}, err
	}
	holder := filepath.Dir(p.path)
	if p.path == p.base {
		holder, p.name = p.base, "."
	}
	p.dir, err = descend(p.base, holder, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return place{}, plainly(name, err)
	}
	info, err := p.dir.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return place{}, errors.Join(plainly(name, err), p.dir.Close())
	default:
		p.info = info
	}
	return p, nil
}

// existing is resolve for what must be there.
func (s space) existing(name string) (place, error) {
	p, err := s.resolve(name)
	if err == nil && p.info == nil {
		err = errors.Join(plainly(name, fs.ErrNotExist), p.close())
	}
	return p, err
}

// within returns the first of the directories that full is in, and the path
// from there.
func within(dirs []string, full string) (base, rel string, ok bool) {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, full); err == nil && filepath.IsLocal(rel) {
			return dir, rel, true
		}
	}
	return "", "", false
}

// follow resolves all links of a path, also of one that does not exist yet.
func follow(p string, links int) (string, error) {
	real, err := filepath.EvalSymlinks(p)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir := filepath.Dir(p)
	if dir == p {
		return "", err
	}
	info, err := os.Lstat(p)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if links == 0 {
			return "", errors.New("too many links")
		}
		to, err := os.Readlink(p)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			if dir, err = follow(dir, links-1); err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		return follow(to, links-1)
	}
	if dir, err = follow(dir, links); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(p)), nil
}

// plausible refuses what no file system should be asked.
func plausible(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("an empty text %w", ErrPath)
	case len(name) > maxPath:
		return fmt.Errorf("a text of %d bytes %w", len(name), ErrPath)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("a text with a NUL character %w", ErrPath)
	case runtime.GOOS == "windows" && strings.Contains(name[len(filepath.VolumeName(name)):], ":"):
		return fmt.Errorf("%q names a stream of a file: it %w", name, ErrPath)
	}
	return nil
}

// plainly says what is wrong without the path on this machine.
func plainly(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %q: %w", name, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q may not be used: %w", name, fs.ErrPermission)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return fmt.Errorf("%q cannot be used: %w", name, err)
}

// Package files has the tools that read files. The one thing to know: a path
// is judged by where it really leads, after all links, and is opened through
// an [os.Root], so that nothing outside the working directory is ever read,
// not even when a link is swapped in between; and files that hold keys are not
// read at all, wherever they are.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// Reasons to refuse a path; the error around them is one sentence for the model.
var (
	// ErrOutside means that the path leads out of the working directory.
	ErrOutside = errors.New("leads outside the working directory")
	// ErrSecret means that the file may hold keys or passwords.
	ErrSecret = errors.New("may hold keys or passwords and is never read by tools")
	// ErrKind means that it is no file, or no directory, of the wanted kind.
	ErrKind = errors.New("is not of the kind asked for")
	// ErrPath means that the text is no usable path.
	ErrPath = errors.New("is not a usable path")
)

// maxPath bounds a path, in bytes.
const maxPath = 4_096

// secretFiles are patterns for the last name of a path, in lower case.
var secretFiles = []string{ //nolint:gochecknoglobals // a table that nobody changes
	".env*", "*.env", ".netrc", "_netrc", ".npmrc", ".yarnrc*", ".pypirc", ".pgpass", ".my.cnf", ".dockercfg", ".htpasswd",
	".git-credentials", "credentials*", ".credentials*", "secrets.*", "secret.*", ".secret*", "*.secret", "*.secrets",
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "*.gpg", "*.keychain*",
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "kubeconfig", "*.kubeconfig", "*.tfvars", "*.tfstate*",
}

// secretDirs are directories below which nothing is read, in lower case.
var secretDirs = []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud", ".config/gcloud", ".password-store", ".secrets"} //nolint:gochecknoglobals // a table that nobody changes

// systemDirs hold no files in the usual sense: their reading tells of this
// process, or has effects.
var systemDirs = []string{"/proc", "/sys", "/dev"} //nolint:gochecknoglobals // a table that nobody changes

// place is a path that passed: what it is called, and where it really is
// below the opened root.
type place struct {
	root *os.Root
	rel  string
	info fs.FileInfo
}

// resolve opens dir as a root and finds where name leads in it. The caller
// closes the place.
func resolve(dir, name string) (place, error) {
	if err := plausible(name); err != nil {
		return place{}, err
	}
	if dir == "" {
		return place{}, fmt.Errorf("there is no working directory to read %q in", name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return place{}, fmt.Errorf("find working directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return place{}, fmt.Errorf("find working directory: %w", err)
	}
	rel, err := inside(name, dir, real)
	if err != nil {
		return place{}, err
	}
	if secret(rel) {
		return place{}, fmt.Errorf("%q %w", name, ErrSecret)
	}
	target, err := filepath.EvalSymlinks(filepath.Join(real, rel))
	if err != nil {
		return place{}, plainly(name, err)
	}
	if rel, err = filepath.Rel(real, target); err != nil || !filepath.IsLocal(rel) {
		return place{}, fmt.Errorf("%q %w", name, ErrOutside)
	}
	if secret(target) || system(target) {
		return place{}, fmt.Errorf("%q %w", name, ErrSecret)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return place{}, fmt.Errorf("open working directory: %w", err)
	}
	info, err := root.Lstat(rel)
	if err != nil {
		return place{}, errors.Join(plainly(name, err), root.Close())
	}
	return place{root: root, rel: rel, info: info}, nil
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
	}
	return nil
}

// inside returns name relative to the working directory, which an absolute one
// may spell as given or as it really is.
func inside(name, dir, real string) (string, error) {
	rel := filepath.Clean(filepath.FromSlash(name))
	if filepath.IsAbs(rel) {
		for _, base := range []string{dir, real} {
			if r, err := filepath.Rel(base, rel); err == nil && filepath.IsLocal(r) {
				return r, nil
			}
		}
		return "", fmt.Errorf("%q %w", name, ErrOutside)
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q %w", name, ErrOutside)
	}
	return rel, nil
}

// open opens the place and makes sure that it is still what was judged.
func (p place) open() (*os.File, error) {
	// Without O_NONBLOCK opening a named pipe would wait for its writer.
	f, err := p.root.OpenFile(p.rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plainly(p.rel, err)
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, p.info) {
		err = fmt.Errorf("%q changed while it was opened", p.rel)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// secret reports whether a name anywhere in the path is one of those that hold
// keys. Case, and what some file systems ignore in names, makes no difference.
func secret(p string) bool {
	parts := strings.Split(filepath.ToSlash(strings.ToLower(p)), "/")
	for i, part := range parts {
		part = strings.TrimRight(strings.Map(visible, part), ". ")
		parts[i] = part
		for _, dir := range secretDirs {
			if part == dir || i > 0 && parts[i-1]+"/"+part == dir {
				return true
			}
		}
		if i < len(parts)-1 {
			continue
		}
		part, _, _ = strings.Cut(part, ":") // streams of Windows files
		for _, pattern := range secretFiles {
			if ok, err := path.Match(pattern, part); ok || err != nil {
				return true
			}
		}
	}
	return false
}

// visible drops format characters, such as joiners.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

func system(p string) bool {
	for _, dir := range systemDirs {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// plainly says what is wrong without the path on this machine.
func plainly(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %q: %w", name, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q may not be read: %w", name, fs.ErrPermission)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%q cannot be opened: %w", name, err)
}

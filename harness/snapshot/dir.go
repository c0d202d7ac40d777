package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"cairn/harness"
)

// Names in a directory that are not keys. A fresh file is always made in the top
// directory, so that all that a killed process left is found there.
const (
	lockName    = ".lock"
	freshPrefix = ".new-"
	// lockPoll is how often a waiting writer looks whether it is its turn.
	lockPoll = 2 * time.Millisecond
)

// directory is a [Store] in a directory. Everything goes through an [os.Root], so
// that no name and no symbolic link leads out of it. Who writes holds the lock
// file: fresh files of others are then those of the dead.
type directory struct {
	path string
	mu   sync.Mutex
}

// Put implements [Store].
func (d *directory) Put(ctx context.Context, key string, data []byte) error {
	return d.write(ctx, key, data, func(root *os.Root) (bool, error) {
		info, err := root.Lstat(key)
		return err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)), nil
	})
}

// Replace implements [Store].
func (d *directory) Replace(ctx context.Context, key string, data []byte) error {
	return d.write(ctx, key, data, func(*os.Root) (bool, error) { return false, nil })
}

// Swap implements [Swapper].
func (d *directory) Swap(ctx context.Context, key, was string, data []byte) error {
	return d.write(ctx, key, data, func(root *os.Root) (bool, error) {
		now := ""
		switch file, err := d.read(root, key); {
		case err == nil:
			now = digest(file)
		case !errors.Is(err, harness.ErrNotFound):
			return false, err
		}
		if now != was {
			return false, lost(key)
		}
		return false, nil
	})
}

// write publishes data under key, unless keep, called as the one writer, says
// that what is there may stay, or fails.
func (d *directory) write(ctx context.Context, key string, data []byte, keep func(*os.Root) (bool, error)) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := makeDirs(d.path); err != nil {
		return err
	}
	return d.locked(ctx, func(root *os.Root) error {
		if stays, err := keep(root); stays || err != nil {
			return err
		}
		if err := tidy(root); err != nil {
			return err
		}
		if err := makeParents(root, path.Dir(key)); err != nil {
			return err
		}
		fresh := freshPrefix + harness.NewID()
		if err := publish(root, fresh, key, data); err != nil {
			return errors.Join(err, gone(root.Remove(fresh)))
		}
		return syncDir(root, path.Dir(key))
	})
}

// publish writes data to a fresh file, brings it to disk and gives it its name.
func publish(root *os.Root, fresh, key string, data []byte) error {
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(fresh, key)
}

// locked calls f as the directory's one writer.
func (d *directory) locked(ctx context.Context, f func(*os.Root) error) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if info, err := root.Lstat(lockName); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s in %s is not a plain file", lockName, d.path)
	}
	lock := flock.New(filepath.Join(d.path, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("wait for other writers in %s: %w", d.path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return f(root)
}

// tidy removes what killed writers left.
func tidy(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), freshPrefix) {
			if err := gone(root.Remove(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Get implements [Store].
func (d *directory) Get(ctx context.Context, key string) (data []byte, err error) {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s in %s: %w", key, d.path, harness.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return d.read(root, key)
}

func (d *directory) read(root *os.Root, key string) ([]byte, error) {
	info, err := root.Stat(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s in %s: %w", key, d.path, harness.ErrNotFound)
	case err != nil && linked(root, key):
		return nil, fmt.Errorf("%s in %s is behind a symbolic link that leads out of it: put the file itself there", key, d.path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s in %s is not a plain file", key, d.path) // a pipe would be waited for
	}
	return root.ReadFile(key)
}

// linked reports whether a key, or a directory before it, is a symbolic link.
func linked(root *os.Root, key string) bool {
	for at := key; at != "."; at = path.Dir(at) {
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// List implements [Store]. Directories without such keys are not looked into: a
// person may name one that holds much else.
func (d *directory) List(ctx context.Context, prefix string) (keys []string, err error) {
	root, err := os.OpenRoot(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if in := name + "/"; e.IsDir() && name != "." && !strings.HasPrefix(in, prefix) && !strings.HasPrefix(prefix, in) {
			return fs.SkipDir
		}
		if e.Type().IsRegular() && strings.HasPrefix(name, prefix) && checkKey(name) == nil {
			keys = append(keys, name)
		}
		return nil
	})
	slices.Sort(keys)
	return keys, err
}

// Delete implements [Store].
func (d *directory) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return err
	}
	if _, err := os.Stat(d.path); err != nil {
		return gone(err)
	}
	return d.locked(ctx, func(root *os.Root) error {
		err := root.Remove(key)
		if err != nil {
			return gone(err)
		}
		return syncDir(root, path.Dir(key))
	})
}

// gone returns err unless it says that something is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeDirs makes a directory and those above it, durably.
func makeDirs(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if above := filepath.Dir(dir); above != dir {
		if err := makeDirs(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(syncDir(above, "."), above.Close())
}

// makeParents makes a directory below root and those above it, durably.
func makeParents(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := root.Stat(dir); err == nil {
		return nil
	}
	if err := makeParents(root, path.Dir(dir)); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(root, path.Dir(dir))
}

// syncDir brings the names in a directory to disk. Windows has no such call.
func syncDir(root *os.Root, dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

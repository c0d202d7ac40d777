package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	// tempPattern is what the names of files that are being written look like.
	tempPattern = ".cairn-*.tmp"
	// staleAfter is the age from which such a file was left by a writer that
	// died; no write takes that long.
	staleAfter = 10 * time.Minute
	// maxSwept bounds how many entries of a directory are looked at for them.
	maxSwept = 10_000
)

// write puts data at the change's place: into a file beside it, onto the disk,
// then under its name at once. Whoever reads sees the old or the new content,
// also after a crash. The old file stays as it was if anything fails.
func (ch change) write(ctx context.Context, data []byte) error {
	if err := ch.writable(); err != nil {
		return err
	}
	var made []string
	dir, err := descend(ch.base, filepath.Dir(ch.path), &made)
	if err != nil {
		return errors.Join(plainly(ch.asked, err), unmake(ch.base, made))
	}
	done, err := ch.publish(ctx, dir, data)
	err = errors.Join(err, dir.Close())
	if !done {
		err = errors.Join(err, unmake(ch.base, made))
	}
	return err
}

// writable refuses a file that its owner protects: replacing it would get
// around that.
func (ch change) writable() error {
	if ch.info != nil && ch.info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%q is read-only: %w", ch.asked, fs.ErrPermission)
	}
	return nil
}

// publish writes a temporary file in dir and renames it. It reports whether
// the new content has its name, which it may have and still not be safe.
func (ch change) publish(ctx context.Context, dir *os.Root, data []byte) (done bool, err error) {
	temp := ".cairn-" + rand.Text() + ".tmp"
	if err := ch.fill(dir, temp, data); err != nil {
		return false, errors.Join(plainly(ch.asked, err), discard(dir, temp))
	}
	err = ctx.Err()
	if err == nil {
		err = ch.unchanged(dir)
	}
	if err == nil {
		if err = dir.Rename(temp, ch.name); err != nil {
			err = plainly(ch.asked, err)
		}
	}
	if err != nil {
		return false, errors.Join(err, discard(dir, temp))
	}
	if err := syncDir(dir); err != nil {
		return true, fmt.Errorf("%q was written, but may be lost in a power failure: %w", ch.asked, err)
	}
	return true, nil
}

// fill writes the temporary file and sweeps those that were left behind. While
// it is written it is never open to more people than it will be: a new file
// gets what the process's mask leaves, one that exists keeps its mode.
func (ch change) fill(dir *os.Root, temp string, data []byte) (err error) {
	mode := fs.FileMode(0o644)
	if ch.info != nil {
		mode = 0o600
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer closing(&err, f.Close)
	if info, err := f.Stat(); err == nil {
		sweep(dir, info.ModTime())
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if ch.info != nil {
		if err := f.Chmod(ch.info.Mode().Perm()); err != nil {
			return err
		}
	}
	return f.Sync()
}

// unchanged makes sure that the place is still what was judged, right before
// it is replaced.
func (ch change) unchanged(dir *os.Root) error {
	now, err := dir.Lstat(ch.name)
	switch {
	case ch.info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return plainly(ch.asked, err)
	case err == nil && ch.info != nil && os.SameFile(now, ch.info) && now.Size() == ch.info.Size() && now.ModTime().Equal(ch.info.ModTime()):
		return nil
	}
	return fmt.Errorf("%q %w: somebody else wrote it, so it was left alone", ch.asked, ErrChanged)
}

// discard removes the temporary file after a failure; one that was never made
// is no fault.
func discard(dir *os.Root, temp string) error {
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a temporary file %s is left: %w", temp, err)
	}
	return nil
}

// sweep removes temporary files whose writers died. Ages are told by the file
// system's own clock. It is a courtesy: what cannot be removed stays.
func sweep(dir *os.Root, now time.Time) {
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // it was only read
	entries, _ := f.ReadDir(maxSwept)
	for _, e := range entries {
		if !temporary(e.Name()) {
			continue
		}
		if info, err := dir.Lstat(e.Name()); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > staleAfter {
			dir.Remove(e.Name()) //nolint:errcheck // the next write tries again
		}
	}
}

// temporary reports whether a name is that of a file that is being written.
func temporary(name string) bool {
	ok, err := path.Match(tempPattern, name)
	return ok && err == nil
}

// syncDir puts a directory's names onto the disk, where that is possible.
func syncDir(dir *os.Root) (err error) {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer closing(&err, f.Close)
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

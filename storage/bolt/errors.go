package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"cairn/harness"
)

// damage is a [harness.ErrDamaged] that knows its place.
type damage struct {
	path, place, what string
	// advice is what can be done about it.
	advice string
}

func (e *damage) Error() string {
	return fmt.Sprintf("%s: %s: %s: %v; %s", e.path, e.place, e.what, harness.ErrDamaged, e.advice)
}

func (e *damage) Unwrap() error { return harness.ErrDamaged }

// damaged says that the bytes at a place are not what was written, and offers the
// newest backup.
func (d *DB) damaged(place, what string) error {
	advice := "there is no backup of it: move the file aside to start a new one"
	if d.spare {
		advice = "use another copy"
	} else if backup := d.newestBackup(); backup != "" {
		advice = "put the newest copy back with: cairn db restore " + backup
	}
	return &damage{d.path, place, what, advice}
}

// unusable adds to an error of opening or writing what can be done about it.
func (d *DB) unusable(err error) error {
	if err == nil || known(err) {
		return err
	}
	if !strings.Contains(err.Error(), d.path) {
		// The system's own errors name the file already.
		err = fmt.Errorf("%s: %w", d.path, err)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; free some space, nothing of this step was saved", err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; choose a directory that you can write with --dir or CAIRN_DIR, or keep nothing with --ephemeral --no-memory", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; it was removed, or its directory cannot be made: start again, or choose another directory with --dir or CAIRN_DIR", err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%w; choose another directory with --dir or CAIRN_DIR", err)
	}
	return err
}

// unwritten says that a transaction was not written.
func (d *DB) unwritten(err error) error {
	if !strings.Contains(err.Error(), d.path) {
		err = fmt.Errorf("write: %w", err)
	}
	return d.unusable(err)
}

// foreign refuses what is no regular file, by its kind in words.
func (d *DB) foreign(kind string) error {
	return fmt.Errorf("%s: %w but %s; choose another directory with --dir or CAIRN_DIR", d.path, harness.ErrForeign, kind)
}

// kindOf names in words what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link that leads nowhere"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something that is no file"
}

// known reports whether err says already what it means.
func known(err error) bool {
	for _, sentinel := range []error{
		harness.ErrDamaged, harness.ErrForeign, harness.ErrNewer, harness.ErrLocked, harness.ErrClosed,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

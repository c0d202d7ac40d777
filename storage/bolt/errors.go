package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"cairn/harness"
)

// damaged says that the bytes at a place are not what was written.
func (d *DB) damaged(place, what string) error {
	return fmt.Errorf("%s: %s: %s: %w; restore a backup with \"cairn db restore\", or move the file aside to start a new one", d.path, place, what, harness.ErrDamaged)
}

// unusable adds to an error of opening or writing what can be done about it.
func (d *DB) unusable(err error) error {
	switch {
	case err == nil, known(err):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: %w; free some space, nothing of this step was saved", d.path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: %w; choose a directory that you can write with --dir or CAIRN_DIR, or keep nothing with --ephemeral", d.path, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w; it was removed, or its directory cannot be made: start again, or choose another directory with --dir or CAIRN_DIR", d.path, err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s: %w; choose another directory with --dir or CAIRN_DIR", d.path, err)
	}
	return fmt.Errorf("%s: %w", d.path, err)
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

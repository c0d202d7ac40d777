package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

const (
	// compacting follows the name of the database in that of the new one.
	compacting = ".compacting"
	// compactBatch is how many bytes one transaction of a compaction copies.
	compactBatch = 4 << 20
	// longFree is how many free bytes make their list longer than some pages.
	longFree = 8 << 20
)

// Compact writes the database anew without the space that is free, and with it
// the last traces of what was removed. It returns the sizes in bytes. The old
// file is replaced, not kept, in one step: a process that is killed leaves the
// one or the other. Others wait meanwhile. The command line calls it on an open
// database, after [DB.Purge] if the trash is to go too, and prints both sizes.
func (d *DB) Compact(ctx context.Context) (before, after int64, err error) {
	if err := d.clearIndex(ctx); err != nil {
		return 0, 0, fmt.Errorf("compaction: %w", err)
	}
	err = d.exclusive(ctx, "compaction", func() (err error) {
		fresh := d.path + compacting
		if err := removeIfThere(fresh); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, removeIfThere(fresh)) }()
		if err := d.openLocked(ctx); err != nil {
			return err
		}
		if err := d.checkSmall(); err != nil {
			return err
		}
		if before, after, err = d.rewrite(ctx, fresh); err != nil {
			return err
		}
		if err := d.handle.closeDB(); err != nil {
			return err
		}
		if err := d.verifyCopy(fresh, fresh); err != nil {
			return err
		}
		if err := os.Rename(fresh, d.path); err != nil {
			return err
		}
		return syncDir(d.dir)
	})
	return before, after, err
}

// untidy reports whether the list of free pages, which every commit writes, has
// become long, and the free pages are more than a small part.
func (d *DB) untidy(ctx context.Context) (bool, error) {
	s, err := d.Stats(ctx)
	return err == nil && s.Free >= longFree && s.Free >= s.Size/8, err
}

// tidy compacts the database if it is untidy.
func (d *DB) tidy(ctx context.Context) error {
	if worth, err := d.untidy(ctx); err != nil || !worth {
		return err
	}
	_, _, err := d.Compact(ctx)
	return err
}

// rewrite copies all buckets of the open handle to a new file and closes the
// handle.
func (d *DB) rewrite(ctx context.Context, fresh string) (before, after int64, err error) {
	dst, err := bbolt.Open(fresh, 0o600, &bbolt.Options{Timeout: boltWait, FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		return 0, 0, err
	}
	err = d.guarded(false, func(t *tx) error {
		before = t.b.Size()
		return bbolt.Compact(dst, t.b.DB(), compactBatch)
	})
	if err = errors.Join(err, dst.Sync(), dst.Close(), context.Cause(ctx)); err != nil {
		return 0, 0, err
	}
	after, err = d.trim(fresh)
	return before, after, err
}

// trim cuts a file to the pages it uses and returns its size: bbolt doubles a
// small file as it grows.
func (d *DB) trim(path string) (int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	m, _, err := d.readState(f)
	size := int64(m.highWater) * int64(m.pageSize)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Sync())
	}
	return size, errors.Join(err, f.Close())
}

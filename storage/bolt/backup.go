package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"cairn/harness"
)

// backupsName is the directory of the daily copies.
const backupsName = "backups"

// copyBlock is how much is copied between two looks whether to go on.
const copyBlock = 1 << 20

// Backup writes a whole, checked copy of the database to a file that must not
// exist yet. The copy is itself a database.
func (d *DB) Backup(ctx context.Context, to string) error {
	return d.exclusive(ctx, "backup", func() error {
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("%s: %w", to, harness.ErrExists)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return d.copyTo(ctx, d.path, to)
	})
}

// Restore puts the copy that is at from in the place of the database at path,
// which may be damaged or missing, and returns where the old file is kept. It
// refuses a copy that is not whole.
func Restore(ctx context.Context, path, from string, o Options) (kept string, err error) {
	d, err := newDB(path, o)
	if err != nil {
		return "", err
	}
	if err := d.prepareDir(); err != nil {
		return "", fmt.Errorf("restore: %w", d.unusable(err))
	}
	err = d.exclusive(ctx, "restore", func() error {
		fresh := d.path + ".restoring"
		if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := d.copyTo(ctx, from, fresh); err != nil {
			return err
		}
		kept, err = d.replaceBy(fresh)
		return err
	})
	return kept, err
}

// copyTo copies a database whose lock is held, checks the copy and puts it at a
// path where nothing is.
func (d *DB) copyTo(ctx context.Context, from, to string) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.Remove(temp.Name()); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}()
	if err := errors.Join(copyFile(ctx, from, temp), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := d.verifyCopy(temp.Name(), from); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func copyFile(ctx context.Context, from string, to io.Writer) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	for err == nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			break
		}
		_, err = io.CopyN(to, in, copyBlock)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, in.Close())
}

// verifyCopy looks at all pages and the format of a copy. What is wrong with it
// is wrong with the file it is a copy of.
func (d *DB) verifyCopy(path, origin string) error {
	// The copy's errors should name the origin.
	c := &DB{path: origin, dir: d.dir, now: d.now, log: slog.New(slog.DiscardHandler)}
	if err := c.checkAllPages(path); err != nil {
		return err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: boltWait, ReadOnly: true})
	if err != nil {
		return err
	}
	c.handle = &handle{db: db}
	err = c.checkFormat()
	if c.handle == nil {
		return err // given up with its handle
	}
	return errors.Join(err, db.Close())
}

// replaceBy puts a checked database in the place of the present one, which is
// kept under another name. The lock must be held.
func (d *DB) replaceBy(fresh string) (kept string, err error) {
	if _, err := os.Lstat(d.path); err == nil {
		stamp := d.path + ".before-" + d.now().UTC().Format("20060102-150405")
		kept = stamp
		for n := 2; ; n++ {
			if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
				break
			}
			kept = fmt.Sprintf("%s-%d", stamp, n)
		}
		// A second name for the old file, so that there is a database at the
		// path at every moment.
		if err := os.Link(d.path, kept); err != nil {
			if err := os.Rename(d.path, kept); err != nil {
				return "", err
			}
		}
	}
	if err := os.Rename(fresh, d.path); err != nil {
		return kept, err
	}
	return kept, syncDir(d.dir)
}

// BackupDaily makes today's copy in the directory "backups" beside the database
// if there is none, and removes copies that are older than keep. It returns the
// path of a copy that it made.
func (d *DB) BackupDaily(ctx context.Context, keep time.Duration) (made string, err error) {
	dir := filepath.Join(d.dir, backupsName)
	base := filepath.Base(d.path)
	today := d.now().UTC()
	to := filepath.Join(dir, base+"."+today.Format(time.DateOnly))
	err = d.Backup(ctx, to)
	switch {
	case errors.Is(err, harness.ErrExists):
		return "", nil
	case err != nil:
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return to, err
	}
	for _, e := range entries {
		date, ours := strings.CutPrefix(e.Name(), base+".")
		day, err := time.Parse(time.DateOnly, date)
		if !ours || err != nil || today.Sub(day) <= keep {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return to, err
		}
	}
	return to, nil
}

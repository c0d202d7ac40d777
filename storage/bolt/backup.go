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

// keepMigrated is how long a file is kept that a migration put aside.
const keepMigrated = 90 * 24 * time.Hour

// staleAfter is the age from which nobody is still at work on what is being made.
const staleAfter = 48 * time.Hour

// copyBlock is how much is copied between two looks whether to go on.
const copyBlock = 1 << 20

// Backup writes a whole, checked copy of the database to a file, which must not
// exist yet or the error is [harness.ErrExists]. The copy is itself a database.
// Others wait while it is made, and no longer while it is read to the last value
// before it gets its name; what they then write is not in it. A process that is
// killed meanwhile leaves nothing under the name. A damaged database leaves no
// copy either; its error is [harness.ErrDamaged].
//
// The command line opens the database, calls it and prints the path.
func (d *DB) Backup(ctx context.Context, to string) error {
	if err := d.vacant(to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("backup: %w", d.unusable(err))
	}
	return d.copyTo(ctx, d.path, to, func(copying func() error) error { return d.exclusive(ctx, "backup", copying) })
}

// vacant is an error if there is something at a path.
func (d *DB) vacant(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, harness.ErrExists)
	}
	return nil
}

// Restore puts the copy that is at from in the place of the database at path,
// which may be damaged or missing, and returns where the old file is kept, "" if
// there was none. A copy that is not whole is refused with [harness.ErrDamaged],
// one that is none with [harness.ErrForeign]. At every moment there is either the
// old database at path or the new one, also if the process is killed.
//
// It is a function because a damaged database cannot be opened: the command line
// calls it instead of [Open], and prints where the old file is. Processes that
// have the database in use go on with the new one, and have lost their sessions.
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
		if err := removeIfThere(fresh); err != nil {
			return err
		}
		err := d.copyTo(ctx, from, fresh, func(copying func() error) error { return copying() })
		if err != nil {
			return err
		}
		kept, err = d.replaceBy(ctx, fresh)
		return err
	})
	return kept, err
}

// copyTo copies a database, checks the copy and puts it at a path where nothing
// is. Only the copying itself is done under what locked sees to.
func (d *DB) copyTo(ctx context.Context, from, to string, locked func(copying func() error) error) (err error) {
	if err := dropNamed(filepath.Dir(to), filepath.Base(to)+beingMade, time.Time{}); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+beingMade+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeIfThere(temp.Name())) }()
	err = locked(func() error { return copyFile(ctx, from, temp) })
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := d.verifyWhole(ctx, temp.Name(), from, (*DB).inSlices); err != nil {
		return err
	}
	if err := d.vacant(to); err != nil {
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
	return d.verify(path, origin, func(*DB, format) error { return nil })
}

// verify looks at all pages and the format of a copy and hands it open to more.
func (d *DB) verify(path, origin string, more func(*DB, format) error) error {
	c := d.stranger(origin)
	if err := c.checkAllPages(path); err != nil {
		return err
	}
	if err := c.openApart(path, true); err != nil {
		return err
	}
	f, err := c.checkFormat()
	if err == nil {
		err = more(c, f)
	}
	return errors.Join(err, c.closeHandle())
}

// verifyWhole does so and reads all values. Only the search index is left out,
// which is made anew by itself where it is wrong.
func (d *DB) verifyWhole(ctx context.Context, path, origin string, pace pace) error {
	return d.verify(path, origin, func(c *DB, f format) error {
		if f.Schema != d.schema() {
			// How an older file hangs together is known to the steps that change it.
			_, err := c.count(ctx)
			return err
		}
		var r Report
		if err := r.note(c.checkRecords(ctx, &r, pace)); err != nil {
			return err
		}
		return r.problem()
	})
}

// stranger is a DB for a file that only this process knows. Its errors name the
// file that it is a copy of.
func (d *DB) stranger(origin string) *DB {
	return &DB{
		path: origin, dir: d.dir, now: d.now, log: slog.New(slog.DiscardHandler), spare: origin != d.path,
		apart: true, steps: d.steps, gate: make(chan struct{}, 1), cut: d.cut,
	}
}

// openApart opens the file at path, whose pages were looked at, for a stranger.
// What is written to it is not synced.
func (d *DB) openApart(path string, readOnly bool) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: boltWait, FreelistType: bbolt.FreelistMapType, ReadOnly: readOnly, NoSync: true,
	})
	if err == nil {
		d.handle = &handle{db: &boltFile{DB: db}}
	}
	return err
}

// replaceBy puts a checked database in the place of the present one, which is
// kept under another name. The lock must be held.
func (d *DB) replaceBy(ctx context.Context, fresh string) (kept string, err error) {
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
			// Not every file system has links.
			if err := keepCopy(ctx, d.path, kept); err != nil {
				return "", err
			}
		}
	}
	if err := os.Rename(fresh, d.path); err != nil {
		return kept, err
	}
	return kept, syncDir(d.dir)
}

// keepCopy copies a file, which may be damaged, to a path where nothing is.
func keepCopy(ctx context.Context, from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyFile(ctx, from, f), f.Sync(), f.Close())
}

// BackupDaily makes today's copy in the directory "backups" beside the database
// if there is none, and removes copies that are older than keep. It returns the
// path of a copy that it made. Others go on writing meanwhile; if they do so
// without a pause, there is an error and no copy.
func (d *DB) BackupDaily(ctx context.Context, keep time.Duration) (made string, err error) {
	dir := filepath.Join(d.dir, backupsName)
	today := d.now().UTC()
	to := filepath.Join(dir, filepath.Base(d.path)+"."+today.Format(time.DateOnly))
	if _, err := os.Lstat(to); err == nil {
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	err = d.quietCopy(ctx, to, func(copied string, _ moment) error {
		// The copy is private, so nobody waits for its check.
		if err := d.verifyWhole(ctx, copied, d.path, (*DB).gently); err != nil {
			return err
		}
		if err := os.Rename(copied, to); err != nil {
			return err
		}
		return syncDir(dir)
	})
	if err != nil {
		return "", err
	}
	return to, d.dropBackups(dir, today, keep)
}

// newestBackup returns the path of the copy beside the database that was made
// last, "" if there is none that can be seen.
func (d *DB) newestBackup() string {
	dir := filepath.Join(d.dir, backupsName)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	present, err := os.Stat(d.path)
	if err != nil {
		present = nil // it is gone, and so none of them
	}
	var newest fs.FileInfo
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(d.path)+".") || strings.Contains(e.Name(), beingMade) {
			continue
		}
		info, err := e.Info()
		// A migration that was killed leaves the file itself under another name.
		if err == nil && info.Mode().IsRegular() && !os.SameFile(info, present) && (newest == nil || !info.ModTime().Before(newest.ModTime())) {
			newest = info
		}
	}
	if newest == nil {
		return ""
	}
	return filepath.Join(dir, newest.Name())
}

// dropBackups removes the daily copies that are older than keep, files that
// migrations put aside long ago, and what was left of making a copy on another day.
func (d *DB) dropBackups(dir string, today time.Time, keep time.Duration) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !d.outdated(e, today, keep) {
			continue
		}
		if err := removeIfThere(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	// What killed processes left of other copies.
	for _, half := range []string{compacting, compacting + beingMade, migrating + beingMade, rebuilding + beingMade, beingMade} {
		if err := dropNamed(d.dir, filepath.Base(d.path)+half, today.Add(-staleAfter)); err != nil {
			return err
		}
	}
	return nil
}

// outdated reports whether a file among the backups has had its time. Copies that
// somebody gave a name of their own never have.
func (d *DB) outdated(e fs.DirEntry, today time.Time, keep time.Duration) bool {
	name, ours := strings.CutPrefix(e.Name(), filepath.Base(d.path)+".")
	if !ours {
		return false
	}
	if numbers, aside := strings.CutPrefix(name, schemaSuffix); aside && strings.Trim(numbers, "0123456789-") == "" {
		info, err := e.Info() // one that has gone meanwhile has no age
		return err == nil && today.Sub(info.ModTime()) > keepMigrated
	}
	date, _, half := strings.Cut(name, beingMade)
	day, err := time.Parse(time.DateOnly, date)
	age := today.Sub(day)
	return err == nil && (half && age >= staleAfter || !half && age > keep)
}

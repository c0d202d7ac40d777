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
	"time"

	"cairn/harness"
)

const (
	// keepBackups is how long daily copies are kept, keepTrash how long what was
	// deleted can be brought back.
	keepBackups = 7 * 24 * time.Hour
	keepTrash   = 30 * 24 * time.Hour
	// quietTries is how often something is tried that a commit of somebody else
	// spoils, and quietPause the pause after the first time, which doubles.
	quietTries = 8
	quietPause = 50 * time.Millisecond
)

// errWritten means that somebody wrote again and again.
var errWritten = errors.New("the database is written without a pause")

// Housekept says what [DB.Housekeep] did.
type Housekept struct {
	// Backup is the path of today's copy if it was made now.
	Backup string
	Purged Purged
	// Checked says that the whole file was checked, and Problems how many places
	// of it are damaged; nothing else is done then.
	Checked  bool
	Problems int
	// Indexed is how many records became part of the search index.
	Indexed int
	// Compacted is how many bytes shorter the file became.
	Compacted int64
}

// Housekeep does what has to be done once a day and is meant to be called in the
// background of every start, after the first screen: a check of the whole file, and
// nothing else if it is damaged; today's backup, with backups of 7 days kept; the purge of what was deleted more
// than 30 days ago; the search index of the messages that are not in it; and, if
// much of the file is free after a purge, its compaction. If there is nothing to do
// it looks at two names, the trash and what the search index is of. What a person
// should know, such as damage that nobody has met yet, is told by [Options.Notify].
//
// No commit waits for it for longer than for another commit: copies are made
// without the lock and thrown away if somebody wrote meanwhile. A file that is
// written without a pause gets its backup at a later start. An error means that
// nothing of the step was done and, after a damaged file, nothing else either.
func (d *DB) Housekeep(ctx context.Context) (Housekept, error) {
	var h Housekept
	var err error
	if h.Checked, h.Problems, err = d.examineDaily(ctx); err != nil || h.Problems > 0 {
		if err != nil {
			err = d.tellDamage(fmt.Errorf("daily check: %w", err))
		}
		return h, err
	}
	if h.Backup, err = d.BackupDaily(ctx, keepBackups); err != nil && !errors.Is(err, errWritten) {
		return h, d.tellDamage(fmt.Errorf("daily backup: %w", err))
	} else if err != nil {
		d.log.Info("the daily backup has to wait", slog.Any("error", err))
	}
	if h.Purged, err = d.purge(ctx, d.now().Add(-keepTrash)); err != nil {
		return h, fmt.Errorf("purge the trash: %w", err)
	}
	if h.Indexed, err = d.indexMessages(ctx); err != nil {
		return h, fmt.Errorf("make the search index: %w", err)
	}
	if err := errors.Join(d.Facts().v.markPins(ctx), d.Notes().v.markPins(ctx)); err != nil {
		return h, err
	}
	err = d.houseSpace(ctx, &h)
	return h, err
}

// tellDamage tells of an error that is damage, and returns it.
func (d *DB) tellDamage(err error) error {
	if found := (*damage)(nil); errors.As(err, &found) {
		d.tell(NoticeDamaged, found.Error())
	} else if errors.Is(err, harness.ErrDamaged) {
		d.tell(NoticeDamaged, err.Error())
	}
	return err
}

// houseSpace gives free space back after a purge, or tells how much there is.
func (d *DB) houseSpace(ctx context.Context, h *Housekept) (err error) {
	if h.Purged != (Purged{}) {
		if h.Compacted, err = d.tidyQuietly(ctx); err != nil && !errors.Is(err, errWritten) {
			return fmt.Errorf("compact: %w", err)
		}
	}
	if h.Backup == "" && !h.Checked {
		return nil
	}
	return d.offerCompaction(ctx)
}

// moment is a state of the file. Two are the same if nobody committed between.
// Of files that took each other's places the system may give a later one the name
// of an earlier, and their transactions are counted anew, so the time matters too.
type moment struct {
	transaction int
	file        fs.FileInfo
}

func (m moment) same(other moment) bool {
	return m.transaction == other.transaction && os.SameFile(m.file, other.file) &&
		m.file.ModTime().Equal(other.file.ModTime())
}

func (t *tx) moment() (moment, error) {
	info, err := os.Stat(t.d.path)
	return moment{t.b.ID(), info}, err
}

func (d *DB) moment(ctx context.Context) (m moment, err error) {
	err = d.view(ctx, "look at the database", func(t *tx) (err error) {
		m, err = t.moment()
		return err
	})
	return m, err
}

// copyQuietly copies the database to an empty file without a lock, again if
// somebody wrote meanwhile, and returns what state it is a copy of.
func (d *DB) copyQuietly(ctx context.Context, to *os.File) (moment, error) {
	pause := quietPause
	for try := range quietTries {
		if try > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				timer.Stop()
				return moment{}, context.Cause(ctx)
			case <-timer.C:
				pause *= 2
			}
		}
		before, err := d.moment(ctx)
		if err != nil {
			return moment{}, err
		}
		if _, err := to.Seek(0, io.SeekStart); err != nil {
			return moment{}, err
		}
		if err := errors.Join(to.Truncate(0), copyFile(ctx, d.path, to)); err != nil {
			return moment{}, err
		}
		after, err := d.moment(ctx)
		if err != nil || before.same(after) {
			return after, err
		}
	}
	return moment{}, errWritten
}

// quietCopy makes a synced, checked copy under a temporary name that begins with
// that of to, and hands it to use. The copy is removed unless use renames it.
func (d *DB) quietCopy(ctx context.Context, to string, use func(path string, of moment) error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+beingMade+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeIfThere(temp.Name())) }()
	of, err := d.copyQuietly(ctx, temp)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := d.verifyCopy(temp.Name(), d.path); err != nil {
		return err
	}
	return use(temp.Name(), of)
}

// tidyQuietly compacts as [DB.tidy] does, but from a copy: the lock is only held
// to put the result in place, which is given up if somebody wrote meanwhile.
func (d *DB) tidyQuietly(ctx context.Context) (saved int64, err error) {
	if worth, err := d.untidy(ctx); err != nil || !worth {
		return 0, err
	}
	err = d.quietCopy(ctx, d.path+compacting, func(copied string, of moment) (err error) {
		// Others may do the same, so the name is this process's alone.
		temp, err := os.CreateTemp(d.dir, filepath.Base(d.path)+compacting+beingMade+"*")
		if err != nil {
			return err
		}
		fresh := temp.Name()
		defer func() { err = errors.Join(err, removeIfThere(fresh)) }()
		if err := temp.Close(); err != nil {
			return err
		}
		c := d.stranger(d.path)
		if err := c.openApart(copied, true); err != nil {
			return err
		}
		before, after, err := c.rewrite(ctx, fresh)
		if err = errors.Join(err, c.closeHandle()); err != nil {
			return err
		}
		if err := d.verifyCopy(fresh, fresh); err != nil {
			return err
		}
		saved = before - after
		return d.exclusive(ctx, "compaction", func() error { return d.replaceUnchanged(ctx, fresh, of) })
	})
	if err != nil {
		return 0, err
	}
	return saved, nil
}

// replaceUnchanged puts a new file in the place of the database if nobody wrote
// since a moment. The lock must be held.
func (d *DB) replaceUnchanged(ctx context.Context, fresh string, since moment) error {
	if err := d.openLocked(ctx); err != nil {
		return err
	}
	var present moment
	err := d.guarded(false, func(t *tx) (err error) {
		present, err = t.moment()
		return err
	})
	if err != nil {
		return err
	}
	if !present.same(since) {
		return errWritten
	}
	if err := d.handle.closeDB(); err != nil {
		return err
	}
	if err := os.Rename(fresh, d.path); err != nil {
		return err
	}
	return syncDir(d.dir)
}

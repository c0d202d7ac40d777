package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/harness"
)

// rebuilding follows the name of the database in that of the copy whose lists
// are made anew.
const rebuilding = ".rebuilding"

// listNames are the top-level buckets that only say where things are, in which
// order and how many there are. All that they hold follows from the rest.
//
// keys/ is none of them: what was saved with which key is told nowhere else.
func listNames() []string { return []string{"where", "recent", "unfinished", "trash", "texts"} }

// Rebuilt says what making the lists anew came to.
type Rebuilt struct {
	// Lists are those that had to be changed.
	Lists []RebuiltList `json:"lists"`
	// Missing are sentences about what the old lists name and what is not there
	// any more. Nothing can bring that back but a backup.
	Missing []string `json:"missing"`
	Counts  Counts   `json:"counts"`
	// Kept is the path of the old file, "" if all lists were right and nothing
	// was changed.
	Kept string `json:"kept,omitempty"`
}

// RebuiltList is one list that was changed.
type RebuiltList struct {
	Name string `json:"name"`
	// Readable is false if the old list could not be read; the numbers then say
	// nothing about it.
	Readable bool `json:"readable"`
	// Entries is how many there are now, Added, Removed and Changed how they
	// differ from the old ones.
	Entries int `json:"entries"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// RebuildLists makes the lists of the file at path anew from the sessions,
// messages, runs, facts and notes, and drops the search index, which is made anew
// by itself. It is for a file in which a check finds lists damaged; if something
// else is damaged too, the error is [harness.ErrDamaged] and nothing is changed.
//
// It is done on a copy while others wait. All of that is checked before it takes
// the place of the file, in one step. The old file is kept.
func RebuildLists(ctx context.Context, path string, o Options) (r Rebuilt, err error) {
	d, err := newDB(path, o)
	if err != nil {
		return r, err
	}
	if _, err := os.Lstat(d.path); os.IsNotExist(err) {
		return r, fmt.Errorf("rebuild the lists: %s: %w", d.path, harness.ErrNotFound)
	}
	if err := d.prepareDir(); err != nil {
		return r, fmt.Errorf("rebuild the lists: %w", d.unusable(err))
	}
	err = d.exclusive(ctx, "rebuild of the lists", func() (err error) {
		r, err = d.rebuild(ctx)
		return err
	})
	return r, errors.Join(err, d.Close())
}

func (d *DB) rebuild(ctx context.Context) (r Rebuilt, err error) {
	info, err := os.Lstat(d.path)
	if err == nil {
		err = d.checkFile(info)
	}
	if err != nil {
		return r, err
	}
	prefix := filepath.Base(d.path) + rebuilding + beingMade
	if err := dropNamed(d.dir, prefix, time.Time{}); err != nil {
		return r, err
	}
	temp, err := os.CreateTemp(d.dir, prefix+"*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, removeIfThere(temp.Name())) }()
	if err := temp.Close(); err != nil {
		return r, err
	}
	if err := d.rebuildTo(ctx, temp.Name(), &r); err != nil || len(r.Lists) == 0 {
		return r, err
	}
	if err := d.verifyCopy(temp.Name(), d.path); err != nil {
		return r, err
	}
	r.Kept, err = d.replaceBy(ctx, temp.Name())
	return r, err
}

// rebuildTo makes the file with the new lists.
func (d *DB) rebuildTo(ctx context.Context, to string, r *Rebuilt) (err error) {
	from, fresh := d.stranger(d.path), d.stranger(d.path)
	if err := from.openOld(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.closeHandle()) }()
	f, err := from.checkFormat()
	if err == nil && f.Schema != d.schema() {
		err = fmt.Errorf("%s: it has schema %d; see: cairn db migrate", d.path, f.Schema)
	}
	if err != nil {
		return err
	}
	if err := fresh.openApart(to, false); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.closeHandle()) }()
	if err := fresh.fillFrom(ctx, from, f, r); err != nil {
		return err
	}
	if r.Counts, err = fresh.count(ctx); err != nil {
		return err
	}
	if err := fresh.handle.db.Sync(); err != nil {
		return err
	}
	var report Report
	if err := fresh.checkContents(ctx, &report); err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return fmt.Errorf("more than the lists is wrong, nothing is changed: %s", strings.Join(report.Problems, "; "))
	}
	return nil
}

// openOld opens the file for reading though some of its pages may be damaged.
// bbolt can panic on them.
func (d *DB) openOld() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = d.damaged("the page tree", fmt.Sprint(p))
		}
	}()
	return d.openApart(d.path, true)
}

// fillFrom copies everything but the lists, makes those, and compares them with the
// old ones.
func (d *DB) fillFrom(ctx context.Context, from *DB, f format, r *Rebuilt) error {
	err := d.update(ctx, "make the file", func(t *tx) error {
		if err := t.writeFormat(); err != nil {
			return err
		}
		meta, err := t.root("meta")
		if err != nil {
			return err
		}
		return meta.put(keyFormat, f)
	})
	skip := append(listNames(), "meta", "postings", "sessions")
	for _, name := range rootBuckets() {
		if err == nil && !slices.Contains(skip, name) {
			err = d.copyBuckets(ctx, from, name, nil)
		}
	}
	for _, name := range laterBuckets() {
		if err == nil {
			err = d.copyLater(ctx, from, name)
		}
	}
	if err == nil {
		err = d.copyVectors(ctx, from)
	}
	if err == nil {
		err = d.copySessions(ctx, from)
	}
	if err != nil {
		return err
	}
	old, err := from.oldLists(ctx)
	if err != nil {
		return err
	}
	l := lister{old: old}
	if err := d.update(ctx, "make the lists", func(t *tx) error { return l.run(ctx, t) }); err != nil {
		return err
	}
	return d.compare(ctx, old, &l, r)
}

// reopenOld opens the old file again if damage has closed it.
func (d *DB) reopenOld() error {
	if d.handle != nil {
		return nil
	}
	return d.openOld()
}

// copySessions copies the sessions, each in a transaction of its own.
func (d *DB) copySessions(ctx context.Context, from *DB) error {
	var ids []string
	err := from.view(ctx, "read the sessions", func(t *tx) error {
		sessions, err := t.root("sessions")
		if err != nil {
			return err
		}
		return sessions.each(nil, func(key, value []byte) (bool, error) {
			if value != nil {
				return false, t.d.damaged(place(sessions.path, key), "it is no session")
			}
			ids = append(ids, string(key))
			return true, nil
		})
	})
	for _, id := range ids {
		if err == nil {
			err = d.copyBuckets(ctx, from, "sessions", &id)
		}
	}
	return err
}

// copyBuckets copies a top-level bucket, or one bucket in it. A value that is
// not whole is an error.
func (d *DB) copyBuckets(ctx context.Context, from *DB, name string, inner *string) error {
	return from.view(ctx, "read "+name, func(src *tx) error {
		return d.update(ctx, "copy "+name, func(dst *tx) error {
			a, err := src.root(name)
			if err != nil {
				return err
			}
			b, err := dst.root(name)
			if err != nil {
				return err
			}
			if inner != nil {
				if a, err = a.must(*inner); err != nil {
					return err
				}
				if b, err = b.make(*inner); err != nil {
					return err
				}
			}
			return copyInto(ctx, a, b)
		})
	})
}

// copyLater copies a top-level bucket that the file may not have.
func (d *DB) copyLater(ctx context.Context, from *DB, name string) error {
	there := false
	err := from.view(ctx, "look for "+name, func(t *tx) error { there = t.b.Bucket([]byte(name)) != nil; return nil })
	if err != nil || !there {
		return err
	}
	err = d.update(ctx, "make "+name, func(t *tx) error {
		t.dirty = true
		_, err := t.b.CreateBucket([]byte(name))
		return err
	})
	if err != nil {
		return err
	}
	return d.copyBuckets(ctx, from, name, nil)
}

func copyInto(ctx context.Context, from, to bucket) error {
	to.t.dirty = true
	to.b.FillPercent = appendFill
	return from.each(nil, func(key, value []byte) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if value == nil {
			a, err := from.must(string(key))
			if err != nil {
				return false, err
			}
			b, err := to.make(string(key))
			if err != nil {
				return false, err
			}
			return true, copyInto(ctx, a, b)
		}
		if err := from.verify(key, value); err != nil {
			return false, err
		}
		return true, to.b.Put(slices.Clone(key), slices.Clone(value))
	})
}

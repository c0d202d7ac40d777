package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cairn/harness"
)

// migrating follows the name of the database in that of the copy of it that is
// brought to another schema.
const migrating = ".migrating"

// schemaSuffix follows the name of the database, and a dot, in the names of files
// that migrations put aside. A schema comes behind it.
const schemaSuffix = "schema-"

// step brings a file from one schema to the next.
type step struct {
	// reader is the oldest schema whose code may read what the step leaves.
	reader int
	// apply changes the copy of the file, in as many transactions as it likes.
	// Nobody else has the copy, and a process that is killed meanwhile leaves the
	// file as it was.
	apply func(ctx context.Context, d *DB) error
}

// steps are the migrations, the first of them from [firstSchema]. A new one goes
// to the end, and a file of the schema before it into testdata.
//
// The first one leaves the file as it is and only keeps those out who know schema
// 1 alone: in a session that they write they leave out how many pins there are, so
// that none would be found, what they export has no artifacts, and when they make
// the lists anew they drop the money that is held.
func steps() []step {
	return []step{
		{reader: 2, apply: func(context.Context, *DB) error { return nil }},
	}
}

// oldestReader returns the oldest schema whose code may read a new file.
func oldestReader(all []step) int {
	if len(all) == 0 {
		return firstSchema
	}
	return all[len(all)-1].reader
}

// Migration says what bringing a file to the present schema came to.
type Migration struct {
	// From and To are the schemas before and after, which are the same if there
	// was nothing to do.
	From int `json:"from"`
	To   int `json:"to"`
	// Counts is what the file holds, before and after.
	Counts Counts `json:"counts"`
	// Kept is the path of the old file, "" if there was nothing to do.
	Kept string `json:"kept,omitempty"`
}

// Migrate brings the file at path to the schema of this program, as every
// [Open] does, and says what that came to. A file that does not exist is
// [harness.ErrNotFound], one that is newer [harness.ErrNewer].
//
// It is done on a copy, by one process while others wait: the copy takes the
// place of the file in one step, once all of it was checked and holds as much of
// everything as before. The old file is kept among the backups.
func Migrate(ctx context.Context, path string, o Options) (Migration, error) {
	return migrateWith(ctx, path, o, steps())
}

func migrateWith(ctx context.Context, path string, o Options, all []step) (m Migration, err error) {
	d, err := openExisting(ctx, path, o, func(d *DB) { d.steps = all })
	if err != nil {
		return m, fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if d.migrated != nil {
		return *d.migrated, nil
	}
	m = Migration{From: d.schema(), To: d.schema()}
	if m.Counts, err = d.count(ctx); err != nil {
		return m, fmt.Errorf("migrate: %w", err)
	}
	return m, nil
}

// openExisting opens a database and makes none.
func openExisting(ctx context.Context, path string, o Options, set func(*DB)) (*DB, error) {
	d, err := newDB(path, o)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(d.path); os.IsNotExist(err) {
		return nil, fmt.Errorf("%s: %w", d.path, harness.ErrNotFound)
	}
	set(d)
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// migrate brings the open file, whose lock is held, to the present schema.
func (d *DB) migrate(ctx context.Context, from int) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("migrate from schema %d to %d, nothing is changed: %w", from, d.schema(), d.unusable(err))
		}
	}()
	if err := d.handle.closeDB(); err != nil {
		return err
	}
	counts, kept, err := d.migrateAnnounced(ctx, from)
	if err != nil {
		return err
	}
	// Others are not to take the present transaction for a part of it.
	if err := writeNote(lockPath(d.path), lockHolder{Holder: d.self}); err != nil {
		return err
	}
	if d.handle.db, err = d.openBolt(); err != nil {
		return err
	}
	if _, err := d.checkFormat(); err != nil {
		return err
	}
	d.migrated = &Migration{From: from, To: d.schema(), Counts: counts, Kept: kept}
	d.tell(NoticeMigrated, fmt.Sprintf("%s was brought from schema %d to %d; all is there: %s; the old file is kept as %s", d.path, from, d.schema(), counts, kept))
	return nil
}

// migrateAnnounced does it while others are told.
func (d *DB) migrateAnnounced(ctx context.Context, from int) (counts Counts, kept string, err error) {
	stop := d.announce("migration")
	defer stop()
	prefix := filepath.Base(d.path) + migrating + beingMade
	if err := dropNamed(d.dir, prefix, time.Time{}); err != nil {
		return counts, "", err
	}
	temp, err := os.CreateTemp(d.dir, prefix+"*")
	if err != nil {
		return counts, "", err
	}
	defer func() { err = errors.Join(err, removeIfThere(temp.Name())) }()
	if err := errors.Join(copyFile(ctx, d.path, temp), temp.Close()); err != nil {
		return counts, "", err
	}
	if counts, err = d.migrateCopy(ctx, temp.Name(), from); err != nil {
		return counts, "", err
	}
	if kept, err = d.keepOld(ctx, from); err != nil {
		return counts, kept, err
	}
	if err := os.Rename(temp.Name(), d.path); err != nil {
		return counts, kept, err
	}
	return counts, kept, syncDir(d.dir)
}

// migrateCopy changes a copy of the file and returns what it holds. All of it is
// checked before and after.
func (d *DB) migrateCopy(ctx context.Context, path string, from int) (counts Counts, err error) {
	c := d.stranger(d.path)
	if err := c.checkAllPages(path); err != nil {
		return counts, err
	}
	if err := c.openApart(path, false); err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, c.closeHandle()) }()
	if counts, err = c.count(ctx); err != nil {
		return counts, err
	}
	for i, s := range d.steps[from-firstSchema:] {
		to := from + i + 1
		if err := s.apply(ctx, c); err != nil {
			return counts, fmt.Errorf("schema %d: %w", to, err)
		}
		if err := c.setFormat(ctx, to, s.reader); err != nil {
			return counts, err
		}
	}
	after, err := c.count(ctx)
	if err == nil && after != counts {
		err = fmt.Errorf("the copy holds %s, and the file %s", after, counts)
	}
	if err == nil {
		err = c.checkMigrated(ctx, path)
	}
	return counts, err
}

// checkMigrated makes the copy durable and checks it as the present schema has it.
func (d *DB) checkMigrated(ctx context.Context, path string) error {
	if err := d.handle.db.Sync(); err != nil {
		return err
	}
	var r Report
	if err := d.checkContents(ctx, &r); err != nil {
		return err
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("the copy is not right: %s", strings.Join(r.Problems, "; "))
	}
	return d.checkAllPages(path)
}

// setFormat writes the schema of a file.
func (d *DB) setFormat(ctx context.Context, schema, reader int) error {
	return d.update(ctx, "write the schema", func(t *tx) error {
		meta, err := t.root("meta")
		if err != nil {
			return err
		}
		f, err := t.format()
		if err != nil {
			return err
		}
		f.Schema, f.MinReader = schema, reader
		return meta.put(keyFormat, f)
	})
}

// keptName is the first name of files that were kept with a schema.
func (d *DB) keptName(schema int) string {
	return filepath.Join(d.dir, backupsName, fmt.Sprintf("%s.%s%d", filepath.Base(d.path), schemaSuffix, schema))
}

// keptFrom returns a file that was kept before a migration and that a program of
// that schema reads, "" if there is none.
func (d *DB) keptFrom(schema int) string {
	for ; schema >= firstSchema; schema-- {
		name := d.keptName(schema)
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// keepOld gives the present file a name among the backups, which it stays with for
// longer than the daily ones, and returns its path.
func (d *DB) keepOld(ctx context.Context, schema int) (string, error) {
	kept, err := d.nameOld(ctx, schema)
	if err != nil {
		return kept, err
	}
	// From now on it is kept, however long ago it was written.
	now := d.now()
	return kept, os.Chtimes(kept, now, now)
}

func (d *DB) nameOld(ctx context.Context, schema int) (string, error) {
	dir := filepath.Join(d.dir, backupsName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	present, err := os.Stat(d.path)
	if err != nil {
		return "", err
	}
	stem := d.keptName(schema)
	kept := stem
	for n := 2; ; n++ {
		info, err := os.Lstat(kept)
		if os.IsNotExist(err) {
			break
		}
		if err != nil {
			return "", err
		}
		if os.SameFile(info, present) {
			return kept, syncDir(dir) // a process was killed after it had done this
		}
		kept = fmt.Sprintf("%s-%d", stem, n)
	}
	if err := os.Link(d.path, kept); err != nil {
		// Not every file system has links.
		if err := keepCopy(ctx, d.path, kept); err != nil {
			return "", errors.Join(err, removeIfThere(kept))
		}
	}
	return kept, syncDir(dir)
}

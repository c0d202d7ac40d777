package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// dbCommand is `cairn db`.
func (a *app) dbCommand() *cobra.Command {
	all := []*cobra.Command{a.dbPath(), a.dbCheck()}
	if a.wire.BackupStore != nil {
		all = append(all, a.dbBackup())
	}
	if a.wire.RestoreStore != nil {
		all = append(all, a.dbRestore())
	}
	if a.wire.CompactStore != nil {
		all = append(all, a.dbCompact())
	}
	if a.wire.MigrateStore != nil {
		all = append(all, a.dbMigrate())
	}
	return group("db", "Look after the database file", all...)
}

// dataPath is the data directory, or an error that says why there is none.
func (a *app) dataPath() (string, error) {
	c, err := a.config()
	if err != nil || c.Dir != "" {
		return c.Dir, err
	}
	return dataDir(a.s)
}

func (a *app) dbPath() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where the database file is", Args: exactly(0, ""),
		RunE: runner(func(context.Context, []string) error {
			dir, err := a.dataPath()
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.out.document(map[string]string{"path": a.wire.StorePath(dir)})
			}
			a.out.line("%s", a.wire.StorePath(dir))
			return nil
		}),
	}
}

func (a *app) dbCheck() *cobra.Command {
	var rebuild bool
	c := &cobra.Command{
		Use: "check", Short: "Read the whole database file and change nothing", Args: exactly(0, ""),
		Long: `Read everything in the database file, in pieces so that other cairns can go on,
and say what it holds or what is damaged where. Nothing is changed.

Sessions, messages, runs, facts and notes are records; which sessions there are,
what was used last, what is unfinished or in the trash are lists that follow from
them. If a check finds only lists damaged, --rebuild-indexes makes them anew on a
checked copy of the file; the old file is kept beside it. What the lists name and
what is not there any more is told. Damaged records are refused: a copy brings
them back, with cairn db restore. The index for search needs no care, it is made
anew by itself.`,
		RunE: runner(func(ctx context.Context, _ []string) error {
			if rebuild {
				return a.rebuildStore(ctx)
			}
			return a.checkStore(ctx)
		}),
	}
	if a.wire.RebuildStore != nil {
		c.Flags().BoolVar(&rebuild, "rebuild-indexes", false, "make the lists of the file anew from its records; the old file is kept")
	}
	return c
}

// noStore says that there is no database in a directory.
func noStore(dir string) error {
	return fail(ExitNotFound, "there is no database in %s yet; it is made by the first message", dir)
}

func (a *app) checkStore(ctx context.Context) error {
	dir, err := a.dataPath()
	if err != nil {
		return err
	}
	r, err := a.wire.CheckStore(ctx, dir)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return noStore(dir)
	case errors.Is(err, harness.ErrDamaged) && a.wire.RebuildStore != nil:
		// It names the file, and was found by what is advised elsewhere.
		return fail(ExitFailed, "%w; if only lists are damaged: cairn db check --rebuild-indexes", err)
	case errors.Is(err, harness.ErrDamaged):
		return fail(ExitFailed, "%w", err)
	case err != nil:
		return fmt.Errorf("check the store in %s: %w", dir, err)
	}
	if a.flags.json {
		return a.out.document(r)
	}
	a.out.line("%s is right: %s", r.Path, contents(r))
	if r.Wasteful {
		a.out.line("%d of the %d bytes are free: cairn db compact gives them back", r.Free, r.Bytes)
	}
	return nil
}

// rebuildStore makes the lists of the store anew.
func (a *app) rebuildStore(ctx context.Context) error {
	dir, path, size, err := a.storeFile()
	if err != nil {
		return err
	}
	o, err := a.upkeep()
	if err != nil {
		return err
	}
	a.notice("reading and copying %s (%d bytes)", path, size)
	r, err := a.wire.RebuildStore(ctx, dir, o)
	if errors.Is(err, harness.ErrNotFound) {
		return noStore(dir)
	}
	if err != nil {
		return fmt.Errorf("rebuild the lists of %s: %w", path, err)
	}
	if a.flags.json {
		r.Lists, r.Missing = orEmpty(r.Lists), orEmpty(r.Missing)
		return a.out.document(r)
	}
	if r.Kept == "" {
		a.out.line("all lists of %s are what its records say: %s; nothing is changed", path, r.Counts)
		return nil
	}
	for _, l := range r.Lists {
		a.out.line("%s", l)
	}
	a.out.line("the lists of %s are made anew: %s; the old file is kept as %s", path, r.Counts, r.Kept)
	if len(r.Missing) > 0 {
		a.out.line("named before and not there: %s; if a copy has it: cairn db restore", strings.Join(r.Missing, ", "))
	}
	return nil
}

func (a *app) dbMigrate() *cobra.Command {
	return &cobra.Command{
		Use: "migrate", Short: "Bring the database to the schema of this cairn", Args: exactly(0, ""),
		Long: `Bring the database file to the schema of this cairn and say what it holds. Every
start does that with an older file by itself: on a copy, which is checked before
and after and has to hold as many sessions, messages, facts and notes as the file,
while other cairns wait. The old file is kept in the directory "backups" beside
it, for 90 days; an older cairn reads that one and refuses the new.`,
		RunE: runner(func(ctx context.Context, _ []string) error {
			dir, path, _, err := a.storeFile()
			if err != nil {
				return err
			}
			o, err := a.upkeep()
			if err != nil {
				return err
			}
			o.Notify = nil // the result says it
			m, err := a.wire.MigrateStore(ctx, dir, o)
			if errors.Is(err, harness.ErrNotFound) {
				return noStore(dir)
			}
			if err != nil {
				return fmt.Errorf("migrate %s: %w", path, err)
			}
			switch {
			case a.flags.json:
				return a.out.document(m)
			case m.Kept == "":
				a.out.line("schema %d of %s is current, nothing to do: %s", m.To, path, m.Counts)
			default:
				a.out.line("%s was brought from schema %d to %d; all is there: %s; the old file is kept as %s", path, m.From, m.To, m.Counts, m.Kept)
			}
			return nil
		}),
	}
}

// contents is what a store holds, in words.
func contents(r StoreReport) string {
	apart := ""
	if r.Artifacts > 0 {
		apart = ", " + harness.Count(r.Artifacts, "artifact")
	}
	return fmt.Sprintf("%d bytes, %s, %s%s, %s, %s, schema %d", r.Bytes, harness.Count(r.Sessions, "session"),
		harness.Count(r.Messages, "message"), apart, harness.Count(r.Facts, "fact"), harness.Count(r.Notes, "note"), r.Schema)
}

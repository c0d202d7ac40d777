package cli

import (
	"context"
	"errors"
	"fmt"

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
	return &cobra.Command{
		Use: "check", Short: "Read the whole database file and change nothing", Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error {
			dir, err := a.dataPath()
			if err != nil {
				return err
			}
			r, err := a.wire.CheckStore(ctx, dir)
			if errors.Is(err, harness.ErrNotFound) {
				return fail(ExitNotFound, "there is no database in %s yet; it is made by the first message", dir)
			}
			if err != nil {
				return fmt.Errorf("check the store in %s: %w", dir, err)
			}
			if a.flags.json {
				return a.out.document(r)
			}
			a.out.line("%s is right: %s", r.Path, contents(r))
			return nil
		}),
	}
}

// contents is what a store holds, in words.
func contents(r StoreReport) string {
	return fmt.Sprintf("%d bytes, %s, %s, %s, %s, schema %d", r.Bytes, count(r.Sessions, "session"),
		count(r.Messages, "message"), count(r.Facts, "fact"), count(r.Notes, "note"), r.Schema)
}

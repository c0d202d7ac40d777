package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// backupsDir is where copies are that nobody gave a place.
const backupsDir = "backups"

// storeFile returns the data directory and the file in it. A file that does not
// exist is an error.
func (a *app) storeFile() (dir, path string, size int64, err error) {
	if dir, err = a.dataPath(); err != nil {
		return "", "", 0, err
	}
	path = a.wire.StorePath(dir)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", 0, noStore(dir)
	}
	if err != nil {
		return "", "", 0, fmt.Errorf("look at %s: %w", path, cause(err))
	}
	return dir, path, info.Size(), nil
}

// upkeep is how the store is opened to be looked after.
func (a *app) upkeep() (StoreOptions, error) {
	log, err := a.logger()
	return StoreOptions{
		Purpose: a.purpose, Terminal: a.s.Terminal, Now: a.s.Now, Log: log,
		Notify: func(text string) { a.notice("%s", text) },
	}, err
}

func (a *app) dbBackup() *cobra.Command {
	return &cobra.Command{
		Use: "backup [FILE]", Short: "Write a checked copy of the database",
		Long: `Write a whole copy of the database to a file that does not exist yet; without a
name, into the directory "backups" beside it. All values of the copy are read and
checked; of a damaged database none is left. Other cairns may run meanwhile. The
copy is itself a database: cairn db restore puts it back.`,
		Args: atMostOne,
		RunE: runner(func(ctx context.Context, args []string) error {
			dir, path, size, err := a.storeFile()
			if err != nil {
				return err
			}
			o, err := a.upkeep()
			if err != nil {
				return err
			}
			to := filepath.Join(filepath.Dir(path), backupsDir, filepath.Base(path)+"."+a.s.Now().UTC().Format("20060102-150405"))
			if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
				return usage("the name of the copy is empty; leave it out for one beside the database")
			}
			if len(args) > 0 {
				to = absolute(a.s, expand(a.s, args[0]))
			}
			if info, err := os.Stat(to); err == nil && info.IsDir() {
				to = filepath.Join(to, filepath.Base(path)+"."+a.s.Now().UTC().Format("20060102-150405"))
			}
			a.notice("copying and checking %s (%d bytes)", path, size)
			err = a.wire.BackupStore(ctx, dir, to, o)
			if errors.Is(err, harness.ErrExists) {
				return usage("%s exists already and is not written over; give another name", to)
			}
			if errors.Is(err, harness.ErrDamaged) {
				return fail(ExitFailed, "no copy was made: %w", err)
			}
			if err != nil {
				return fmt.Errorf("back up %s: %w", path, err)
			}
			if a.flags.json {
				return a.out.document(map[string]string{"path": path, "backup": to})
			}
			a.out.line("%s is a copy; put it back with: cairn db restore %s", to, to)
			return nil
		}),
	}
}

func (a *app) dbRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore [FILE]", Short: "Put a copy in the place of the database, which is kept aside",
		Long: `Put a checked copy in the place of the database. The present file is kept under
another name, also a damaged one. Without a name the copies are listed and one
is asked for; with --json they are listed and nothing else is done.`,
		Args: atMostOne,
		RunE: runner(func(ctx context.Context, args []string) error {
			dir, err := a.dataPath()
			if err != nil {
				return err
			}
			all, err := copies(a.wire.StorePath(dir))
			if err != nil {
				return err
			}
			name := ""
			if len(args) > 0 {
				name = strings.TrimSpace(args[0])
			}
			if name == "" {
				if a.flags.json {
					return a.out.document(orEmpty(all))
				}
				if name, err = a.askCopy(ctx, dir, all); err != nil {
					return err
				}
			}
			from, err := a.findCopy(name, all)
			if err != nil {
				return err
			}
			return a.restore(ctx, dir, from)
		}),
	}
}

// restore puts a copy in the place of the store.
func (a *app) restore(ctx context.Context, dir, from string) error {
	o, err := a.upkeep()
	if err != nil {
		return err
	}
	path := a.wire.StorePath(dir)
	if from == path {
		return usage("%s is the database itself; give a copy of it", path)
	}
	a.notice("checking and copying %s", from)
	kept, err := a.wire.RestoreStore(ctx, dir, from, o)
	if errors.Is(err, harness.ErrDamaged) {
		// It is the copy; what helps with a damaged store does not help there.
		return fail(ExitFailed, "restore %s: %w", from, err)
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", from, err)
	}
	switch {
	case a.flags.json:
		return a.out.document(map[string]string{"path": path, "from": from, "kept": kept})
	case kept == "":
		a.out.line("%s is now a copy of %s", path, from)
	default:
		a.out.line("%s is now a copy of %s; the old file is kept as %s", path, from, kept)
	}
	return nil
}

// storeCopy is a copy of the store that is kept beside it.
type storeCopy struct {
	Path  string    `json:"path"`
	Bytes int64     `json:"bytes"`
	Made  time.Time `json:"made"`
}

// copies are the copies beside a store, newest first: backups, and the files
// that a restore kept.
func copies(path string) ([]storeCopy, error) {
	var all []storeCopy
	beside := filepath.Dir(path)
	prefixes := map[string]string{beside: filepath.Base(path) + ".before-"}
	prefixes[filepath.Join(beside, backupsDir)] = filepath.Base(path) + "."
	for dir, prefix := range prefixes {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for backups in %s: %w", dir, cause(err))
		}
		for _, e := range entries {
			// Files under way and locks end in more than a date.
			if !strings.HasPrefix(e.Name(), prefix) || strings.Contains(e.Name(), ".new-") || !e.Type().IsRegular() {
				continue
			}
			info, err := e.Info()
			if err != nil {
				continue // it was removed meanwhile
			}
			all = append(all, storeCopy{Path: filepath.Join(dir, e.Name()), Bytes: info.Size(), Made: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b storeCopy) int { return cmp.Or(b.Made.Compare(a.Made), strings.Compare(a.Path, b.Path)) })
	return all, nil
}

// askCopy lists the copies on the error stream and reads the name of one.
func (a *app) askCopy(ctx context.Context, dir string, all []storeCopy) (string, error) {
	if len(all) == 0 {
		return "", fail(ExitNotFound, "there is no backup beside %s; give the file of one: cairn db restore FILE", a.wire.StorePath(dir))
	}
	var t table
	for _, c := range all {
		t.add(filepath.Base(c.Path), a.when(c.Made), fmt.Sprintf("%d bytes", c.Bytes))
	}
	aside := &output{to: a.s.Err}
	t.write(aside, a.s.Width)
	aside.text("Name of the copy to put in place of the database, nothing to leave it: ")
	line := make(chan string, 1)
	go func() {
		// An input that ends or fails names nothing.
		text, _ := bufio.NewReader(a.s.In).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case name := <-line:
		if !a.s.InTTY {
			aside.text("\n")
		}
		if name == "" {
			return "", usage("no copy was named; nothing is changed")
		}
		return name, nil
	}
}

// findCopy finds a copy by its path, its name beside the store, or the end of
// that, such as its date.
func (a *app) findCopy(name string, all []storeCopy) (string, error) {
	path := absolute(a.s, expand(a.s, name))
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return path, nil
	}
	var known, found []string
	for _, c := range all {
		base := filepath.Base(c.Path)
		known = append(known, base)
		if base == name || strings.HasSuffix(base, "."+name) {
			found = append(found, c.Path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usage("%q could be %s; give the path", name, strings.Join(found, " or "))
	}
	hint := "; the copies are listed by: cairn db restore"
	if best, ok := nearest(name, known); ok {
		hint = "; did you mean " + best + "?"
	}
	return "", fail(ExitNotFound, "there is no backup %q%s", name, hint)
}

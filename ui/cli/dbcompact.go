package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// compacting are the flags of `cairn db compact`.
type compacting struct {
	trash, yes bool
}

// compacted is what a compaction came to.
type compacted struct {
	Path   string `json:"path"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
	// Removed is what was in the trash, and Copies are files that may still hold
	// it; both only with --trash.
	Removed *StoreTrash `json:"removed,omitempty"`
	Copies  []string    `json:"copies,omitempty"`
}

func (a *app) dbCompact() *cobra.Command {
	var f compacting
	c := &cobra.Command{
		Use: "compact", Short: "Write the database anew without free space and what was removed",
		Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error { return a.compact(ctx, f) }),
	}
	if a.wire.EmptyTrash == nil {
		return c
	}
	c.Long = `Write the database file anew without free space and the last traces of what was
removed. What was deleted less than 30 days ago is in the trash and stays; with
--trash the deleted sessions, facts and notes go first, for good. The terminal
asks; without one give --yes. Messages that forks go on from stay with these, and
sessions that are open elsewhere stay in the trash. Copies of the file, such as
those in the directory "backups" beside it, are named and not changed.`
	c.Flags().BoolVar(&f.trash, "trash", false, "first remove for good what is in the trash")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --trash: do not ask")
	return c
}

func (a *app) compact(ctx context.Context, f compacting) error {
	switch {
	case f.yes && !f.trash:
		return usage("--yes needs --trash; nothing else asks")
	case f.trash && !f.yes && (!a.s.InTTY || !a.s.ErrTTY):
		return usage("nobody can be asked without a terminal whether the trash may go for good; give --yes")
	}
	dir, path, size, err := a.storeFile()
	if err != nil {
		return err
	}
	o, err := a.upkeep()
	if err != nil {
		return err
	}
	r := compacted{Path: path}
	if f.trash {
		if err := a.emptyTrash(ctx, dir, o, f.yes, &r); err != nil {
			return err
		}
	}
	a.notice("writing %s anew (%d bytes)", path, size)
	if r.Before, r.After, err = a.wire.CompactStore(ctx, dir, o); err != nil {
		return fmt.Errorf("compact %s: %w", path, err)
	}
	if a.flags.json {
		return a.out.document(r)
	}
	a.out.line("%s has %d bytes now, %d before", path, r.After, r.Before)
	if len(r.Copies) > 0 {
		a.out.line("%s made before may still hold it: %s", plainCopies(len(r.Copies)), strings.Join(r.Copies, ", "))
	}
	return nil
}

func plainCopies(n int) string {
	if n == 1 {
		return "a copy of the file"
	}
	return fmt.Sprintf("%d copies of the file", n)
}

// emptyTrash removes what is in the trash once that was agreed to.
func (a *app) emptyTrash(ctx context.Context, dir string, o StoreOptions, yes bool, r *compacted) error {
	removed, err := a.wire.EmptyTrash(ctx, dir, o, func(t StoreTrash) error {
		if yes || t.empty() {
			return nil
		}
		return a.agreeTo(ctx, fmt.Sprintf("remove %s for good? [y/N] ", t))
	})
	if err != nil {
		return fmt.Errorf("empty the trash: %w", err)
	}
	r.Removed = &removed
	all, err := copies(r.Path)
	if err != nil {
		return err
	}
	for _, c := range all {
		r.Copies = append(r.Copies, c.Path)
	}
	if a.flags.json {
		return nil
	}
	a.out.line("removed for good: %s", removed)
	if removed.Left > 0 {
		a.notice("%s stay in the trash: they are open elsewhere", harness.Count(removed.Left, "session"))
	}
	return nil
}

// agreeTo asks a question on the terminal and is an error unless a yes is typed
// after it.
func (a *app) agreeTo(ctx context.Context, question string) error {
	if a.s.Discard != nil {
		if err := a.s.Discard(); err != nil {
			return fmt.Errorf("throw away what was typed before the question: %w", err)
		}
	}
	(&output{to: a.s.Err}).text(question)
	answer := make(chan string, 1)
	go func() {
		// An end of the input is no yes, whatever its reason.
		line, _ := bufio.NewReader(a.s.In).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		word := strings.ToLower(strings.TrimSpace(line))
		if strings.HasSuffix(line, "\n") && (word == "y" || word == "yes") {
			return nil
		}
		return usage("that was no yes; nothing is changed")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// StoreTrash is how much was deleted and can be brought back, or could.
type StoreTrash struct {
	Sessions int `json:"sessions"`
	Facts    int `json:"facts"`
	Notes    int `json:"notes"`
	// Left is how many sessions stayed, as somebody has them open.
	Left int `json:"left,omitempty"`
}

func (t StoreTrash) empty() bool { return t.Sessions+t.Facts+t.Notes == 0 }

// String says how much it is.
func (t StoreTrash) String() string {
	if t.empty() {
		return "nothing"
	}
	return fmt.Sprintf("%s, %s, %s", harness.Count(t.Sessions, "session"), harness.Count(t.Facts, "fact"), harness.Count(t.Notes, "note"))
}

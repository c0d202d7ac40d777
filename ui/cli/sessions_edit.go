package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

func (a *app) sessionsRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename SESSION TITLE", Short: "Give a session a title",
		Args: exactly(2, "a session and its new title"),
		RunE: runner(func(ctx context.Context, args []string) error {
			title := strings.TrimSpace(args[1])
			if err := validText("the title", title); err != nil {
				return err
			}
			if title == "" {
				return usage("the title is empty; give one, in any script")
			}
			st, err := a.reading(ctx)
			if err != nil {
				return err
			}
			s, err := findSession(ctx, st, args[0])
			if err != nil {
				return err
			}
			s, err = st.Sessions.Edit(ctx, s.ID, harness.SessionEdit{Title: &title, TitleBy: harness.TitleByUser})
			if err != nil {
				return fmt.Errorf("rename session %s: %w", s.ID, err)
			}
			if a.flags.json {
				return a.out.document(s)
			}
			a.out.line("%s is now %q", s.ID, render.SafeLine(s.Title))
			return nil
		}),
	}
}

func (a *app) sessionsEdit() *cobra.Command {
	var memory string
	cmd := &cobra.Command{
		Use: "edit SESSION", Short: "Turn long-term memory off or on in a session",
		Long: `Turn long-term memory off or on in a session. While it is off, nothing is recalled
in it, and nothing is saved from it. An unfinished run keeps what it began with.`,
		Args: exactly(1, "the id or title of a session"),
	}
	cmd.Flags().StringVar(&memory, "memory", "", "recall and save facts and notes in it: `on|off`")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		if memory == "" && !cmd.Flags().Changed("memory") {
			return usage("nothing is to be changed; see: %s --help", cmd.CommandPath())
		}
		if memory != "on" && memory != "off" {
			return usage("--memory is on or off, not %q", memory)
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		s, err := findSession(ctx, st, args[0])
		if err != nil {
			return err
		}
		none := memory == "off"
		s, err = st.Sessions.Edit(ctx, s.ID, harness.SessionEdit{NoMemory: &none})
		if err != nil {
			return fmt.Errorf("edit session %s: %w", s.ID, err)
		}
		if a.flags.json {
			return a.out.document(s)
		}
		a.out.line("memory is %s in %s", memory, s.ID)
		return nil
	})
	return cmd
}

func (a *app) sessionsRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm SESSION...", Short: "Delete sessions; they can be restored for 30 days", Aliases: []string{"delete"},
		Args: atLeastOne("the id or title of a session"),
		RunE: runner(func(ctx context.Context, args []string) error {
			st, err := a.reading(ctx)
			if err != nil {
				return err
			}
			// All are found before the first is deleted, so that a slip in one
			// name deletes nothing.
			var found []harness.Session
			for _, arg := range args {
				s, err := findSession(ctx, st, arg)
				if err != nil {
					return err
				}
				found = append(found, s)
			}
			open, err := openNow(ctx, st)
			if err != nil {
				return err
			}
			for _, s := range found {
				if h, ok := open[s.ID]; ok {
					a.notice("session %s is open in %s, which is told that it is deleted", s.ID, h)
				}
				if err := st.Sessions.Delete(ctx, s.ID); err != nil {
					return fmt.Errorf("delete session %s: %w", s.ID, err)
				}
				if err := a.tellRemoved(removed{s.ID, true}); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// removed is the JSON line of a session that was deleted or brought back.
type removed struct {
	ID      harness.SessionID `json:"id"`
	Deleted bool              `json:"deleted"`
}

// tellRemoved tells that a session was deleted or brought back.
func (a *app) tellRemoved(r removed) error {
	switch {
	case a.flags.json:
		return a.out.object(r)
	case r.Deleted:
		a.out.line("deleted %s; for 30 days it comes back with: cairn sessions restore %s", r.ID, r.ID)
	default:
		a.out.line("restored %s", r.ID)
	}
	return nil
}

// openNow tells who has which sessions open.
func openNow(ctx context.Context, st Store) (map[harness.SessionID]harness.Holder, error) {
	all, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	open := map[harness.SessionID]harness.Holder{}
	for _, s := range all {
		if s.Owner != nil {
			open[s.ID] = *s.Owner
		}
	}
	return open, nil
}

func (a *app) sessionsRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore SESSION...", Short: "Bring deleted sessions back",
		Args: atLeastOne("the id or title of a deleted session"),
		RunE: runner(func(ctx context.Context, args []string) error {
			st, err := a.reading(ctx)
			if err != nil {
				return err
			}
			for _, arg := range args {
				s, err := findDeleted(ctx, st, arg)
				if err != nil {
					return err
				}
				if err := st.Sessions.Restore(ctx, s.ID); err != nil {
					return fmt.Errorf("restore session %s: %w", s.ID, err)
				}
				if err := a.tellRemoved(removed{s.ID, false}); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// findDeleted finds the deleted session that text names, as [findSession]
// finds one that is not.
func findDeleted(ctx context.Context, st Store, text string) (harness.Session, error) {
	all, err := st.Sessions.List(ctx, harness.SessionFilter{Deleted: true})
	if err != nil {
		return harness.Session{}, err
	}
	id, _, parseErr := harness.ParseSessionID(text)
	want := fold(text)
	for _, match := range []func(harness.Session) bool{
		func(s harness.Session) bool { return parseErr == nil && s.ID == id },
		func(s harness.Session) bool { return fold(s.Title) == want },
		func(s harness.Session) bool {
			return strings.HasPrefix(string(s.ID), strings.TrimSpace(text)) || strings.HasPrefix(fold(s.Title), want)
		},
	} {
		found := choose(all, match)
		switch {
		case want == "" || len(found) == 0:
		case len(found) == 1:
			return found[0], nil
		default:
			return harness.Session{}, ambiguous(text, found)
		}
	}
	return harness.Session{}, fail(ExitNotFound, "no deleted session is called %q; see: cairn sessions list --deleted", text)
}

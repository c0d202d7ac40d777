package cli

import (
	"context"
	"fmt"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"cairn/harness"
)

// sessionsCommand is `cairn sessions`.
func (a *app) sessionsCommand() *cobra.Command {
	all := []*cobra.Command{
		a.sessionsList(), a.sessionsShow(), a.sessionsFork(), a.sessionsExport(), a.sessionsImport(),
		a.sessionsRename(), a.sessionsEdit(), a.sessionsPin(), a.sessionsUnpin(),
	}
	if a.wire.NewCondenser != nil {
		all = append(all, a.sessionsCompact())
	}
	return group("sessions", "List, show, fork, export, import, rename, edit, condense, delete and restore sessions",
		append(all, a.sessionsRemove(), a.sessionsRestore())...)
}

func (a *app) sessionsList() *cobra.Command {
	var f harness.SessionFilter
	var here bool
	cmd := &cobra.Command{
		Use: "list [WORD...]", Short: "List sessions, those with the words in title, id or tags if given",
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().BoolVar(&here, "here", false, "only those begun in this directory")
	cmd.Flags().BoolVar(&f.Deleted, "deleted", false, "list deleted sessions instead")
	limitFlag(cmd, &f.Limit)
	cmd.RunE = runner(func(ctx context.Context, words []string) error {
		f.Query = joined(words)
		if here {
			f.Dir = a.s.Dir
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		list, err := st.Sessions.List(ctx, f)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.out.document(orEmpty(list))
		}
		var t table
		for _, s := range list {
			t.add(ansi.Truncate(string(s.ID), maxListedID, "…"), a.when(s.Updated), fmt.Sprintf("%d msg", s.Messages+s.Inherited), sessionFlags(s), s.Title)
		}
		t.write(a.out, a.s.Width)
		return nil
	})
	return cmd
}

// maxListedID bounds an id in a list for people, in cells, so that the titles
// stay in sight. The start of an id is enough to name a session.
const maxListedID = 24

// sessionFlags are a list's words about a session.
func sessionFlags(s harness.Session) string {
	switch {
	case s.Owner != nil:
		return "open"
	case s.OpenRun != "" && s.OpenStatus == harness.RunAwaiting:
		return "waits"
	case s.OpenRun != "":
		return "unfinished"
	case s.HasDraft:
		return "draft"
	case s.Pinned:
		return "pinned"
	}
	return ""
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// permissionsCommand is `cairn permissions`.
func (a *app) permissionsCommand() *cobra.Command {
	return group("permissions", "List what tools may do without asking, and change the standing permissions",
		a.permissionsList(), a.permissionsAllow(), a.permissionsEdit(), a.permissionsRevoke())
}

// permitted is the document of `cairn permissions list --json`.
type permitted struct {
	// Approve says what becomes of calls that need consent.
	Approve     string     `json:"approve"`
	ApproveFrom string     `json:"approve_from"`
	Rules       []RuleLine `json:"rules"`
	// Grants are the standing permissions, oldest first.
	Grants []harness.Grant `json:"grants"`
}

func (a *app) permissionsList() *cobra.Command {
	var session string
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List rules and standing permissions with where each is from",
		Long: "List the rules of the configuration and of the flags given here, and the standing permissions: those that count always, and with --session those of a session.",
		Args: exactly(0, ""),
	}
	a.permissionFlags(cmd.Flags())
	cmd.Flags().StringVar(&session, "session", "", "those of `SESSION` too")
	cmd.Flags().BoolVar(&all, "all", false, "those of every session too")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		c, err := a.config()
		if err != nil {
			return err
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		var id harness.SessionID
		if session != "" {
			s, err := findSession(ctx, st, session)
			if err != nil {
				return err
			}
			id = s.ID
		}
		grants, err := grantsOf(ctx, st, id, all)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.out.document(permitted{string(c.Permissions.Mode), c.Permissions.ModeFrom, orEmpty(c.Permissions.Lines), orEmpty(grants)})
		}
		a.printPermissions(c.Permissions, grants)
		return nil
	})
	return cmd
}

// printPermissions prints rules and grants for people.
func (a *app) printPermissions(p Permissions, grants []harness.Grant) {
	var t table
	t.add("-", "approve", string(p.Mode), p.ModeFrom)
	for _, l := range p.Lines {
		t.add("-", l.Effect, l.Rule, l.From)
	}
	for _, g := range grants {
		t.add(g.ID, effectAllow, g.Rule, grantOrigin(g)+", "+a.when(g.At))
	}
	t.write(a.out, a.s.Width)
}

// grantOrigin says for what a grant counts and who gave it.
func grantOrigin(g harness.Grant) string {
	text := "always"
	if g.Session != "" {
		text = "session " + string(g.Session)
	}
	if g.By != "" {
		text += ", by " + g.By
	}
	if g.Tool == "" {
		text += ", by hand"
	}
	return text
}

// grantsOf reads the grants that count always, and those of one or of all
// sessions.
func grantsOf(ctx context.Context, st Store, id harness.SessionID, all bool) ([]harness.Grant, error) {
	if st.Grants == nil {
		return nil, nil
	}
	grants, err := st.Grants.List(ctx, id)
	if err != nil || !all {
		return grants, grantError("list", "", err)
	}
	sessions, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		more, err := st.Grants.List(ctx, s.ID)
		if err != nil {
			return nil, grantError("list", "", err)
		}
		for _, g := range more {
			if g.Session != "" && g.Session != id {
				grants = append(grants, g)
			}
		}
	}
	return grants, nil
}

// grantError words what became of a grant.
func grantError(what, id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, harness.ErrNotFound) && id != "":
		return fail(ExitNotFound, "there is no standing permission %q; see: cairn permissions list --all", id)
	}
	return fmt.Errorf("%s standing permissions: %w", what, err)
}

// grants opens the standing permissions to change them.
func (a *app) grants(ctx context.Context, open func(context.Context) (Store, error)) (Store, error) {
	st, err := open(ctx)
	if err == nil && st.Grants == nil {
		err = fail(ExitNotFound, "there is no standing permission yet; give one with: cairn permissions allow RULE")
	}
	return st, err
}

func (a *app) permissionsAllow() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "allow RULE", Short: "Let calls that match a rule run without asking, from now on",
		Example: "  cairn permissions allow 'run_command(go test)'\n  cairn permissions allow 'write_file(src/**)' --session refactor-parser",
		Args:    exactly(1, "a rule, such as 'run_command(go test)'"),
	}
	cmd.Flags().StringVar(&session, "session", "", "only in `SESSION`")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		rule, err := checkRule("the rule", args[0])
		if err != nil {
			return err
		}
		st, err := a.grants(ctx, a.store)
		if err != nil {
			return err
		}
		g := harness.Grant{Rule: rule, By: a.by("permissions allow")}
		if session != "" {
			s, err := findSession(ctx, st, session)
			if err != nil {
				return err
			}
			g.Session = s.ID
		}
		if g, err = st.Grants.Save(ctx, g); err != nil {
			return grantError("save", "", err)
		}
		a.noticeSlip(g.Rule)
		return a.printGrant(g)
	})
	return cmd
}

// printGrant tells of a grant that was stored.
func (a *app) printGrant(g harness.Grant) error {
	if a.flags.json {
		return a.out.document(g)
	}
	a.out.line("%s allows %s (%s); take it back with: cairn permissions revoke %s", g.ID, render.SafeLine(g.Rule), render.SafeLine(grantOrigin(g)), g.ID)
	return nil
}

func (a *app) permissionsEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit ID RULE", Short: "Change the rule of a standing permission", Args: exactly(2, "the id of a standing permission, such as g3, and the rule"),
		ValidArgsFunction: a.completeGrant,
		RunE: runner(func(ctx context.Context, args []string) error {
			rule, err := checkRule("the rule", args[1])
			if err != nil {
				return err
			}
			st, err := a.grants(ctx, a.reading)
			if err != nil {
				return err
			}
			id := memoryID(args[0])
			known, err := grantsOf(ctx, st, "", true)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(known, func(g harness.Grant) bool { return g.ID == id })
			if i < 0 {
				return grantError("edit", id, harness.ErrNotFound)
			}
			g := known[i]
			if toolOf(g.Rule) != toolOf(rule) {
				g.Tool = "" // it was given for another tool
			}
			if g.Rule = rule; g.Tool == "" {
				g.By = a.by("permissions edit")
			}
			if g, err = st.Grants.Save(ctx, g); err != nil {
				return grantError("edit", id, err)
			}
			a.noticeSlip(g.Rule)
			return a.printGrant(g)
		}),
	}
}

// toolOf is the name of the tool that a rule is about.
func toolOf(rule string) string {
	name, _, _ := strings.Cut(rule, "(")
	return strings.TrimSpace(name)
}

func (a *app) permissionsRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID...", Short: "Take standing permissions back", Aliases: []string{"rm"},
		Args:              atLeastOne("the id of a standing permission, such as g3"),
		ValidArgsFunction: a.completeGrant,
		RunE: runner(func(ctx context.Context, args []string) error {
			st, err := a.grants(ctx, a.reading)
			if err != nil {
				return err
			}
			known, err := grantsOf(ctx, st, "", true)
			if err != nil {
				return err
			}
			gone := make([]harness.Grant, 0, len(args))
			for _, arg := range args { // all of them, or none
				id := memoryID(arg)
				i := slices.IndexFunc(known, func(g harness.Grant) bool { return g.ID == id })
				if i < 0 {
					return fail(ExitNotFound, "there is no standing permission %q, and nothing was taken back; see: cairn permissions list --all", arg)
				}
				if !slices.Contains(gone, known[i]) {
					gone = append(gone, known[i])
				}
			}
			for _, g := range gone {
				if err := st.Grants.Revoke(ctx, g.ID); err != nil {
					return grantError("revoke", g.ID, err)
				}
				if !a.flags.json {
					a.out.line("%s is taken back; calls that it allowed are asked about again", g.ID)
				}
			}
			if a.flags.json {
				return a.out.document(gone)
			}
			return nil
		}),
	}
}

// completeGrant completes the ids of standing permissions.
func (a *app) completeGrant(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if cmd.Name() == "edit" && len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offer(cmd, start, func(ctx context.Context) ([]string, error) {
		st, err := a.reading(ctx)
		if err != nil {
			return nil, err
		}
		grants, err := grantsOf(ctx, st, "", true)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, g := range grants {
			ids = append(ids, cobra.CompletionWithDesc(g.ID, render.SafeLine(g.Rule)))
		}
		return ids, nil
	})
}

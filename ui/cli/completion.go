package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/distill"
	"cairn/harness/run"
)

// completionCommand is `cairn completion`.
func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands in a shell",
		Example: `  source <(cairn completion bash)
  cairn completion fish > ~/.config/fish/completions/cairn.fish`,
		Args: exactly(1, "the name of a shell"), ValidArgs: shells, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return usage("there is no completion for %q%s", args[0], suggest(args[0], "", shells))
		},
	}
}

// maxCompleted bounds what a shell is offered.
const maxCompleted = 200

// completeFlags lets a shell complete the values of the root's flags.
func (a *app) completeFlags(root *cobra.Command) error {
	sessions := func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return a.offer(cmd, start, a.sessionIDs)
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"resume": sessions, "session": sessions,
		"model": func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return a.offer(cmd, start, a.modelNames)
		},
		"theme":     cobra.FixedCompletions(a.themeNames(), cobra.ShellCompDirectiveNoFileComp),
		distillFlag: cobra.FixedCompletions([]string{string(distill.Auto), string(distill.Ask), string(distill.Off)}, cobra.ShellCompDirectiveNoFileComp),
		"approve":   cobra.FixedCompletions(approveModes(), cobra.ShellCompDirectiveNoFileComp),
		"allow":     a.completeRule, "deny": a.completeRule,
		keyEngine: completeEngine,
		keyDrive:  cobra.FixedCompletions(drives(), cobra.ShellCompDirectiveNoFileComp),
	} {
		if err := root.RegisterFlagCompletionFunc(flag, complete); err != nil {
			return err
		}
	}
	export, _, err := root.Find([]string{"sessions", "export"})
	if err != nil {
		return err
	}
	return export.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(exportFormats(), cobra.ShellCompDirectiveNoFileComp))
}

// completeSession completes the id of one session.
func (a *app) completeSession(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offer(cmd, start, a.sessionIDs)
}

// completeSetting completes the keys of the configuration that one value sets. What
// a value may be only its key knows.
func (a *app) completeSetting(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // it may be a file
	}
	return a.offer(cmd, start, func(context.Context) ([]string, error) {
		c, err := a.config()
		if err != nil {
			return nil, err
		}
		var keys []string
		for _, d := range configDocs() {
			keys = append(keys, a.settings(c, d)...)
		}
		return keys, nil
	})
}

// settings are the keys that a documented one stands for: those of the servers and
// actions that there are in the place of their names.
func (a *app) settings(c Config, d keyDoc) (keys []string) {
	add := func(key string) { keys = append(keys, cobra.CompletionWithDesc(key, d.value+": "+d.text)) }
	before, after, named := strings.Cut(d.key, "NAME")
	switch {
	case d.value == "table": // no one value sets it
	case d.key == "keys.ACTION":
		if a.wire.Actions != nil {
			for _, action := range a.wire.Actions() {
				add("keys." + action)
			}
		}
	case !named:
		add(d.key)
	case strings.HasPrefix(d.key, keyMCP+"."):
		for _, s := range c.MCP {
			add(before + s.Name + after)
		}
	}
	return keys
}

// offer lists the names that begin with start. A completion has nowhere to
// show an error, so there is then nothing to offer.
func (a *app) offer(cmd *cobra.Command, start string, list func(context.Context) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	// The command's own preparation does not run while it is completed.
	a.flags.quiet = true
	if err := a.given(cmd); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names, err := list(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var fit []string
	for _, n := range names {
		if strings.HasPrefix(n, start) && len(fit) < maxCompleted {
			fit = append(fit, n)
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp
}

// sessionIDs are the ids of all sessions with their titles.
func (a *app) sessionIDs(ctx context.Context) ([]string, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	list, err := st.Sessions.List(ctx, harness.SessionFilter{Limit: maxCompleted})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, cobra.CompletionWithDesc(string(s.ID), strings.Join(strings.Fields(s.Title), " ")))
	}
	return ids, nil
}

func (a *app) modelNames(ctx context.Context) ([]string, error) {
	m, err := a.models(ctx)
	if err != nil {
		return nil, err
	}
	list, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, x := range list {
		all = append(all, x.Name)
	}
	return all, nil
}

// completeRule completes the tool's name, with which a rule begins.
func (a *app) completeRule(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.offer(cmd, start, func(context.Context) ([]string, error) {
		if a.wire.Tools == nil {
			return nil, nil
		}
		return a.wire.Tools(), nil
	})
}

// completeEngine completes the kinds of engines, behind which something else
// follows, and files after sqlite:, where the shell splits no words.
func completeEngine(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	var fit []string
	for _, k := range []struct{ text, about string }{
		{string(run.KindBbolt), "the store of the conversations"},
		{string(run.KindSQLite) + ":", "the path of a file"},
		{string(run.KindPostgres) + "://", "host and database"},
		{string(run.KindTemporal) + "://", "host, port and namespace"},
	} {
		if strings.HasPrefix(k.text, start) {
			fit = append(fit, cobra.CompletionWithDesc(k.text, k.about))
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// subcommands are the commands below the root, in the order of the help.
func (a *app) subcommands() []*cobra.Command {
	return []*cobra.Command{
		a.sessionsCommand(), a.searchCommand(), a.factsCommand(), a.notesCommand(), a.memoryCommand(), a.runsCommand(), a.workerCommand(), a.usageCommand(), a.permissionsCommand(),
		a.modelsCommand(), a.mcpCommand(), a.themesCommand(), a.configCommand(), a.dbCommand(), a.doctorCommand(), a.demoCommand(),
		completionCommand(a), manCommand(a), eventsTopic(), rulesTopic(),
	}
}

// helpCommand is `cairn help`.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			about, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 || about.Hidden {
				if err != nil {
					about, rest = cmd.Root(), words
				}
				if about.Hidden {
					about, rest = cmd.Root(), []string{about.Name()}
				}
				prefix := strings.TrimPrefix(about.CommandPath()+" ", "cairn ")
				return usage("there is no help about %q%s", strings.Join(words, " "), suggest(rest[0], "cairn help "+prefix, names(about)))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, words []string, start string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var fit []string
			for _, n := range names(about) {
				if strings.HasPrefix(n, start) {
					fit = append(fit, n)
				}
			}
			return fit, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// reserved is a name that will be a command's. Until then it must not become a
// prompt, which would cost money and look like a success.
func reserved(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return usage("this version of cairn has no command %q. To send it as a prompt: cairn -- %s", name, name)
		},
	}
}

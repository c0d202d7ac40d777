package cli

import "github.com/spf13/cobra"

// subcommands are the commands below the root, in the order of the help.
func (a *app) subcommands() []*cobra.Command {
	all := []*cobra.Command{
		a.sessionsCommand(), a.searchCommand(), a.factsCommand(), a.notesCommand(), a.runsCommand(),
		a.modelsCommand(), a.themesCommand(), a.configCommand(), a.dbCommand(), a.doctorCommand(),
		completionCommand(a), manCommand(a), eventsTopic(),
	}
	for _, name := range []string{"worker", "mcp", "memory"} {
		all = append(all, reserved(name))
	}
	return all
}

// reserved is a name that will be a command's. Until then it must not become a
// prompt, which would cost money and look like a success.
func reserved(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			hint := ""
			if name == "memory" {
				hint = "; see: cairn facts, cairn notes"
			}
			return usage("this version of cairn has no command %q%s. To send it as a prompt: cairn -- %s", name, hint, name)
		},
	}
}

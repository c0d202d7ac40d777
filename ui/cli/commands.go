package cli

import "github.com/spf13/cobra"

// subcommands are the commands below the root, in the order of the help.
func (a *app) subcommands() []*cobra.Command {
	return []*cobra.Command{
		a.sessionsCommand(), a.searchCommand(), a.factsCommand(), a.notesCommand(), a.runsCommand(),
		a.modelsCommand(), a.themesCommand(), a.configCommand(), a.dbCommand(), a.doctorCommand(),
		completionCommand(a), manCommand(a), eventsTopic(),
	}
}

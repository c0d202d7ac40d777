package cli

import "github.com/spf13/cobra"

// mcpCommand is `cairn mcp`: the MCP servers that cairn uses, and cairn as one.
func (a *app) mcpCommand() *cobra.Command {
	return group("mcp", "Serve memory to other agents over MCP",
		a.mcpServe())
}

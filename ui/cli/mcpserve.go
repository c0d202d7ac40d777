package cli

import "github.com/spf13/cobra"

// mcpServe is `cairn mcp serve`.
func (a *app) mcpServe() *cobra.Command { return reserved("serve") }

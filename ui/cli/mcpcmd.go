package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"cairn/ui/cli/keyring"
)

// mcpCommand is `cairn mcp`: the MCP servers that cairn uses, and cairn as one.
func (a *app) mcpCommand() *cobra.Command {
	return group("mcp", "Look after the MCP servers whose tools the model gets, and be one for other agents",
		a.mcpList(), a.mcpAdd(), a.mcpRemove(), a.mcpTest(), a.mcpTools(), a.mcpSwitch(true), a.mcpSwitch(false), a.mcpLogin(), a.mcpLogout(), a.mcpImport(), a.mcpServe())
}

// oneServer is what names a server in an argument.
const oneServer = "the name of an MCP server, as cairn mcp list has it"

// mcpServer finds a server of the configuration by its name.
func (a *app) mcpServer(name string) (MCPServer, error) {
	c, err := a.config()
	if err != nil {
		return MCPServer{}, err
	}
	if s, ok := c.server(name); ok {
		return s, nil
	}
	var names []string
	for _, s := range c.MCP {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return MCPServer{}, fail(ExitNotFound, "there is no MCP server %q, and none is configured; add one with: cairn mcp add NAME COMMAND", name)
	}
	return MCPServer{}, fail(ExitNotFound, "there is no MCP server %q%s", name, suggest(name, "", names))
}

// completeServer completes the names of servers.
func (a *app) completeServer(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offer(cmd, start, func(context.Context) ([]string, error) {
		c, err := a.config()
		var names []string
		for _, s := range c.MCP {
			names = append(names, cobra.CompletionWithDesc(s.Name, reaches(s)))
		}
		return names, err
	})
}

// reaches is the command or the address of a server, without what may be a secret.
func reaches(s MCPServer) string {
	if s.URL != "" {
		return shownURL(s.URL)
	}
	return strings.Join(append([]string{s.Command}, shownArgs(s.Args)...), " ")
}

// transport is the way to a server.
func transport(s MCPServer) string {
	if s.URL != "" {
		return "http"
	}
	return "stdio"
}

// mcpRemove is `cairn mcp remove`.
func (a *app) mcpRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Take an MCP server out of the configuration", Aliases: []string{"rm"},
		Args: exactly(1, oneServer), ValidArgsFunction: a.completeServer,
		RunE: runner(func(ctx context.Context, args []string) error {
			s, err := a.mcpServer(args[0])
			if err != nil {
				return err
			}
			file, _, err := a.writeServers(ctx, func(data []byte) ([]byte, error) {
				edited, ok := removeServer(data, s.Name)
				if !ok {
					return nil, usage("MCP server %s is part of a larger value in the file; take it out by hand", s.Name)
				}
				return edited, nil
			})
			if err != nil {
				return err
			}
			if _, err := a.keys.SignIns().Forget(ctx, s.Name); err != nil && !errors.Is(err, keyring.ErrNoKey) {
				a.notice("the sign-in to it is still kept: %v", err)
			}
			if a.flags.json {
				return a.out.document(map[string]any{"file": file, "removed": s.Name})
			}
			a.out.line("MCP server %s is no longer in %s", s.Name, file)
			return nil
		}),
	}
}

// mcpSwitch is `cairn mcp on` and `cairn mcp off`.
func (a *app) mcpSwitch(on bool) *cobra.Command {
	use, short, word := "on NAME", "Connect to an MCP server from now on", "on"
	if !on {
		use, short, word = "off NAME", "Leave an MCP server alone, and keep its settings", "off"
	}
	return &cobra.Command{
		Use: use, Short: short, Args: exactly(1, oneServer), ValidArgsFunction: a.completeServer,
		RunE: runner(func(ctx context.Context, args []string) error {
			s, err := a.mcpServer(args[0])
			if err != nil {
				return err
			}
			file := a.cfg.File
			if s.Off == on {
				value := map[bool]string{true: "false", false: "true"}[on]
				file, _, err = a.writeServers(ctx, func(data []byte) ([]byte, error) {
					return editSettings(data, []string{keyMCP, "servers", s.Name, "off"}, value)
				})
				if err != nil {
					return err
				}
			}
			if a.flags.json {
				return a.out.document(map[string]any{"file": file, "name": s.Name, "off": !on})
			}
			a.out.line("MCP server %s is %s in %s; chats that are open keep it as it was", s.Name, word, file)
			return nil
		}),
	}
}

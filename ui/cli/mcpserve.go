package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"cairn/harness/mcp/serve"
	"cairn/harness/tool/recall"
)

const serveLong = `Offer cairn's memory to another agent over MCP, on standard input and output. It is
no command to type: an agent starts it, when it has it among its MCP servers.

The agent finds facts and notes (recall_memories), messages of all conversations
(search_history), and reads facts and notes by their addresses, cairn://facts/f1 and
cairn://notes/n2. It changes nothing. With --allow-writes it may suggest facts
(save_memory, update_memory, forget_memory): each waits in the inbox, with the name
of the agent, until you accept it there or with cairn memory inbox.

What is secret is in no answer. Other windows stay usable meanwhile, and what they
write is found at once. It ends when its input ends, or at SIGTERM.`

// mcpServe is `cairn mcp serve`.
func (a *app) mcpServe() *cobra.Command {
	writes := false
	cmd := &cobra.Command{
		Use: "serve", Short: "Offer cairn's memory to other agents, on standard input and output", Long: serveLong,
		Example: `  claude mcp add cairn -- cairn mcp serve
  cairn mcp serve --dir ~/shared-memory --allow-writes`,
		Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error { return a.serveMemory(ctx, writes) }),
	}
	cmd.Flags().BoolVar(&writes, "allow-writes", false, "let agents suggest facts, which wait in the inbox")
	return cmd
}

// serveMemory serves one agent until its input or ctx ends. Standard output is the
// agent's alone.
func (a *app) serveMemory(ctx context.Context, writes bool) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	if c.NoMemory {
		return usage("memory is off (%s), so there is nothing to serve; set no_memory to false", c.values["no_memory"].From)
	}
	setup, err := a.setup()
	if err != nil {
		return err
	}
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	o := serve.Options{
		Facts: st.Facts, Notes: st.Notes, History: recall.History{Search: st.Search, Sessions: st.Sessions, Transcript: st.Transcript},
		Redact: setup.Redactor().Redact, Version: a.wire.version(), Log: setup.Log,
	}
	if writes {
		o.Inbox = st.Inbox
	}
	if a.s.InTTY {
		a.notice("this speaks MCP with an agent that starts it; ctrl+d ends it, and cairn mcp serve --help says how to add it")
	}
	setup.Log.Info("serve memory over MCP", slog.Bool("writes", writes))
	return serve.Run(ctx, o, a.s.In, a.s.Out)
}

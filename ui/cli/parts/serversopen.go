package parts

import (
	"context"

	"cairn/harness"
	"cairn/ui/cli"
)

// OpenServers connects to the MCP servers of a start and waits for them, not for
// long. It returns nil if none is configured.
func (p *Start) OpenServers(ctx context.Context, setup cli.Setup) (harness.Servers, error) {
	s, err := p.mcpServers(setup)
	if err != nil || s == nil {
		return nil, err
	}
	s.wait(ctx, setup.Log)
	return s.Manager, nil
}

package parts

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/tool"
	"cairn/ui/cli"
)

// serverPatience bounds how long a turn waits for MCP servers that are being
// connected.
const serverPatience = 10 * time.Second

// toolPatience bounds how long a run that was begun elsewhere waits for tools that its
// servers do not offer yet.
const toolPatience = 2 * time.Second

// servers are the MCP servers of a process, and the tools that they offer. A nil one
// has none.
type servers struct {
	*mcp.Manager
	// of are the servers of the configuration, and all the tools of all of them.
	of  []cli.MCPServer
	all tool.Set

	mu sync.Mutex
	// told are the failures that turns told of, by server.
	told map[string]string
}

// mcpServers returns the MCP servers of a start: the same ones for all its parts, nil
// if none is configured. None is connected to before its first turn, or
// [Start.Connect].
func (p *Start) mcpServers(setup cli.Setup) (*servers, error) {
	p.serving.Lock()
	defer p.serving.Unlock()
	if p.served != nil || len(setup.Config.MCP) == 0 || setup.Steps != nil {
		return p.served, nil
	}
	m, err := mcp.New(mcp.Options{
		Servers: serversOf(setup.Config), Interactive: p.Asks && setup.Interactive, Absent: !p.Asks && setup.Interactive,
		Name: "cairn", Version: p.Version, Log: setup.Log, Now: setup.Now,
		SignIns: setup.Keys.SignIns(),
	})
	if err != nil {
		return nil, fmt.Errorf("MCP servers: %w", err)
	}
	p.served = &servers{Manager: m, of: setup.Config.MCP, told: map[string]string{}}
	m.Attach(&p.served.all)
	return p.served, nil
}

// serversOf are the servers of a configuration, without the tools that are off.
func serversOf(c cli.Config) []mcp.Server {
	var all []mcp.Server
	for _, s := range c.MCP {
		one := s.Server
		one.Without = slices.Clone(one.Without)
		for _, off := range c.Tools.Off {
			if name, ok := s.Remote(off); ok {
				one.Without = append(one.Without, name)
			}
		}
		all = append(all, one)
	}
	return all
}

// Servers returns the MCP servers of a start for a screen, nil if none is configured.
func (p *Start) Servers() harness.Servers {
	p.serving.Lock()
	defer p.serving.Unlock()
	if p.served == nil {
		return nil
	}
	return p.served.Manager
}

// Connect begins to connect to the MCP servers after a while, unless ctx ends before,
// or a turn has them connected.
func (p *Start) Connect(ctx context.Context, after time.Duration) {
	if p.Servers() == nil {
		return
	}
	select {
	case <-time.After(after):
		p.served.Start(ctx)
	case <-ctx.Done():
	}
}

// Close ends the connections to the MCP servers, and the programs that were started
// for them. It takes well below a second, five at most.
func (p *Start) Close(ctx context.Context) error {
	if p.Servers() == nil {
		return nil
	}
	return p.served.Close(ctx)
}

// ready connects to the servers and waits for those that are on their way, not for
// long: waits is told which ones those are, lacks which ones have failed, once each.
func (s *servers) ready(ctx context.Context, waits, lacks func(text string)) {
	s.Start(ctx)
	if names := s.named(harness.ServerConnecting); len(names) > 0 {
		waits("waiting for the MCP " + plural("server", names))
		bounded, cancel := context.WithTimeout(ctx, serverPatience)
		_ = s.Ready(bounded) // how each stands is looked at below
		cancel()
	}
	if ctx.Err() != nil {
		return
	}
	for _, text := range s.news() {
		lacks(text)
	}
}

// news tells of servers that are not there, of each once until it was there.
func (s *servers) news() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, server := range s.List() {
		text := ""
		switch server.State {
		case harness.ServerFailed:
			if len(server.Tools) > 0 {
				break // they are offered all the same, and a call connects again
			}
			text = fmt.Sprintf("without the tools of MCP server %s: %s", server.Name, strings.TrimSuffix(server.Err, "."))
		case harness.ServerConnecting:
			text = fmt.Sprintf("without the tools of MCP server %s for now: it is still connecting", server.Name)
		default:
		}
		if text != "" && s.told[server.Name] == "" {
			all = append(all, text)
		}
		s.told[server.Name] = text
	}
	return all
}

// wait is ready for whoever has nobody to tell.
func (s *servers) wait(ctx context.Context, log *slog.Logger) {
	if s == nil {
		return
	}
	s.ready(ctx, func(string) {}, func(text string) { log.Warn("mcp", slog.String("error", text)) })
}

// named are the names of the servers in a state.
func (s *servers) named(state harness.ServerState) []string {
	var names []string
	for _, server := range s.List() {
		if server.State == state {
			names = append(names, server.Name)
		}
	}
	return names
}

func plural(one string, names []string) string {
	if len(names) == 1 {
		return one + " " + names[0]
	}
	return one + "s " + strings.Join(names, ", ")
}

// awaitTools waits for those tools of a run that a server which is ready may still come
// to offer, as some do once they know who connected, until ctx ends.
func (s *servers) awaitTools(ctx context.Context, wanted map[string]string) {
	if s == nil {
		return
	}
	for {
		changed := s.Changed()
		if !s.outstanding(wanted) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// outstanding reports whether a tool is not there of which the name is one of a server
// that is.
func (s *servers) outstanding(wanted map[string]string) bool {
	there := s.named(harness.ServerReady)
	for name := range wanted {
		if _, has := s.all.Lookup(name); has {
			continue
		}
		if slices.ContainsFunc(s.of, func(server cli.MCPServer) bool {
			_, its := server.Remote(name)
			return its && slices.Contains(there, server.Name)
		}) {
			return true
		}
	}
	return false
}

// lend puts the tools of the servers that a run was begun with into a set that is
// used for that run alone. Others than those stay out: the run's model was never
// told of them.
func (s *servers) lend(set *tool.Set, wanted map[string]string) {
	if s == nil {
		return
	}
	for _, name := range s.all.Names() {
		if _, asked := wanted[name]; !asked {
			continue
		}
		if t, ok := s.all.Lookup(name); ok {
			_ = set.Add(t) // one whose name is taken is the other tool
		}
	}
}

// portable reports whether a tool is one of a server that is reached over the network,
// and so from any machine.
func (s *servers) portable(name string) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.List(), func(server harness.ServerStatus) bool {
		return server.Transport == "http" && slices.ContainsFunc(server.Tools, func(t harness.ServerTool) bool { return t.Name == name })
	})
}

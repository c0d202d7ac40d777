package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/ui/render"
)

// mcpLine is a server as `cairn mcp list --json` tells it.
type mcpLine struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`
	Target    string `json:"target"`
	Off       bool   `json:"off"`
	// SignedIn says that the person signed in to it.
	SignedIn bool `json:"signed_in,omitempty"`
	// Fault is why it cannot be connected to, empty for no reason that is known.
	Fault string `json:"fault,omitempty"`
	// Status is how it is; nil if that was not looked at.
	Status *harness.ServerStatus `json:"status,omitempty"`
}

// mcpList is `cairn mcp list`.
func (a *app) mcpList() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use: "list", Short: "List the MCP servers of the configuration", Args: exactly(0, ""),
		Long: "List the MCP servers of the configuration. Nothing is started for it: with --check each is connected to, and told how it is.",
	}
	cmd.Flags().BoolVar(&check, "check", false, "connect to those that are on")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		c, err := a.config()
		if err != nil {
			return err
		}
		looked := map[string]harness.ServerStatus{}
		if check {
			if looked, err = a.lookAt(ctx, c.MCP); err != nil {
				return err
			}
		}
		lines := make([]mcpLine, 0, len(c.MCP))
		for _, s := range c.MCP {
			l := mcpLine{Name: s.Name, Transport: transport(s), Target: reaches(s), Off: s.Off, SignedIn: a.signedIn(s), Fault: s.Fault}
			if status, ok := looked[s.Name]; ok {
				l.Status = &status
			}
			lines = append(lines, l)
		}
		if a.flags.json {
			return a.out.document(lines)
		}
		if len(lines) == 0 {
			a.out.line("no MCP server is configured; add one with: cairn mcp add NAME COMMAND, or cairn mcp import FILE")
			return nil
		}
		var t table
		for _, l := range lines {
			t.add(l.Name, l.state(), l.Transport, l.Target)
		}
		t.write(a.out, a.s.Width)
		for _, l := range lines {
			if why := l.why(); why != "" {
				a.out.line("%s", render.SafeLine(l.Name+": "+why))
			}
		}
		return nil
	})
	return cmd
}

// why says why a server cannot be had, as far as that is known.
func (l mcpLine) why() string {
	if l.Status != nil {
		return l.Status.Err
	}
	return l.Fault
}

// state says in words how a server is, as far as that is known.
func (l mcpLine) state() string {
	if l.SignedIn {
		return l.condition() + ", signed in"
	}
	return l.condition()
}

func (l mcpLine) condition() string {
	switch {
	case l.Off:
		return "off"
	case l.Status != nil && l.Status.State == harness.ServerReady:
		return "ready, " + harness.Count(len(l.Status.Tools), "tool")
	case l.Status != nil:
		return "failed"
	case l.Fault != "":
		return "cannot be used"
	}
	return "on"
}

// lookAt connects to servers that are on, and returns how they are by their names.
func (a *app) lookAt(ctx context.Context, servers []MCPServer) (map[string]harness.ServerStatus, error) {
	all := map[string]harness.ServerStatus{}
	err := a.connected(ctx, servers, func(m *mcp.Manager) error {
		for _, s := range m.List() {
			if s.State != harness.ServerOff {
				all[s.Name] = s
			}
		}
		return nil
	})
	return all, err
}

// connected connects to servers that are on, does something with them once each is
// ready or has failed, and ends the connections.
func (a *app) connected(ctx context.Context, servers []MCPServer, do func(*mcp.Manager) error) error {
	log, err := a.logger()
	if err != nil {
		return err
	}
	o := mcp.Options{Name: "cairn", Version: a.wire.version(), Log: log, Now: a.s.Now, SignIns: a.keys.SignIns()}
	for _, s := range servers {
		o.Servers = append(o.Servers, s.Server)
	}
	m, err := mcp.New(o)
	if err != nil {
		return fmt.Errorf("MCP servers: %w", err)
	}
	err = m.Ready(ctx)
	if err == nil {
		err = do(m)
	}
	return errors.Join(err, m.Close(context.WithoutCancel(ctx)))
}

// mcpTest is `cairn mcp test`.
func (a *app) mcpTest() *cobra.Command {
	return &cobra.Command{
		Use: "test [NAME]", Short: "Connect to MCP servers and tell what they offer",
		Long: "Connect to one MCP server, also one that is off, or to all that are on, and tell how long that took and what they offer. " +
			"Of one that cannot be had the reason is told, and what it said last on its standard error; the exit code is 1 then.",
		Args: atMostOne, ValidArgsFunction: a.completeServer,
		RunE: runner(func(ctx context.Context, args []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			servers := slices.DeleteFunc(slices.Clone(c.MCP), func(s MCPServer) bool { return s.Off })
			if len(args) == 1 {
				one, err := a.mcpServer(args[0])
				if err != nil {
					return err
				}
				one.Off = false
				servers = []MCPServer{one}
			}
			results, failed := make([]tested, 0, len(servers)), 0
			for _, s := range servers { // one after the other, so that the times say something
				t, err := a.try(ctx, s)
				if err != nil {
					return err
				}
				if t.State != harness.ServerReady {
					failed++
				}
				results = append(results, t)
				if !a.flags.json {
					a.printTested(t)
				}
			}
			if a.flags.json {
				err = a.out.document(results)
			} else if len(results) == 0 {
				a.out.line("no MCP server is on; see: cairn mcp list")
			}
			if failed > 0 && err == nil {
				err = fail(ExitFailed, "%s cannot be had", harness.Count(failed, "MCP server"))
			}
			return err
		}),
	}
}

// try connects to a server and tells how that went.
func (a *app) try(ctx context.Context, s MCPServer) (tested, error) {
	began := a.s.Now()
	looked, err := a.lookAt(ctx, []MCPServer{s})
	if err != nil {
		return tested{}, err
	}
	return tested{ServerStatus: looked[s.Name], SignedIn: a.signedIn(s), Took: a.s.Now().Sub(began).Seconds()}, nil
}

// tested is a server that was connected to.
type tested struct {
	harness.ServerStatus
	// SignedIn says that the person signed in to it.
	SignedIn bool `json:"signed_in,omitempty"`
	// Took is how long that took, in seconds.
	Took float64 `json:"took_seconds"`
}

// printTested tells a person of a server.
func (a *app) printTested(t tested) {
	line := func(format string, args ...any) { a.out.line("%s", render.SafeLine(fmt.Sprintf(format, args...))) }
	took := time.Duration(t.Took * float64(time.Second)).Round(10 * time.Millisecond)
	if t.State != harness.ServerReady {
		line("%s failed after %s: %s", t.Name, took, t.Err)
		line("  %s", t.Target)
		for _, said := range t.Said {
			line("  stderr: %s", said)
		}
		return
	}
	line("%s is ready after %s", t.Name, took)
	line("  %s", t.Target)
	if t.SignedIn {
		line("  signed in; to end that: cairn mcp logout %s", t.Name)
	}
	line("  %s, protocol %s", strings.TrimSpace(t.Title+" "+t.Version), t.Protocol)
	line("  %s, %s, %s", harness.Count(len(t.Tools), "tool"), harness.Count(len(t.Prompts), "prompt"), harness.Count(len(t.Resources), "resource"))
	for _, tool := range t.Tools {
		line("  tool %s", tool.Name)
	}
	for _, p := range t.Prompts {
		line("  prompt /%s:%s", t.Name, p.Name)
	}
	for _, r := range t.Resources {
		line("  resource @%s:%s", t.Name, r.URI)
	}
	for _, why := range t.Refused {
		line("  note: %s", why)
	}
}

// mcpTools is `cairn mcp tools`.
func (a *app) mcpTools() *cobra.Command {
	return &cobra.Command{
		Use: "tools NAME", Short: "Connect to an MCP server and list the tools that the model gets of it", Args: exactly(1, oneServer), ValidArgsFunction: a.completeServer,
		RunE: runner(func(ctx context.Context, args []string) error {
			s, err := a.mcpServer(args[0])
			if err != nil {
				return err
			}
			s.Off = false
			looked, err := a.lookAt(ctx, []MCPServer{s})
			if err != nil {
				return err
			}
			status := looked[s.Name]
			if status.State != harness.ServerReady {
				return fail(ExitFailed, "MCP server %s cannot be had: %s; see: cairn mcp test %s", s.Name, strings.TrimSuffix(status.Err, "."), s.Name)
			}
			if a.flags.json {
				return a.out.document(orEmpty(status.Tools))
			}
			var t table
			for _, tool := range status.Tools {
				t.add(tool.Name, firstLine(tool.Help))
			}
			t.write(a.out, a.s.Width)
			for _, why := range status.Refused {
				a.notice("%s", why)
			}
			return nil
		}),
	}
}

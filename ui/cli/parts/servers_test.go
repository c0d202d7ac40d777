package parts

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness/mcp"
	"cairn/harness/tool"
	"cairn/ui/cli"
)

// station is an MCP server over HTTP with two tools, which answers once open is closed.
func station(t *testing.T, open <-chan struct{}) string {
	t.Helper()
	_, url := stationOf(t, open)
	return url
}

// stationOf is a station, and the server that it is.
func stationOf(t *testing.T, open <-chan struct{}) (*sdk.Server, string) {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "station", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "list"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "drop"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		select {
		case <-open:
		case <-r.Context().Done():
		}
		return s
	}, nil))
	t.Cleanup(func() {
		h.CloseClientConnections() // a stream may be open
		h.Close()
	})
	return s, h.URL
}

// started are the servers of a start.
func started(t *testing.T, p *Start, off []string, all ...mcp.Server) *servers {
	t.Helper()
	setup := cli.Setup{Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	setup.Config.Tools.Off = off
	for _, s := range all {
		setup.Config.MCP = append(setup.Config.MCP, cli.MCPServer{Server: s})
	}
	s, err := p.mcpServers(setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestATurnHasTheToolsOfItsServersAndTellsOnceOfThoseThatFail(t *testing.T) {
	t.Parallel()
	p := &Start{}
	heard := make(chan struct{}) // nothing answers before it is told what is waited for
	s := started(t, p, []string{"up_drop"}, mcp.Server{Name: "up", URL: station(t, heard)}, mcp.Server{Name: "down", Command: "x", Fault: "it lacks KEY"})
	set := new(tool.Set)
	s.Attach(set)
	var waited, lacked []string
	for range 2 {
		s.ready(t.Context(), func(text string) {
			waited = append(waited, text)
			close(heard)
		}, func(text string) { lacked = append(lacked, text) })
	}
	if !slices.Equal(waited, []string{"waiting for the MCP server up"}) {
		t.Errorf("it waits for %q", waited)
	}
	if !slices.Equal(lacked, []string{"without the tools of MCP server down: it lacks KEY"}) {
		t.Errorf("it lacks %q", lacked)
	}
	if names := set.Names(); !slices.Equal(names, []string{"up_list"}) {
		t.Errorf("it has the tools %q", names)
	}
	if again := started(t, p, nil, mcp.Server{Name: "other", URL: "http://127.0.0.1:1"}); again != s {
		t.Error("another part of the start has other servers")
	}
}

func TestToolsOverHTTPAreOfNoMachineAndARunGetsThoseItBeganWith(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	close(open)
	s := started(t, &Start{}, nil, mcp.Server{Name: "up", URL: station(t, open)})
	s.wait(t.Context(), slog.New(slog.DiscardHandler))
	if !s.portable("up_list") || s.portable("read_file") || s.portable("up_none") {
		t.Error("which tools are portable is told wrong")
	}
	if bound(map[string]string{"up_list": "", "fetch_url": ""}, s.portable) || !bound(map[string]string{"up_list": "", "read_file": ""}, s.portable) {
		t.Error("which runs are bound to a machine is told wrong")
	}
	set := new(tool.Set)
	s.lend(set, map[string]string{"up_list": "", "read_file": ""})
	if names := set.Names(); !slices.Equal(names, []string{"up_list"}) {
		t.Errorf("the run gets %q", names)
	}
	var none *servers
	none.lend(set, nil)
	none.wait(t.Context(), nil)
	if none.portable("up_list") {
		t.Error("without servers a tool is portable")
	}
}

func TestARunOfElsewhereWaitsForAToolThatItsServerOffersLate(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	close(open)
	server, url := stationOf(t, open)
	s := started(t, &Start{}, nil, mcp.Server{Name: "up", URL: url})
	s.wait(t.Context(), slog.New(slog.DiscardHandler))
	wanted := map[string]string{"up_list": "", "up_late": "", "read_file": ""}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	s.awaitTools(over, wanted)
	if _, has := s.all.Lookup("up_late"); has {
		t.Fatal("the tool is there before it is offered")
	}
	sdk.AddTool(server, &sdk.Tool{Name: "late"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	s.awaitTools(t.Context(), wanted)
	if _, has := s.all.Lookup("up_late"); !has {
		t.Error("the wait ended without the tool")
	}
	s.awaitTools(t.Context(), map[string]string{"read_file": "", "other_tool": ""}) // no server's of these
	var none *servers
	none.awaitTools(t.Context(), wanted)
}

func TestAWaitForServersEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	hangs := mcp.Server{Name: "slow", Command: "sleep", Args: []string{"60"}}
	s := started(t, &Start{}, nil, hangs)
	ctx, cancel := context.WithCancel(t.Context())
	s.ready(ctx, func(text string) {
		if !strings.Contains(text, "server slow") {
			t.Errorf("it waits for %q", text)
		}
		cancel()
	}, func(text string) { t.Errorf("the turn that ended is told %q", text) })
}

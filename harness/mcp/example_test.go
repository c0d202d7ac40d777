package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/mcp"
	"cairn/harness/tool"
)

// A program of one's own gives its agent the tools of a server.
func Example() {
	ctx := context.Background()
	greeter := newGreeter()
	defer greeter.Close()

	servers, err := mcp.New(mcp.Options{Servers: []mcp.Server{
		{Name: "greeter", URL: greeter.URL},
		// A program on this machine would be {Name: "files", Command: "npx", Args: ...}.
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = servers.Close(ctx) }()
	tools := new(tool.Set)
	servers.Attach(tools)
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := servers.Ready(wait); err != nil {
		fmt.Println(err)
		return
	}
	a, err := agent.New(agent.Options{
		Model: calling{"greeter_greet", `{"name":"Ada"}`}, Tools: tools,
		Approve: func(_ context.Context, p harness.Pending) (harness.Decision, error) {
			fmt.Println("asked:", p.Proposal.Subject)
			return harness.Decision{How: harness.DecideApprove}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = a.Close() }()
	res, err := a.Run(ctx, "Greet Ada.")
	fmt.Println(res.Text, err)
	// Output:
	// asked: greet of the MCP server greeter
	// Hello, Ada! <nil>
}

// newGreeter is a server with one tool.
func newGreeter() *httptest.Server {
	type args struct {
		Name string `json:"name"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greet somebody."}, func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
	})
	return httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
}

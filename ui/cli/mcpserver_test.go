package cli

import (
	"context"
	"fmt"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// playsServer, in the environment, makes this program an MCP server: "echo", or one
// that ends with a word on its standard error.
const playsServer = "CAIRN_TEST_PLAYS"

func TestMain(m *testing.M) {
	switch os.Getenv(playsServer) {
	case "":
		os.Exit(m.Run())
	case "echo":
		if err := serveEcho(); err != nil {
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "it lacks its \x1b[31mdatabase")
		os.Exit(3)
	}
}

// serveEcho is a server with two tools and a prompt.
func serveEcho() error {
	s := sdk.NewServer(&sdk.Implementation{Name: "echo", Title: "Echo server", Version: "1.2"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	for _, name := range []string{"echo", "shout"} {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "Says \x1b[31mwhat it\nis told."}, func(_ context.Context, _ *sdk.CallToolRequest, i in) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: i.Text}}}, nil, nil
		})
	}
	s.AddPrompt(&sdk.Prompt{Name: "greet"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{}, nil
	})
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

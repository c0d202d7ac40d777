package main

import (
	"context"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp" //nolint:depguard // a server of the scenes
)

// wanted is what a ticket is made of.
type wanted struct {
	Title string `json:"title" jsonschema:"what it is called"`
	Text  string `json:"text,omitempty" jsonschema:"what is to be done"`
}

// tickets is an MCP server with tools, of which one asks the person, a prompt and a
// resource.
func tickets() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "tickets", Title: "Tickets of the invoices", Version: "2.1.0"}, &mcp.ServerOptions{
		Instructions: "Look for a ticket before you make one.",
	})
	mcp.AddTool(s, &mcp.Tool{Name: "create_ticket", Title: "Create a ticket", Description: "Makes a ticket in a project that the user chooses."},
		func(ctx context.Context, r *mcp.CallToolRequest, in wanted) (*mcp.CallToolResult, any, error) {
			_, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Where does the ticket belong?", RequestedSchema: &jsonschema.Schema{
				Type: "object", Required: []string{"project", "days"}, PropertyOrder: []string{"project", "days", "mail", "urgent"},
				Properties: map[string]*jsonschema.Schema{
					"project": {Type: "string", Title: "Project", Enum: []any{"importer", "ledger", "reports"}},
					"days":    {Type: "integer", Title: "Days", Description: "how long it may take"},
					"mail":    {Type: "string", Title: "Mail", Description: "who is told when it is done", Format: "email"},
					"urgent":  {Type: "boolean", Title: "Urgent"},
				},
			}})
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "4712: " + in.Title}}}, nil, nil
		})
	for _, t := range []mcp.Tool{
		{Name: "search_tickets", Title: "Search tickets", Description: "Finds tickets by words."},
		{Name: "close_ticket", Title: "Close a ticket", Description: "Closes a ticket, with a last comment."},
	} {
		mcp.AddTool(s, &t, func(context.Context, *mcp.CallToolRequest, wanted) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "none"}}}, nil, nil
		})
	}
	for _, p := range []mcp.Prompt{
		{Name: "summary", Description: "Sums up a ticket and what was said about it.", Arguments: []*mcp.PromptArgument{{Name: "ticket", Description: "its number", Required: true}, {Name: "style", Description: "how long it may be"}}},
		{Name: "standup", Description: "What was done since yesterday, by ticket."},
	} {
		s.AddPrompt(&p, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Sum it up."}}}}, nil
		})
	}
	s.AddResource(&mcp.Resource{URI: "ticket://4711", Name: "4711", Title: "Rows without a VAT id", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "ticket://4711", MIMEType: "text/plain", Text: "They are dropped."}}}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

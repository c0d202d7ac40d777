package temporal_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/mcp"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/temporal/temporaltest"
	"cairn/harness/tool"
)

// forgetful is an MCP server that, once it is told to, knows its client no more and
// takes a while to let it in again.
type forgetful struct {
	next http.Handler
	// forgot says that it has, and let counts who came in after that.
	forgot atomic.Bool
	let    atomic.Int64
	pause  time.Duration
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known := r.Header.Get("Mcp-Session-Id") != ""
	switch {
	case f.forgot.Load() && known && f.let.Load() == 0:
		http.Error(w, "session not found", http.StatusNotFound)
		return
	case f.forgot.Load() && !known && r.Method == http.MethodPost:
		time.Sleep(f.pause)
		f.let.Add(1)
	}
	f.next.ServeHTTP(w, r)
}

// A call whose MCP server has to be connected to first, which takes longer than a
// worker may be silent, is no death: the tool runs once.
func TestConnectingToAnMCPServerInACallLongerThanAWorkerMayBeSilentIsNoDeath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	var paid atomic.Int64
	s := sdk.NewServer(&sdk.Implementation{Name: "bank", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "pay", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		paid.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "paid"}}}, nil
	})
	bank := &forgetful{next: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil), pause: w.o.Lease + time.Second}
	h := httptest.NewServer(bank)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	servers, err := mcp.New(mcp.Options{Servers: []mcp.Server{{Name: "bank", URL: h.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = servers.Close(context.Background()) })
	set := new(tool.Set)
	servers.Attach(set)
	servers.Start(t.Context())
	if err := servers.Ready(t.Context()); err != nil || len(set.Names()) != 1 {
		t.Fatalf("it offers %q: %v", set.Names(), err)
	}
	bank.forgot.Store(true)
	b := w.open(agent.Steps{})
	w.work(agent.Steps{
		Model: script(says("", call("bank_pay", "{}")), says("done")), Info: model.Info{ID: "p/m"}, Tools: set,
		Policy: policy.Rules{Mode: policy.ModeAll},
	})
	id := submit(t, b, submission("go", false))
	untilStatus(t, b, id, harness.RunCompleted)
	entries := read(t, b, id)
	wantKinds(t, entries, "started answered judged began ended answered rested:completed")
	if got := entries[4].Message.Parts[0].Result.Text; paid.Load() != 1 || bank.let.Load() == 0 || !strings.Contains(got, "paid") {
		t.Errorf("it paid %d times, and connected again %d times: %s", paid.Load(), bank.let.Load(), got)
	}
}

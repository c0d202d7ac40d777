package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/mcp"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
)

// calling is a model that calls a tool when it is asked something, and says what came
// of it.
type calling struct{ tool, input string }

// Stream implements [model.Model].
func (c calling) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == harness.RoleTool {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: last.Parts[0].Result.Text}}, Stop: harness.StopEnd}, nil
	}
	call := harness.ToolCall{Name: c.tool, Input: json.RawMessage(c.input)}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
}

// approving agrees to what is asked and keeps it.
type approving struct {
	mu    sync.Mutex
	asked []harness.Pending
}

func (a *approving) approve(_ context.Context, p harness.Pending) (harness.Decision, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, p)
	return harness.Decision{How: harness.DecideApprove}, nil
}

func TestAConversationGoesOnWithTheServersThatAreThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := snapshot.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2hunter2hunter2"
	open := func() (*mcp.Manager, *tool.Set) {
		s := scripted(t, "s", "plain")
		s.Env["SERVER_TOKEN"] = secret
		return managed(t, mcp.Options{Servers: []mcp.Server{s}})
	}
	m, set := open()
	ready(t, m)
	var first approving
	a, err := agent.New(agent.Options{Model: calling{"s_do", said("one")}, Tools: set, Approve: first.approve})
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Run(t.Context(), "Do it.")
	if err != nil || res.Text != "you said one" {
		t.Fatalf("the run gave %+v, %v", res, err)
	}
	if len(first.asked) != 1 || !strings.Contains(first.asked[0].Proposal.Subject, "do of the MCP server s") {
		t.Errorf("asked was %+v", first.asked)
	}
	id, err := a.SaveSession(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	closed(t, m)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // a file of the test
		for _, trace := range []string{secret, script, "jsonrpc"} {
			if strings.Contains(string(data), trace) {
				t.Errorf("%s has %q", path, trace)
			}
		}
		if strings.Contains(strings.ReplaceAll(string(data), "at "+self, ""), self) {
			t.Errorf("%s says how the server is started outside what the person was shown", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	_, other := open()
	var second approving
	b, err := agent.LoadSession(t.Context(), string(id), store, agent.Options{Model: calling{"s_do", said("two")}, Tools: other, Approve: second.approve})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := b.Run(t.Context(), "And again."); err != nil || res.Text != "you said two" || len(second.asked) != 1 {
		t.Errorf("the run gave %+v, %v, asked %d times", res, err, len(second.asked))
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// grants are standing permissions in memory.
type grants struct{ all []harness.Grant }

func (g *grants) List(context.Context, harness.SessionID) ([]harness.Grant, error) { return g.all, nil }

func (g *grants) Save(_ context.Context, x harness.Grant) (harness.Grant, error) {
	g.all = append(g.all, x)
	return x, nil
}

func (g *grants) Revoke(context.Context, string) error { return nil }

func TestAGrantEndsWhenTheToolIsAnother(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	allowed, _ := set.Lookup("s_do")
	rules := policy.Rules{Interactive: true, Grants: &grants{all: []harness.Grant{{ID: "g1", Rule: "s_do", Tool: allowed.Fingerprint()}}}}
	judge := func(set *tool.Set) policy.Verdict {
		tl, ok := set.Lookup("s_do")
		if !ok {
			t.Fatal("the tool is gone")
		}
		return rules.Judge(t.Context(), tool.Call{Input: json.RawMessage(`{}`)}, tl, harness.ToolCall{Name: "s_do", Input: json.RawMessage(`{}`)})
	}
	if v := judge(set); v.Permission != tool.Allow {
		t.Fatalf("what was allowed gives %+v", v)
	}
	// It starts again as it was: the same tool.
	if _, again := played(t, "plain", nil); judge(again).Permission != tool.Allow {
		t.Errorf("after a restart it gives %+v", judge(again))
	}
	works(t, set, "s_do", said("change Another thing."), "changed")
	until(t, m, "changed", func(s harness.ServerStatus) bool { return len(s.Tools) == 1 && s.Tools[0].Changed })
	if v := judge(set); v.Permission != tool.Ask || !strings.Contains(v.Reason, "is not the one that was allowed") {
		t.Errorf("the changed tool gives %+v", v)
	}
	_, other := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { s.Args = []string{"another"} })
	if v := judge(other); v.Permission != tool.Ask || !strings.Contains(v.Reason, "or what is behind it has changed") {
		t.Errorf("another server's tool gives %+v", v)
	}
}

func TestTheProgressOfAServerIsAnEvent(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	var yes approving
	a, err := agent.New(agent.Options{Model: calling{"s_do", said("progress")}, Tools: set, Approve: yes.approve})
	if err != nil {
		t.Fatal(err)
	}
	var events []harness.Event
	if _, err := a.Stream(t.Context(), "Go.", func(e harness.Event) { events = append(events, e) }); err != nil {
		t.Fatal(err)
	}
	last := -1
	for i, e := range events {
		switch e.Type {
		case harness.EventProgress:
			last = i
			if e.Call == nil || e.Call.Name != "s_do" || e.Progress.Total != 5 {
				t.Errorf("the event is %+v", e)
			}
		case harness.EventToolResult:
			if last < 0 {
				t.Error("nothing was told before the result")
			}
		default:
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/tool"
)

// script, in the environment, makes this program a server; see script_test.go.
const script = "CAIRN_TEST_MCP"

func TestMain(m *testing.M) {
	if name := os.Getenv(script); name != "" {
		os.Exit(play(name))
	}
	os.Exit(m.Run())
}

// scripted is a server that this program plays.
func scripted(t *testing.T, name, play string) mcp.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Server{Name: name, Command: self, Env: map[string]string{script: play}}
}

// managed returns a manager of servers that is ready, with a set that has their tools.
func managed(t *testing.T, o mcp.Options) (*mcp.Manager, *tool.Set) {
	t.Helper()
	m, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		// One test holds it to its second; here many run at once, and it has to end.
		err := m.Close(ctx)
		for err != nil && ctx.Err() == nil {
			err = m.Close(ctx)
		}
		if err != nil {
			t.Error(err)
		}
	})
	set := &tool.Set{}
	m.Attach(set)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return m, set
}

// one is the first server of a manager.
func one(m *mcp.Manager) harness.ServerStatus { return m.List()[0] }

// ready fails unless the first server of a manager is ready.
func ready(t *testing.T, m *mcp.Manager) {
	t.Helper()
	if s := one(m); s.State != harness.ServerReady {
		t.Fatalf("the server is %s: %s; it said %q", s.State, s.Err, s.Said)
	}
}

// until waits until a server is as it is wanted.
func until(t *testing.T, m *mcp.Manager, what string, ok func(harness.ServerStatus) bool) harness.ServerStatus {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		changed := m.Changed()
		s := one(m)
		if ok(s) {
			return s
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("the server is not %s: it is %s (%s), with %d tools, refused %q", what, s.State, s.Err, len(s.Tools), s.Refused)
		}
	}
}

// call calls a tool as the agent does.
func call(ctx context.Context, set *tool.Set, name, input string, progress func(harness.Progress)) harness.ToolResult {
	return set.Run(ctx, harness.ToolCall{ID: "c1", Name: name, Input: json.RawMessage(input)}, tool.Call{Progress: progress})
}

// works fails unless a call gives a text.
func works(t *testing.T, set *tool.Set, name, input, want string) {
	t.Helper()
	if r := call(t.Context(), set, name, input, nil); r.Failed || !strings.Contains(r.Text, want) {
		t.Fatalf("%s gave failed=%v unknown=%v %.500q, want %q", name, r.Failed, r.Unknown, r.Text, want)
	}
}

// watch gathers how far a call is.
type watch struct {
	mu  sync.Mutex
	all []harness.Progress
}

func (w *watch) report(p harness.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, p)
}

func (w *watch) list() []harness.Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]harness.Progress(nil), w.all...)
}

package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/tool"
)

// patience bounds waiting for what hangs. It measures nothing: on a machine that does
// much else anything may take its time.
const patience = 5 * time.Minute

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
	m := unhurried(t, o)
	t.Cleanup(func() { closed(t, m) })
	set := &tool.Set{Grace: patience}
	m.Attach(set)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := m.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return m, set
}

// unhurried returns a manager of servers that have long to be ready, unless they say
// how long.
func unhurried(t *testing.T, o mcp.Options) *mcp.Manager {
	t.Helper()
	o.Servers = slices.Clone(o.Servers)
	for i := range o.Servers {
		o.Servers[i].Start = cmp.Or(o.Servers[i].Start, patience)
	}
	m, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// closed closes a manager until it says that nothing is left. Close gives up after a
// second, in which a busy machine may not get round to ending anything.
func closed(t *testing.T, m *mcp.Manager) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := m.Close(ctx)
	for err != nil && ctx.Err() == nil {
		err = m.Close(ctx)
	}
	if err != nil {
		t.Error(err)
	}
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
	limit := time.After(patience)
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

// failed waits until the first server has failed, and is not just tried again.
func failed(t *testing.T, m *mcp.Manager) harness.ServerStatus {
	t.Helper()
	return until(t, m, "failed", func(s harness.ServerStatus) bool { return s.State == harness.ServerFailed })
}

// eventually waits until something is so of which nobody tells.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s does not come", what)
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

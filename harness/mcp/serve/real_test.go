package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness/mcp/mcptest"
)

// patience bounds waiting for a program that hangs; it is not a measurement.
const patience = 5 * time.Minute

// binaryEnv names the built program for the tests.
const binaryEnv = "CAIRN_SERVETEST_BINARY"

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run())
	}
	os.Exit(built(m))
}

// built builds the program once for all tests.
func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cairn-servetest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	binary := filepath.Join(dir, "cairn")
	if out, err := exec.Command("go", "build", "-o", binary, "cairn").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv(binaryEnv, binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// program is the built program in a home of its own.
type program struct {
	t    *testing.T
	home string
}

func newProgram(t *testing.T) program {
	t.Helper()
	if testing.Short() {
		t.Skip("the program itself is not built and tried under -short")
	}
	return program{t, t.TempDir()}
}

func (p program) env() []string {
	return []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "OPENAI_API_KEY=sk-proj-0123456789abcdef0123"}
}

func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Getenv(binaryEnv), args...)
	c.Env, c.Dir = p.env(), p.home
	return c
}

// run runs a command to its end and returns its output.
func (p program) run(args ...string) string {
	p.t.Helper()
	out, err := p.command(p.t.Context(), args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("cairn %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// serve starts a server and connects a client to it. What the server writes to
// standard error is checked at the end to be nothing.
func (p program) serve(name string, args ...string) *mcp.ClientSession {
	p.t.Helper()
	// Its end is checked after the test's context has ended.
	c := p.command(context.Background(), append([]string{"mcp", "serve"}, args...)...)
	var said bytes.Buffer
	c.Stderr = &said
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(p.t.Context(), &mcp.CommandTransport{Command: c, TerminateDuration: patience}, nil)
	if err != nil {
		p.t.Fatalf("%v: %s", err, said.String())
	}
	p.t.Cleanup(func() {
		// It ends by itself when its input does: nothing else ends it before the
		// patience is over.
		if err := s.Close(); err != nil {
			p.t.Error(err)
		}
		if c.ProcessState == nil || c.ProcessState.ExitCode() != 0 {
			p.t.Errorf("it ended with %v", c.ProcessState)
		}
		if said.Len() > 0 {
			p.t.Errorf("it says %q", said.String())
		}
	})
	return s
}

func ask(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Error(err)
		return ""
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// Two agents are served at once while chats write: what is written is found at
// once, no write waits for a server, and what an agent suggests waits for the
// person.
func TestAgentsAreServedBesideAChat(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	reader, helper := p.serve("reader"), p.serve("helper", "--allow-writes")
	if got := ask(t, reader, "recall_memories", map[string]any{"query": "tea"}); !strings.HasPrefix(got, "Nothing") {
		t.Errorf("of an empty memory: %q", got)
	}
	const rounds = 5
	var wg sync.WaitGroup
	for _, s := range []*mcp.ClientSession{reader, helper} {
		wg.Go(func() {
			for range 4 * rounds {
				ask(t, s, "recall_memories", map[string]any{"query": "tea"})
				ask(t, s, "search_history", map[string]any{"query": "kettle"})
			}
		})
	}
	wg.Go(func() {
		for i := range rounds {
			ask(t, helper, "save_memory", map[string]any{"content": fmt.Sprint("Owns kettle number ", i+1)})
		}
	})
	for i := range rounds {
		p.run("-p", "-s", "talk", "-m", "offline", fmt.Sprintf("the kettle of round %d", i+1))
		p.run("facts", "add", fmt.Sprintf("Drinks tea number %d", i+1))
		if got := ask(t, reader, "recall_memories", map[string]any{"query": fmt.Sprintf("tea number %d", i+1)}); !strings.Contains(got, fmt.Sprintf("tea number %d", i+1)) {
			t.Errorf("round %d is not found: %q", i+1, got)
		}
	}
	wg.Wait()
	if got := ask(t, helper, "search_history", map[string]any{"query": "kettle round 3"}); !strings.Contains(got, "[session/talk #") {
		t.Errorf("the chat is not found: %q", got)
	}
	if out := p.run("--json", "memory", "inbox"); strings.Count(out, `"client":"helper"`) != rounds && strings.Count(out, `"client": "helper"`) != rounds {
		t.Errorf("the inbox has %s", out)
	}
	if out := p.run("facts", "list"); strings.Contains(out, "kettle") {
		t.Errorf("what was suggested is kept: %s", out)
	}
	p.run("facts", "add", "The token is in the vault")
	if got := ask(t, reader, "recall_memories", map[string]any{"query": "token"}); !strings.Contains(got, "vault") {
		t.Errorf("it recalls %q", got)
	}
}

// It ends at the first SIGTERM, and in an orderly way.
func TestASignalEndsTheServer(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	c := p.command(t.Context(), "mcp", "serve")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it answers, so it runs
		t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// The inspector lists and calls the tools from its command line.
func TestTheInspectorDrivesTheServer(t *testing.T) {
	t.Parallel()
	inspector := mcptest.Program(t, "mcp-inspector")
	p := newProgram(t)
	p.run("facts", "add", "Drinks tea")
	inspect := func(result any, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c := exec.CommandContext(ctx, inspector, append([]string{"--cli", os.Getenv(binaryEnv), "mcp", "serve", "--allow-writes", "--method"}, args...)...)
		c.Env, c.Dir = p.env(), p.home
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s%s", args, err, out, said.String())
		}
		if err := json.Unmarshal(out, result); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	var list struct {
		Tools []struct{ Name string }
	}
	inspect(&list, "tools/list")
	var names []string
	for _, tl := range list.Tools {
		names = append(names, tl.Name)
	}
	if want := []string{"forget_memory", "recall_memories", "save_memory", "search_history", "update_memory"}; !slices.Equal(names, want) {
		t.Errorf("it lists %v, want %v", names, want)
	}
	var answer struct {
		Content []struct{ Text string }
		IsError bool
	}
	inspect(&answer, "tools/call", "--tool-name", "recall_memories", "--tool-arg", "query=tea")
	if len(answer.Content) != 1 || !strings.Contains(answer.Content[0].Text, "[fact/f1] (general) Drinks tea") {
		t.Errorf("it recalls %+v", answer)
	}
	inspect(&answer, "tools/call", "--tool-name", "save_memory", "--tool-arg", "content=Has a cat")
	if answer.IsError || !strings.Contains(p.run("memory", "inbox", "show", "i1"), "inspector") {
		t.Errorf("it suggests %+v", answer)
	}
	var resources struct{ Resources []struct{ URI string } }
	inspect(&resources, "resources/list")
	if len(resources.Resources) != 1 || resources.Resources[0].URI != "cairn://facts/f1" {
		t.Errorf("the resources are %+v", resources)
	}
}

package mcp_test

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/mcp/mcptest"
	"cairn/harness/tool"
)

// reference is the reference server over one of the transports.
type reference struct {
	server mcp.Server
	// kill kills it, and again starts it again.
	kill, again func()
}

// references are the ways to reach the reference server.
var references = map[string]func(t *testing.T) reference{
	"stdio": func(t *testing.T) reference {
		t.Helper()
		path, pid := mcptest.Program(t, "mcp-server-everything"), filepath.Join(t.TempDir(), "pid")
		return reference{
			server: mcp.Server{Name: "every", Command: "/bin/sh", Args: []string{"-c", `echo $$ >"$1"; exec "$2" stdio`, "sh", pid, path}},
			kill:   func() { kill(t, number(t, pid)) },
			again:  func() {},
		}
	},
	"http": func(t *testing.T) reference {
		t.Helper()
		path := mcptest.Program(t, "mcp-server-everything")
		port := mcptest.Port(t)
		r := reference{server: mcp.Server{Name: "every", URL: "http://127.0.0.1:" + port + "/mcp"}}
		var cmd *exec.Cmd
		r.kill = func() {
			if cmd != nil {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				cmd = nil
			}
		}
		r.again = func() {
			cmd = exec.Command(path, "streamableHttp") //nolint:gosec // a program of the test
			cmd.Env = append(cmd.Environ(), "PORT="+port)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the reference server", func() bool {
				conn, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err == nil {
					_ = conn.Close()
				}
				return err == nil
			})
		}
		t.Cleanup(r.kill)
		r.again()
		return r
	},
}

func overBoth(t *testing.T, test func(t *testing.T, r reference)) {
	t.Helper()
	for name, open := range references {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// long begins a call that takes a minute; begun is told when it has.
func long(ctx context.Context, set *tool.Set) (done <-chan harness.ToolResult, begun <-chan harness.Progress) {
	results, first := make(chan harness.ToolResult, 1), make(chan harness.Progress, 1)
	go func() {
		results <- call(ctx, set, "every_trigger-long-running-operation", `{"duration":60,"steps":120}`, func(p harness.Progress) {
			select {
			case first <- p:
			default:
			}
		})
	}()
	return results, first
}

func TestTheReferenceServerIsListedAndCalled(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r reference) {
		m, set := managed(t, mcp.Options{Servers: []mcp.Server{r.server}})
		ready(t, m)
		s := one(m)
		names := set.Names()
		if !slices.Contains(names, "every_echo") || !slices.IsSorted(names) || len(names) != len(s.Tools) || len(s.Refused) != 0 {
			t.Errorf("the tools are %q, refused %q", names, s.Refused)
		}
		if s.Title == "" || s.Version == "" || s.Protocol == "" || s.Instructions == "" || len(s.Prompts) == 0 || len(s.Resources) == 0 {
			t.Errorf("the server is %+v", s)
		}
		works(t, set, "every_echo", `{"message":"작성 완료 🙂 台 é"}`, "Echo: 작성 완료 🙂 台 é")
		works(t, set, "every_get-sum", `{"a":2,"b":3}`, "5")
		works(t, set, "every_get-tiny-image", `{}`, "image 1: image/png, 20 × 20 pixels")
		works(t, set, "every_get-structured-content", `{"location":"New York"}`, "temperature")
		works(t, set, "every_get-resource-links", `{"count":2}`, "(resource demo://")
		works(t, set, "every_trigger-long-running-operation", `{"duration":1,"steps":4}`, "completed")
	})
}

func TestACallOfTheReferenceServerIsCancelled(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r reference) {
		m, set := managed(t, mcp.Options{Servers: []mcp.Server{r.server}})
		ready(t, m)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done, begun := long(ctx, set)
		if p := <-begun; p.Total != 120 || p.Done < 1 {
			t.Errorf("it reports %+v", p)
		}
		cancel()
		if result := <-done; !result.Failed || !result.Unknown {
			t.Errorf("the call gave %+v", result)
		}
		works(t, set, "every_echo", `{"message":"still here"}`, "still here")
	})
}

func TestTheReferenceServerAsksThePerson(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r reference) {
		m, set := managed(t, mcp.Options{Servers: []mcp.Server{r.server}, Interactive: true})
		ready(t, m)
		until(t, m, "offering to ask", func(s harness.ServerStatus) bool {
			return slices.Contains(set.Names(), "every_trigger-elicitation-request")
		})
		done := make(chan harness.ToolResult, 1)
		go func() { done <- call(t.Context(), set, "every_trigger-elicitation-request", `{}`, nil) }()
		q := <-m.Questions()
		if q.Server != "every" || q.Text == "" || len(q.Fields) < 5 || q.Fields[0].Name != "name" || !q.Fields[0].Required {
			t.Errorf("asked was %+v", q)
		}
		if r.server.Command != "" && q.Fields[1].Name != "check" {
			t.Errorf("asked for %s second, which is not the order of the server", q.Fields[1].Name)
		}
		values := map[string]any{}
		for _, f := range q.Fields {
			switch {
			case f.Name == "name":
				values[f.Name] = "Ada 🙂"
			case f.Kind == harness.FieldInteger:
				values[f.Name] = 42.0
			case f.Kind == harness.FieldYesNo:
				values[f.Name] = true
			}
		}
		q.Answer(harness.ServerAnswer{Action: harness.AnswerAccept, Values: values})
		q.Answer(harness.ServerAnswer{Action: harness.AnswerDecline})
		if r := <-done; r.Failed || !strings.Contains(r.Text, "Ada 🙂") {
			t.Errorf("the call gave %+v", r)
		}
		go func() { done <- call(t.Context(), set, "every_trigger-elicitation-request", `{}`, nil) }()
		(<-m.Questions()).Answer(harness.ServerAnswer{Action: harness.AnswerDecline})
		if r := <-done; r.Failed || !strings.Contains(r.Text, "declined") {
			t.Errorf("the call gave %+v", r)
		}
	})
}

func TestTheReferenceServerOffersWhatAsksToWhoeverCallsForSomebodyAbsent(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r reference) {
		m, set := managed(t, mcp.Options{Servers: []mcp.Server{r.server}, Absent: true})
		ready(t, m)
		until(t, m, "offering to ask", func(harness.ServerStatus) bool {
			return slices.Contains(set.Names(), "every_trigger-elicitation-request")
		})
		if r := call(t.Context(), set, "every_trigger-elicitation-request", `{}`, nil); r.Failed || !strings.Contains(r.Text, "cancelled") {
			t.Errorf("the call gave %+v", r)
		}
		if n := len(m.Questions()); n != 0 {
			t.Errorf("%d questions wait for an answer", n)
		}
	})
}

func TestPromptsAndResourcesOfTheReferenceServer(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r reference) {
		m, _ := managed(t, mcp.Options{Servers: []mcp.Server{r.server}})
		ready(t, m)
		s := one(m)
		var names []string
		for _, p := range s.Prompts {
			names = append(names, p.Name)
		}
		messages, err := m.Prompt(t.Context(), "every", "args-prompt", map[string]string{"city": "Kraków"})
		if err != nil || len(messages) == 0 || !strings.Contains(messages[0].Text(), "Kraków") {
			t.Errorf("of the prompts %q the one with a city gave %+v, %v", names, messages, err)
		}
		plain := slices.IndexFunc(s.Resources, func(r harness.ServerResource) bool { return !r.Template })
		if plain < 0 || !slices.ContainsFunc(s.Resources, func(r harness.ServerResource) bool { return r.Template }) {
			t.Fatalf("the resources are %+v", s.Resources)
		}
		content, err := m.Read(t.Context(), "every", s.Resources[plain].URI)
		if err != nil || len(content) == 0 || content[0].Text == "" {
			t.Errorf("the resource is %+v, %v", content, err)
		}
		proposed, err := m.Complete(t.Context(), "every", "completable-prompt", "department", "E")
		if err != nil || !slices.Contains(proposed, "Engineering") {
			t.Errorf("proposed are %q, %v", proposed, err)
		}
	})
}

func TestTheReferenceServerIsKilledInMidCallAndRestarted(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r reference) {
		m, set := managed(t, mcp.Options{Servers: []mcp.Server{r.server}})
		ready(t, m)
		names := set.Names()
		done, begun := long(t.Context(), set)
		<-begun
		r.kill()
		if result := <-done; !result.Failed || !result.Unknown || !strings.Contains(result.Text, "outcome unknown") {
			t.Errorf("the call gave %+v", result)
		}
		if got := set.Names(); !slices.Equal(got, names) {
			t.Errorf("the tools are %q", got)
		}
		if got := call(t.Context(), set, "every_echo", `{"message":"x"}`, nil); r.server.URL != "" && (!got.Failed || got.Unknown || !strings.Contains(got.Text, "not run")) {
			t.Errorf("while it is away a call gave %+v", got)
		}
		r.again()
		tried(t, m)
		works(t, set, "every_echo", `{"message":"again"}`, "Echo: again")
		if r.server.URL == "" {
			return
		}
		// Killed and restarted between two calls.
		r.kill()
		failed(t, m)
		r.again()
		tried(t, m)
		works(t, set, "every_echo", `{"message":"once more"}`, "Echo: once more")
	})
}

// tried waits for the end of an attempt to connect that may have begun when the server
// was not there yet. A call would wait for it, too, and not be run if it fails.
func tried(t *testing.T, m *mcp.Manager) {
	t.Helper()
	until(t, m, "tried", func(s harness.ServerStatus) bool { return s.State != harness.ServerConnecting })
}

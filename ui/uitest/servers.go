package uitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/tool" //nolint:depguard // a world is what stands behind the screens
)

// Servers are MCP servers of which a test says what they are.
type Servers struct {
	mu        sync.Mutex
	list      []harness.ServerStatus
	changed   chan struct{}
	questions chan harness.ServerQuestion
	calls     []string
	answers   []harness.ServerAnswer
}

// Servers returns two servers: "everything", which is ready and has one of each
// thing, and "broken", which has failed. What they say ends in text.
func (w *World) Servers(text string) *Servers { return NewServers(text) }

// NewServers is [World.Servers] without a world.
func NewServers(text string) *Servers {
	at := time.Now() //nolint:forbidigo // the clock of the test
	return &Servers{
		changed: make(chan struct{}), questions: make(chan harness.ServerQuestion),
		list: []harness.ServerStatus{
			{
				Name: "broken", State: harness.ServerFailed, Transport: "http", Target: "https://example.com/mcp", Since: at, Retry: at.Add(time.Minute),
				Err: "it refuses the connection" + text, Said: []string{"first line" + text, "last line"}, Tools: []harness.ServerTool{}, Prompts: []harness.ServerPrompt{}, Resources: []harness.ServerResource{},
			},
			{
				Name: "everything", State: harness.ServerReady, Transport: "stdio", Target: "everything-server stdio", Title: "Everything" + text, Version: "1.2.3",
				Protocol: "2025-11-25", Instructions: "Use me well" + text, Since: at,
				Tools: []harness.ServerTool{
					{Name: "everything_echo", Remote: "echo", Title: "Echo" + text, Help: "Says it again" + text},
					{Name: "everything_sum", Remote: "sum", Help: "Adds two numbers" + text, Changed: true},
				},
				Refused: []string{"The tool odd is not offered: its schema is no object" + text},
				Prompts: []harness.ServerPrompt{
					{Name: "simple", Help: "A prompt that takes nothing" + text},
					{Name: "weather", Title: "The weather", Help: "Asks about the weather" + text, Arguments: []harness.PromptArgument{
						{Name: "city", Help: "Which city" + text, Required: true}, {Name: "state", Help: "Which state" + text},
					}},
				},
				Resources: []harness.ServerResource{
					{URI: "demo://notes/1.md", Name: "notes" + text, MediaType: "text/markdown", Size: 12},
					{URI: "demo://text/{id}", Template: true, Name: "numbered" + text},
				},
			},
		},
	}
}

// Set changes the servers.
func (s *Servers) Set(change func(list []harness.ServerStatus)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.Clone(s.list)
	change(s.list)
	close(s.changed)
	s.changed = make(chan struct{})
}

// Ask has a server ask something, once it is heard. What is answered is in
// [Servers.Answers].
func (s *Servers) Ask(q harness.ServerQuestion) {
	q.Answer = func(a harness.ServerAnswer) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers = append(s.answers, a)
	}
	s.questions <- q
}

// Answers are what was answered so far.
func (s *Servers) Answers() []harness.ServerAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// Did are the calls so far, such as "read everything demo://notes/1.md".
func (s *Servers) Did() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Servers) did(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

// List implements [harness.Servers].
func (s *Servers) List() []harness.ServerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// Changed implements [harness.Servers].
func (s *Servers) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Prompt implements [harness.Servers]: the text names what was given.
func (s *Servers) Prompt(_ context.Context, server, prompt string, arguments map[string]string) ([]harness.Message, error) {
	s.did("prompt %s %s %v", server, prompt, arguments)
	return []harness.Message{harness.UserText(fmt.Sprintf("Tell of %s %v", prompt, arguments))}, nil
}

// Read implements [harness.Servers].
func (s *Servers) Read(_ context.Context, server, uri string) ([]harness.ServerContent, error) {
	s.did("read %s %s", server, uri)
	if strings.Contains(uri, "none") {
		return nil, fmt.Errorf("resource %s: %w", uri, harness.ErrNotFound)
	}
	return []harness.ServerContent{{URI: uri, MediaType: "text/plain", Text: "the content of " + uri}}, nil
}

// Complete implements [harness.Servers].
func (s *Servers) Complete(_ context.Context, server, of, argument, typed string) ([]string, error) {
	s.did("complete %s %s %s %s", server, of, argument, typed)
	var values []string
	for _, v := range []string{"Paris", "Porto", "1", "12"} {
		if strings.HasPrefix(v, typed) {
			values = append(values, v)
		}
	}
	return values, nil
}

// Reconnect implements [harness.Servers].
func (s *Servers) Reconnect(_ context.Context, server string) error {
	s.did("reconnect %s", server)
	if server == "broken" {
		return errors.New("it refuses the connection still")
	}
	return nil
}

// Switch implements [harness.Servers].
func (s *Servers) Switch(_ context.Context, server string, on bool) error {
	s.did("switch %s %v", server, on)
	s.Set(func(list []harness.ServerStatus) {
		for i := range list {
			if list[i].Name == server {
				list[i].State = map[bool]harness.ServerState{true: harness.ServerReady, false: harness.ServerOff}[on]
			}
		}
	})
	return nil
}

// Questions implements [harness.Servers].
func (s *Servers) Questions() <-chan harness.ServerQuestion { return s.questions }

// Steps gives the model a tool that says how far it is: one of steps every second.
func (w *World) Steps(name string, steps ...harness.Progress) {
	w.tb.Helper()
	t, err := tool.New(name, "a tool that takes its time", func(ctx context.Context, c tool.Call, _ map[string]any) (string, error) {
		for _, s := range steps {
			c.Report(s)
			if err := wait(ctx, time.Second); err != nil {
				return "", err
			}
		}
		return "it took its time", nil
	}, tool.WithPermission(tool.Allow))
	if err == nil {
		err = w.Tools.Add(t)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

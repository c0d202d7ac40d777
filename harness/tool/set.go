package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"cairn/harness"
	"cairn/harness/model"
)

// Errors of [Set.Add].
var (
	// ErrDuplicate means that a tool of that name is in the set.
	ErrDuplicate = errors.New("a tool of this name exists already")
	// ErrInvalid means that the tool cannot be offered to a model as it is.
	ErrInvalid = errors.New("not a usable tool")
)

// maxNameLength bounds the names of tools, in bytes; providers refuse longer ones.
const maxNameLength = 64

// Set holds tools in the order in which they were added. The zero value is an
// empty set. Its fields are set before the first use; its methods are safe for
// concurrent use.
type Set struct {
	// Artifacts keeps results that are too long for a conversation; nil means
	// that what the preview leaves out is lost, and the result says so.
	Artifacts Artifacts
	// Log gets what a model need not see, such as the stack of a panic; nil
	// means nothing is logged.
	Log *slog.Logger
	// Grace is how long a call that was cancelled or timed out may take to
	// return before it is left behind; 0 means [DefaultGrace].
	Grace time.Duration
	// Redact, if set, is applied to every result, before it is shown, kept or
	// cut, and to the reasons that a tool gives against a call; see [Redactor].
	// What a person is shown of a call is not changed, but for the file that a
	// diff quotes.
	Redact func(text string) string

	mu    sync.RWMutex
	tools []entry
	index map[string]int
}

// entry is a tool and its schema, ready to check arguments.
type entry struct {
	tool   Tool
	schema *jsonschema.Resolved
	// group is that with which it is replaced, empty for none; see [Set.Group].
	group string
}

// Add puts a tool at the end of the set; [ErrDuplicate] if it has one of this
// name. Without a permission it asks, without
// a replay policy it is manual, without a schema it takes no arguments. The
// name must begin with a letter or "_" and hold only [A-Za-z0-9_-].
func (s *Set) Add(t Tool) error {
	e, err := prepare(t)
	if err != nil {
		return fmt.Errorf("add tool %q: %w", t.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.index[t.Name]; ok {
		return fmt.Errorf("add tool %q: %w", t.Name, ErrDuplicate)
	}
	s.add(e)
	return nil
}

// Replace puts a tool into the place of the one of its name, or at the end if
// there is none. What is offered to the model changes with it, and consent that
// was given to the old one does not count for the new one.
func (s *Set) Replace(t Tool) error {
	e, err := prepare(t)
	if err != nil {
		return fmt.Errorf("replace tool %q: %w", t.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.index[t.Name]
	if !ok {
		s.add(e)
		return nil
	}
	s.tools[at] = e
	return nil
}

// add puts a tool at the end. The caller holds the lock.
func (s *Set) add(e entry) {
	if s.index == nil {
		s.index = map[string]int{}
	}
	s.index[e.tool.Name] = len(s.tools)
	s.tools = append(s.tools, e)
}

// Remove takes a tool out of the set and reports whether it was there.
func (s *Set) Remove(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.index[name]
	if !ok {
		return false
	}
	// A new slice: Specs and Names may be reading the old one.
	s.put(append(append([]entry(nil), s.tools[:at]...), s.tools[at+1:]...))
	return true
}

// prepare checks a tool and fills in what it leaves open.
func prepare(t Tool) (entry, error) {
	switch {
	case !validName(t.Name):
		return entry{}, fmt.Errorf("%w: a name has 1 to %d characters of [A-Za-z0-9_-] and begins with a letter or _", ErrInvalid, maxNameLength)
	case t.Run == nil:
		return entry{}, fmt.Errorf("%w: it has no function", ErrInvalid)
	case t.Timeout < 0:
		return entry{}, fmt.Errorf("%w: its timeout is negative", ErrInvalid)
	case t.Retry.Attempts < 0 || t.Retry.Wait < 0:
		return entry{}, fmt.Errorf("%w: its retry is negative", ErrInvalid)
	case t.Question && t.Propose == nil:
		return entry{}, fmt.Errorf("%w: it asks and does not say what", ErrInvalid)
	}
	switch t.Permission {
	case "":
		t.Permission = Ask
	case Allow, Ask, Deny:
	default:
		return entry{}, fmt.Errorf("%w: unknown permission %q", ErrInvalid, t.Permission)
	}
	switch t.Replay {
	case "":
		t.Replay = Manual
	case Manual, Safe, Idempotent:
	default:
		return entry{}, fmt.Errorf("%w: unknown replay policy %q", ErrInvalid, t.Replay)
	}
	if len(t.Schema) == 0 {
		t.Schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	t.Schema = bytes.Clone(t.Schema)
	resolved, err := resolve(t.Schema)
	if err != nil {
		return entry{}, err
	}
	return entry{tool: t, schema: resolved}, nil
}

// Specs returns the tools as models see them, in order.
func (s *Set) Specs() []model.ToolSpec {
	s.mu.RLock()
	defer s.mu.RUnlock()
	specs := make([]model.ToolSpec, 0, len(s.tools))
	for _, e := range s.tools {
		specs = append(specs, e.tool.Spec())
	}
	return specs
}

// Names returns the tools' names, in order.
func (s *Set) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, 0, len(s.tools))
	for _, e := range s.tools {
		names = append(names, e.tool.Name)
	}
	return names
}

// Lookup finds a tool by its name or by a spelling of it that differs only in
// form (case, "-", "_", ".", spaces, a "functions." prefix) and fits no other
// tool. A misspelt name finds nothing.
func (s *Set) Lookup(name string) (Tool, bool) {
	e, ok := s.find(name)
	return s.discreet(e.tool), ok
}

func (s *Set) find(name string) (entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i, ok := s.index[name]; ok {
		return s.tools[i], true
	}
	found := s.spelt(name)
	if len(found) != 1 {
		return entry{}, false
	}
	return found[0], true
}

// spelt returns the tools whose names differ from a name in form only. The
// caller holds the lock.
func (s *Set) spelt(name string) []entry {
	want := plain(name)
	if want == "" {
		return nil
	}
	var found []entry
	for _, e := range s.tools {
		if plain(e.tool.Name) == want {
			found = append(found, e)
		}
	}
	return found
}

// Prepare finds the tool of a call and checks the call's arguments, before
// anybody is asked about it. It returns the input as the tool will get it, or
// the result to give the model instead of running anything.
func (s *Set) Prepare(c harness.ToolCall) (t Tool, input json.RawMessage, refusal *harness.ToolResult) {
	e, ok := s.find(c.Name)
	if !ok {
		return Tool{}, nil, failed(c, s.unknown(c.Name))
	}
	if c.Malformed != "" {
		return s.discreet(e.tool), nil, failed(c, malformed(c.Malformed))
	}
	input, err := arguments(c.Input, e.schema)
	if err != nil {
		return s.discreet(e.tool), nil, failed(c, err.Error())
	}
	return s.discreet(e.tool), input, nil
}

// unknown tells the model that there is no such tool, or several, and what
// there is.
func (s *Set) unknown(name string) string {
	names := s.Names()
	s.mu.RLock()
	var same []string
	for _, e := range s.spelt(name) {
		same = append(same, e.tool.Name)
	}
	s.mu.RUnlock()
	shown := Clip(strings.ToValidUTF8(name, replacement), maxNameLength)
	if len(same) > 1 {
		return fmt.Sprintf("%q may be any of several tools: %s. Call one by its exact name.", shown, strings.Join(same, ", "))
	}
	text := fmt.Sprintf("There is no tool %q.", shown)
	if near := similar(name, names); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	if len(names) == 0 {
		return text + " There are no tools."
	}
	return text + " The tools are: " + strings.Join(names, ", ") + "."
}

// failed is a result that the model should read as an error.
func failed(c harness.ToolCall, text string) *harness.ToolResult {
	return &harness.ToolResult{CallID: c.ID, Name: c.Name, Text: oneLine(text), Failed: true}
}

// Run executes a call and returns its result, whatever happens. It does not ask
// for permission: that is decided before. The input of c is set from the call.
func (s *Set) Run(ctx context.Context, call harness.ToolCall, c Call) harness.ToolResult {
	t, input, refusal := s.Prepare(call)
	if refusal != nil {
		return s.bound(ctx, c, *refusal, false)
	}
	c.Input = input
	return s.Execute(ctx, t, call, c)
}

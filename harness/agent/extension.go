package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/agent/hook"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
)

// Extension is a part of an agent that has state of its own in each
// conversation. Its state is saved and loaded with the conversation, under its
// name. The agent calls it from one goroutine at a time, but also while tools
// run: what they change needs a lock.
//
// An Extension may be more: an [Installer] and a [Teardowner], a [TurnStarter],
// [TurnEnder] or [TurnCompleter], and middleware, a [BeforeModel], [AfterModel],
// [BeforeTool] or [AfterTool]. Those are called in the order of
// [Options.Extensions], for one run from one goroutine at a time. [Steps] carry
// extensions into durable runs, where their state is not kept: a run that is
// taken up elsewhere finds them as they are there, and callbacks come again for
// what was done since the last record. Whoever keeps the conversation as a
// snapshot keeps their state with it. Extensions of a runtime are called at the
// same time by runs that go on at the same time.
type Extension interface {
	// Name is what the state is saved under; it is never blank and never changes.
	Name() string
	// Save returns the state as JSON; nothing at all if there is none, which
	// needs no extension at the next load. It is called at every save: of a
	// conversation in [Snapshots] after every step of a turn.
	Save() (json.RawMessage, error)
	// Load takes back what Save returned. It is called once, before the first
	// run, if anything was saved.
	Load(state json.RawMessage) error
}

// Installer is an [Extension] that gets ready before the first run and adds to
// its agent.
type Installer interface {
	// Install is called once, when the agent is made and before Load. What it adds
	// to h is there only if all extensions could be installed: an error is that of
	// [New], [Open] or [LoadSession]. ctx is theirs, and ends with nothing for New.
	Install(ctx context.Context, h *Host) error
}

// Teardowner is an [Extension] that has to be taken down.
type Teardowner interface {
	// Teardown is called once by [Agent.Close], after the last run and in the
	// reverse order of the extensions, for each that was installed or is no
	// [Installer]. Close returns all errors.
	Teardown(ctx context.Context) error
}

// TurnStarter is an [Extension] that is told of each turn before its first
// request.
type TurnStarter interface {
	// OnTurnStart is called once the user's message is stored, and again for each
	// stretch of a turn that is resumed. An error fails the turn.
	OnTurnStart(ctx context.Context, e hook.AgentStart) error
}

// TurnEnder is an [Extension] that has the last word in a turn.
type TurnEnder interface {
	// OnTurnEnd is called before the end of a completed turn is stored; of the
	// result the usage is not known yet. An error fails the turn, which may be
	// resumed, so that OnTurnEnd comes again.
	OnTurnEnd(ctx context.Context, e hook.AgentEnd) error
}

// TurnCompleter is an [Extension] that acts on a turn that is over.
type TurnCompleter interface {
	// OnTurnComplete is called once it is stored that the turn completed, failed or
	// was cancelled. It is called at most once for each end and not at all if the
	// program dies meanwhile; a failed turn that is resumed ends again. Nothing
	// depends on it: a panic is logged.
	OnTurnComplete(ctx context.Context, e hook.AgentEnd)
}

// Host is what an [Installer] may add to its agent. It is of no use after Install.
type Host struct {
	session harness.SessionID
	tools   []tool.Tool
	hooks   []hook.Func
	system  []string
}

// Session is the conversation.
func (h *Host) Session() harness.SessionID { return h.session }

// AddTool adds a tool to the agent's set, until the agent is closed. A set that has
// one of this name already is an error of the installation.
func (h *Host) AddTool(t tool.Tool) { h.tools = append(h.tools, t) }

// AddHook has f observe the agent's runs.
func (h *Host) AddHook(f hook.Func) { h.hooks = append(h.hooks, f) }

// AddSystem adds a paragraph to the end of the system prompt. It is not saved with
// the conversation. A text that changes from run to run spoils the prompt cache.
func (h *Host) AddSystem(text string) {
	if text = strings.TrimSpace(text); text != "" {
		h.system = append(h.system, text)
	}
}

// extensionError is a failure of an extension, as a sentence that names it.
type extensionError struct {
	name  string
	doing string
	err   error
}

// KindExtension is the kind of a [harness.RunError] that an extension caused.
const KindExtension = "extension"

// Error implements error.
func (e *extensionError) Error() string {
	return fmt.Sprintf("the extension %q %s: %v", e.name, e.doing, e.err)
}

// Unwrap returns what the extension said.
func (e *extensionError) Unwrap() error { return e.err }

// extensionFailure is err as data if it is an extension's.
func extensionFailure(err error) (*harness.RunError, bool) {
	var e *extensionError
	if !errors.As(err, &e) {
		return nil, false
	}
	return &harness.RunError{Kind: KindExtension, Text: e.Error()}, true
}

// guard calls an extension. A panic of it is its error.
func guard(e Extension, doing string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &extensionError{e.Name(), doing, fmt.Errorf("it panicked: %v", p)}
		}
	}()
	if err := f(); err != nil {
		return &extensionError{e.Name(), doing, err}
	}
	return nil
}

// checkExtensions refuses names under which nothing could be found again.
func checkExtensions(all []Extension) error {
	seen := map[string]bool{}
	for i, e := range all {
		if e == nil {
			return fmt.Errorf("extension %d is nil", i+1)
		}
		switch name := e.Name(); {
		case strings.TrimSpace(name) == "":
			return fmt.Errorf("extension %d has no name; its state is saved under one", i+1)
		case seen[name]:
			return fmt.Errorf("two extensions have the name %q; their states are saved by name", name)
		default:
			seen[name] = true
		}
	}
	return nil
}

// installed is what extensions added to an agent.
type installed struct {
	// up are those that a Close takes down, in the order in which they came up.
	up     []Extension
	tools  []string
	system []string
}

// install gets the extensions ready. If one fails, those before it are taken down
// again and nothing of them stays.
func (a *Agent) install(ctx context.Context) error {
	h := &Host{session: a.id}
	for _, e := range a.o.Extensions {
		if i, ok := e.(Installer); ok {
			if err := guard(e, "could not be installed", func() error { return i.Install(ctx, h) }); err != nil {
				return errors.Join(err, a.uninstall(ctx))
			}
		}
		a.ext.up = append(a.ext.up, e)
	}
	for _, t := range h.tools {
		if err := a.o.Tools.Add(t); err != nil {
			return errors.Join(fmt.Errorf("install extensions: %w", err), a.uninstall(ctx))
		}
		a.ext.tools = append(a.ext.tools, t.Name)
	}
	a.ext.system = h.system
	a.o.Hooks = append(a.o.Hooks[:len(a.o.Hooks):len(a.o.Hooks)], h.hooks...)
	a.hooks = hook.NewQueue(a.o.Hooks, a.o.Log)
	return nil
}

// uninstall takes the extensions down and removes their tools. It returns all
// errors.
func (a *Agent) uninstall(ctx context.Context) error {
	var errs []error
	for i := len(a.ext.up) - 1; i >= 0; i-- {
		if t, ok := a.ext.up[i].(Teardowner); ok {
			errs = append(errs, guard(a.ext.up[i], "could not be taken down", func() error { return t.Teardown(ctx) }))
		}
	}
	for _, name := range a.ext.tools {
		a.o.Tools.Remove(name)
	}
	a.ext = installed{}
	return errors.Join(errs...)
}

// saveExtensions returns the state of each extension that has one.
func saveExtensions(all []Extension) (map[string]json.RawMessage, error) {
	var states map[string]json.RawMessage
	for _, e := range all {
		state, err := e.Save()
		if err != nil {
			return nil, fmt.Errorf("state of extension %q: %w", e.Name(), err)
		}
		if len(state) == 0 {
			continue
		}
		if states == nil {
			states = map[string]json.RawMessage{}
		}
		states[e.Name()] = state
	}
	return states, nil
}

// loadExtensions gives each extension what was saved for it.
func loadExtensions(all []Extension, d snapshot.Document) error {
	var errs []error
	for _, e := range all {
		state, ok := d.Extensions[e.Name()]
		if !ok {
			continue
		}
		if err := e.Load(state); err != nil {
			errs = append(errs, fmt.Errorf("state of extension %q: %w", e.Name(), err))
		}
	}
	return errors.Join(errs...)
}

package parts

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/memory/near"
	"cairn/harness/model/choose"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
	"cairn/harness/tool/standard"
	"cairn/ui/cli"
)

// Tools are those that the model is offered. What the keys are is told in no
// result.
func Tools(s cli.Store, setup cli.Setup) (*tool.Set, error) {
	c := setup.Config.Tools
	var history recall.History
	if s.Facts != nil || s.Notes != nil { // without memory nothing is looked up elsewhere
		history = recall.History{Search: s.Search, Sessions: s.Sessions, Transcript: s.Transcript}
	}
	var inbox harness.Inbox
	if !setup.Interactive {
		inbox = s.Inbox
	}
	return standard.New(standard.Options{
		Redactor: setup.Redactor(),
		Facts:    s.Facts, Notes: s.Notes, Inbox: inbox, History: history, Artifacts: s.Artifacts, Roots: c.Roots, Env: c.Env, CommandTimeout: c.CommandTimeout,
		PrivateAddresses: c.PrivateAddresses, Off: c.Off, Log: setup.Log,
		// A tool that does not heed its end is left behind soon: a session that
		// another window asks for is let go within 2 s.
		Grace: 300 * time.Millisecond,
	})
}

// rules judge what tools may do.
func rules(s cli.Store, setup cli.Setup) *policy.Rules {
	p := setup.Config.Permissions
	r := &policy.Rules{Allow: p.Allow, Ask: p.Ask, Deny: p.Deny, Mode: p.Mode, Interactive: setup.Interactive, Home: setup.Getenv("HOME")}
	known := setup.Redactor()
	r.Secret, r.Marked = known.Find, known.Marked
	if s.Grants != nil {
		r.Grants = s.Grants
	}
	return r
}

// kit is what runs are carried out with over one store.
type kit struct {
	start *Start
	store cli.Store
	setup cli.Setup
	// tools and composer are those of sessions with memory, few and plain those of
	// sessions without.
	tools, few *tool.Set
	// servers have some of the tools of both, nil if there are none.
	servers         *servers
	composer, plain *memory.Composer
	judge           *policy.Rules
	budget          *policy.Budget
	limits          harness.Limits
}

// kit returns what carries out runs over a store.
func (p *Start) kit(s cli.Store, native Native, setup cli.Setup) (*kit, error) {
	set, err := Tools(s, setup)
	if err != nil {
		return nil, err
	}
	bare := s // what a session without memory has
	bare.Facts, bare.Notes = nil, nil
	few, err := Tools(bare, setup)
	if err != nil {
		return nil, err
	}
	k := &kit{start: p, store: s, setup: setup, tools: set, few: few, judge: rules(s, setup), budget: budget(setup, native), limits: native.Limits}
	k.composer, k.plain = composers(s, setup)
	k.servers, err = p.mcpServers(setup)
	return k, err
}

// attach gives the tools of the MCP servers to all that the kit is used for.
func (k *kit) attach() {
	if k.servers != nil {
		k.servers.Attach(k.tools)
		k.servers.Attach(k.few)
	}
}

// steps returns the parts that carry out runs of a configuration.
func (k *kit) steps(ctx context.Context, c harness.RunConfig) (agent.Steps, error) {
	m, info, err := choose.Build(ctx, c.Model, k.start.Environment(k.setup))
	if err != nil {
		return agent.Steps{}, &cli.ProviderError{Err: err}
	}
	steps := agent.Steps{
		Model: m, Info: info, Tools: k.set(c), Policy: k.judge, Compose: k.composer.Compose, Limits: k.limits, Budget: k.budget, Log: k.setup.Log, Now: k.setup.Now,
		Used: func(ctx context.Context, ids []string) { used(ctx, k.store.Facts, k.setup, ids) },
	}
	if k.servers != nil {
		steps.Ready = k.servers.ready
	}
	if c.NoMemory {
		steps.Compose = k.plain.Compose
	}
	if k.setup.Steps != nil {
		return k.setup.Steps(steps)
	}
	return steps, nil
}

// set are the tools of a configuration.
func (k *kit) set(c harness.RunConfig) *tool.Set {
	if c.NoMemory {
		return k.few
	}
	return k.tools
}

// local returns the engine of the runs that the store itself keeps.
func (k *kit) local(native Native) (*run.Local, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name of this machine: %w", err)
	}
	return run.NewLocal(run.Options{
		Journal: native.Journal, Transcript: k.store.Transcript, Sessions: k.store.Sessions, Grants: k.store.Grants, Engine: native.Engine, Host: host,
		Now: k.setup.Now, Logger: k.setup.Log, Steps: k.steps,
	}), nil
}

// used counts the use of facts in an answer.
func used(ctx context.Context, facts harness.Facts, setup cli.Setup, ids []string) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, "f") })
	if facts == nil || len(ids) == 0 {
		return
	}
	if err := facts.Used(ctx, ids...); err != nil {
		setup.Log.Warn("count use of facts", slog.Any("error", err))
	}
}

// composers build the requests of sessions with memory and of those without.
func composers(s cli.Store, setup cli.Setup) (full, plain *memory.Composer) {
	facts, notes := near.Within(s.Facts, s.Notes, near.Haste) // a turn does not wait
	full = &memory.Composer{Facts: facts, Notes: notes, RecallBudget: setup.Config.RecallTokens, Artifacts: s.Artifacts}
	return full, &memory.Composer{Artifacts: s.Artifacts}
}

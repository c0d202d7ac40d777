package mcp

import (
	"context"
	"log/slog"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
)

// Options are what a [Manager] is made of.
type Options struct {
	// Servers are those of the configuration. Each must pass [Check], and no two have
	// the same name.
	Servers []Server
	// Environ is the environment of this process, of which a server gets the short
	// list of harmless variables; nil means [os.Environ].
	Environ func() []string
	// Interactive says that somebody receives the [Manager.Questions]. Without it
	// servers are told that nobody can be asked.
	Interactive bool
	// Name and Version are what servers are told of this program; empty means
	// "cairn" and no version.
	Name, Version string
	// Log gets what servers say besides their answers; nil means nothing is logged.
	Log *slog.Logger
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
}

var _ harness.Servers = (*Manager)(nil)

// Manager holds the connections to the MCP servers of a process. Its methods are safe
// for concurrent use.
type Manager struct {
	o Options
}

// New returns a manager of servers, none of which is connected yet: see
// [Manager.Start].
func New(o Options) (*Manager, error) { return &Manager{o: o}, nil }

// Start connects to all servers that are not off, in the background, and returns at
// once. A second call does nothing. The connections outlive ctx; [Manager.Close] ends
// them.
func (m *Manager) Start(ctx context.Context) {}

// Ready waits until each server that is not off is ready or failed, or ctx ends.
func (m *Manager) Ready(ctx context.Context) error { return nil }

// Attach gives a set the tools of the servers, now and after each change. It may be
// called for several sets.
func (m *Manager) Attach(set *tool.Set) {}

// Close ends all connections at once and what was started for them, within a second.
// Later calls of tools fail.
func (m *Manager) Close(ctx context.Context) error { return nil }

// List implements [harness.Servers].
func (m *Manager) List() []harness.ServerStatus { return nil }

// Changed implements [harness.Servers].
func (m *Manager) Changed() <-chan struct{} { return nil }

// Prompt implements [harness.Servers].
func (m *Manager) Prompt(ctx context.Context, server, prompt string, arguments map[string]string) ([]harness.Message, error) {
	return nil, harness.ErrNotFound
}

// Read implements [harness.Servers].
func (m *Manager) Read(ctx context.Context, server, uri string) ([]harness.ServerContent, error) {
	return nil, harness.ErrNotFound
}

// Complete implements [harness.Servers].
func (m *Manager) Complete(ctx context.Context, server, of, argument, typed string) ([]string, error) {
	return nil, harness.ErrNotFound
}

// Reconnect implements [harness.Servers].
func (m *Manager) Reconnect(ctx context.Context, server string) error { return harness.ErrNotFound }

// Switch implements [harness.Servers].
func (m *Manager) Switch(ctx context.Context, server string, on bool) error {
	return harness.ErrNotFound
}

// Questions implements [harness.Servers].
func (m *Manager) Questions() <-chan harness.ServerQuestion { return nil }

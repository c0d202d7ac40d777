// Package standard puts the tools together that cairn itself offers: memory,
// files, commands, the web, questions, to-dos and stored results. The one thing to know: it
// decides nothing about consent; each tool says what it touches, and a policy
// judges.
package standard

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
	"cairn/harness/tool/files"
	"cairn/harness/tool/recall"
	"cairn/harness/tool/result"
	"cairn/harness/tool/shell"
	"cairn/harness/tool/web"
)

// Options say what the tools may work with. The zero value is all tools but
// those of the memory, each in the working directory of its call.
type Options struct {
	// Facts and Notes are the long-term memory; tools appear only for those
	// given.
	Facts harness.Facts
	Notes harness.Notes
	// Inbox takes what the model wants to remember on the word of others, if
	// nobody can be asked; nil if somebody can.
	Inbox harness.Inbox
	// History is where earlier conversations are searched; without its Search
	// there is no tool for it.
	History recall.History
	// Artifacts keep results that are too long for a conversation; without them
	// the rest of such a result is lost, and there is no tool to read it.
	Artifacts harness.Artifacts
	// Roots are directories besides the working one that files may be in.
	Roots []string
	// Env are names of further environment variables that commands get.
	Env []string
	// CommandTimeout is that of commands that name none; 0 leaves it to the tool.
	CommandTimeout time.Duration
	// PrivateAddresses lets pages of this machine and of private networks be
	// fetched.
	PrivateAddresses bool
	// Off are the names of tools that are not offered at all.
	Off []string
	// Redactor knows the secrets that no result may hold; nil knows none.
	Redactor *tool.Redactor
	// Log and Grace are as in [tool.Set].
	Log   *slog.Logger
	Grace time.Duration
}

// New returns a set of the tools. A name in Off that no tool has is an error.
func New(o Options) (*tool.Set, error) {
	set := &tool.Set{Log: o.Log, Grace: o.Grace}
	var kept result.Reader
	if o.Artifacts != nil {
		set.Artifacts, kept = o.Artifacts, o.Artifacts
	}
	if o.Redactor != nil {
		set.Redact = o.Redactor.Redact
	}
	for _, register := range []func() error{
		func() error { return recall.RegisterUnattended(set, o.Facts, o.Notes, o.Inbox) },
		func() error { return recall.RegisterHistoryTool(set, o.History) },
		func() error { return files.Register(set, files.Options{Roots: o.Roots}) },
		func() error { return shell.Register(set, shell.Options{Env: o.Env, Timeout: o.CommandTimeout}) },
		func() error { return web.Register(set, web.Options{AllowPrivate: o.PrivateAddresses}) },
		func() error { return ask.Register(set) },
		func() error { return result.Register(set, kept) },
	} {
		if err := register(); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Off {
		if !set.Remove(name) && !sometimes(name) {
			return nil, fmt.Errorf("switch off tool %q: %w", name, harness.ErrNotFound)
		}
	}
	return set, nil
}

// sometimes reports whether a tool is there only with a store for it.
func sometimes(name string) bool {
	return name == tool.ReadResult || slices.Contains(memoryTools(), name)
}

// memoryTools are the names of those that are there only with a memory.
func memoryTools() []string { return append(recall.Tools(), recall.HistoryTool) }

// Names returns the names of all tools that a set of this package may have.
func Names() []string {
	set, err := New(Options{})
	if err != nil {
		return nil // no shell, for one: nothing to check names against
	}
	return slices.Concat(memoryTools(), set.Names(), []string{tool.ReadResult})
}

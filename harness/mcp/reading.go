package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
)

// ask asks something of a server, once more over a new connection if the server cannot
// have had it.
func (m *Manager) ask(ctx context.Context, server string, ask func(ctx context.Context, v *live) error) error {
	l, err := m.link(server)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout())
	defer cancel()
	for again := false; ; again = true {
		v, err := l.get(ctx)
		if err != nil {
			return l.wrong(err)
		}
		err = v.do(ctx, func(ctx context.Context) error { return ask(ctx, v) })
		if err == nil {
			l.went()
			return nil
		}
		// All that is asked here only reads.
		if !again && ctx.Err() == nil && !answered(err) && !isPermanent(err) && !tooLong(err) {
			l.drop(v, err)
			continue
		}
		return l.wrong(err)
	}
}

// wrong is an error of a server for a screen. It can be told from others as far as
// somebody acts on it.
func (l *link) wrong(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, harness.ErrClosed) {
		return fmt.Errorf("MCP server %s: %w", l.c.Name, err)
	}
	if unknownThing(err) {
		return fmt.Errorf("MCP server %s: %s: %w", l.c.Name, l.explain(err), harness.ErrNotFound)
	}
	return fmt.Errorf("MCP server %s: %w", l.c.Name, sentence(l.explain(err)))
}

// Prompt implements [harness.Servers].
func (m *Manager) Prompt(ctx context.Context, server, prompt string, arguments map[string]string) ([]harness.Message, error) {
	var out []harness.Message
	err := m.ask(ctx, server, func(ctx context.Context, v *live) error {
		r, err := v.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: prompt, Arguments: arguments})
		if err != nil {
			return err
		}
		out = nil
		for _, msg := range r.Messages {
			if made, ok := message(msg); ok {
				out = append(out, made)
			}
		}
		return nil
	})
	if err != nil {
		if l, bad := m.link(server); bad == nil && errors.Is(err, harness.ErrNotFound) && l.hasPrompt(prompt) {
			err = sentence(strings.TrimSuffix(err.Error(), ": "+harness.ErrNotFound.Error())) // it is there, and refuses the arguments
		}
		return nil, fmt.Errorf("prompt %.60q: %w", prompt, err)
	}
	return out, nil
}

func (l *link) hasPrompt(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.offer.prompt(name)
}

// Read implements [harness.Servers].
func (m *Manager) Read(ctx context.Context, server, uri string) ([]harness.ServerContent, error) {
	var out []harness.ServerContent
	err := m.ask(ctx, server, func(ctx context.Context, v *live) error {
		r, err := v.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		out = nil
		for _, c := range r.Contents {
			if c == nil {
				continue
			}
			at := line(cmp.Or(c.URI, uri))
			out = append(out, harness.ServerContent{
				URI: at, Name: line(path.Base(at)), MediaType: line(c.MIMEType), Text: strings.ToValidUTF8(c.Text, "\uFFFD"), Data: c.Blob,
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("resource %.200q: %w", uri, err)
	}
	return out, nil
}

// Complete implements [harness.Servers].
func (m *Manager) Complete(ctx context.Context, server, of, argument, typed string) ([]string, error) {
	l, err := m.link(server)
	if err != nil {
		return nil, err
	}
	ref := &sdk.CompleteReference{Type: "ref/resource", URI: of}
	if l.hasPrompt(of) {
		ref = &sdk.CompleteReference{Type: "ref/prompt", Name: of}
	}
	var out []string
	err = m.ask(ctx, server, func(ctx context.Context, v *live) error {
		if r := v.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Completions == nil {
			return nil
		}
		r, err := v.session.Complete(ctx, &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: argument, Value: typed}})
		if err != nil {
			return err
		}
		out = nil
		for _, value := range r.Completion.Values[:min(len(r.Completion.Values), maxProposals)] {
			if value != "" && value == line(value) {
				out = append(out, value)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("complete %.60q: %w", argument, err)
	}
	return out, nil
}

// maxProposals bounds what a server proposes, as the protocol does.
const maxProposals = 100

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
)

const (
	// maxOffers bounds each list of a server, maxPages the parts it comes in.
	maxOffers = 1000
	maxPages  = 100
)

// offer is what a server offers, in its own order.
type offer struct {
	title, version, protocol, instructions string

	tools     []offered
	prompts   []harness.ServerPrompt
	resources []harness.ServerResource
	// refused says why some of it is left out.
	refused []string
}

// tool finds a tool by the server's name for it.
func (o offer) tool(remote string) (offered, bool) {
	for _, t := range o.tools {
		if t.remote == remote {
			return t, true
		}
	}
	return offered{}, false
}

// prompt reports whether there is a prompt of a name.
func (o offer) prompt(name string) bool {
	return slices.ContainsFunc(o.prompts, func(p harness.ServerPrompt) bool { return p.Name == name })
}

// offers asks a server for all that it offers.
func (v *live) offers(ctx context.Context) (offer, error) {
	o := offer{}
	if r := v.session.InitializeResult(); r != nil {
		o.protocol = line(r.ProtocolVersion)
		o.instructions = v.l.clean(words(r.Instructions, maxWords))
		if r.ServerInfo != nil {
			o.version = line(r.ServerInfo.Version)
			if o.title = line(r.ServerInfo.Title); o.title == "" {
				o.title = line(r.ServerInfo.Name)
			}
		}
	}
	for kind := range kinds {
		v.changed[kind].Store(false)
		if err := v.refresh(ctx, kind, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// refresh asks for one of the lists again. Without its tools a server is of no use; its
// other lists are empty if they cannot be had.
func (v *live) refresh(ctx context.Context, kind int, o *offer) error {
	has := v.session.InitializeResult()
	if has == nil || has.Capabilities == nil {
		return nil
	}
	switch {
	case kind == kindTools && has.Capabilities.Tools != nil:
		return v.listTools(ctx, o)
	case kind == kindPrompts && has.Capabilities.Prompts != nil:
		return v.passing("prompts", v.listPrompts(ctx, o))
	case kind == kindResources && has.Capabilities.Resources != nil:
		return v.passing("resources", v.listResources(ctx, o))
	}
	return nil
}

// passing logs an error that leaves a list empty. The end of a connection is none.
func (v *live) passing(list string, err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-v.ended:
		return err
	default:
	}
	if !answered(err) {
		return err
	}
	v.logs(slog.LevelWarn, "its "+list+" cannot be listed: "+v.l.explain(err))
	return nil
}

// pages reads a list in its parts. next returns the cursor of the next one, "" at the
// end, and how many there are by now.
func (v *live) pages(ctx context.Context, next func(ctx context.Context, cursor string) (string, int, error)) (cut bool, err error) {
	cursor := ""
	for range maxPages {
		var n int
		err := v.do(ctx, func(ctx context.Context) (err error) {
			cursor, n, err = next(ctx, cursor)
			return err
		})
		switch {
		case err != nil && notThere(err):
			return false, nil
		case err != nil:
			return false, err
		case cursor == "":
			return n > maxOffers, nil
		case n > maxOffers:
			return true, nil
		}
	}
	return true, nil
}

// notThere reports whether a server says that it does not know what is asked of it.
func notThere(err error) bool {
	reply, ok := replyOf(err)
	return ok && reply.Code == jsonrpc.CodeMethodNotFound
}

func (v *live) listTools(ctx context.Context, o *offer) error {
	var all []*sdk.Tool
	left := 8 * maxSpecs // what is left out may come before what is taken
	cut, err := v.pages(ctx, func(ctx context.Context, cursor string) (string, int, error) {
		r, err := v.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", 0, err
		}
		for _, t := range r.Tools {
			all = append(all, slim(t, &left))
		}
		return r.NextCursor, len(all), nil
	})
	if err != nil {
		return fmt.Errorf("list its tools: %w", err)
	}
	o.tools, o.refused = v.l.tools(all)
	if cut {
		o.refused = append(o.refused, fmt.Sprintf("The server has more tools than the %d that are taken; the others are left out.", maxOffers))
	}
	return nil
}

func (v *live) listPrompts(ctx context.Context, o *offer) error {
	var all []harness.ServerPrompt
	_, err := v.pages(ctx, func(ctx context.Context, cursor string) (string, int, error) {
		r, err := v.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", 0, err
		}
		for _, p := range r.Prompts {
			// A name that cannot be typed could not be asked for.
			if p != nil && p.Name != "" && p.Name == line(p.Name) && len(p.Arguments) <= maxArguments && len(all) < maxOffers {
				all = append(all, prompt(p))
			}
		}
		return r.NextCursor, len(all), nil
	})
	if err == nil {
		o.prompts = all
	}
	return err
}

func prompt(p *sdk.Prompt) harness.ServerPrompt {
	out := harness.ServerPrompt{Name: p.Name, Title: line(p.Title), Help: line(p.Description)}
	for _, a := range p.Arguments {
		if a != nil && a.Name != "" && a.Name == line(a.Name) {
			out.Arguments = append(out.Arguments, harness.PromptArgument{Name: a.Name, Help: line(a.Description), Required: a.Required})
		}
	}
	return out
}

func (v *live) listResources(ctx context.Context, o *offer) error {
	var all []harness.ServerResource
	_, err := v.pages(ctx, func(ctx context.Context, cursor string) (string, int, error) {
		r, err := v.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return "", 0, err
		}
		for _, x := range r.Resources {
			if x != nil && typeable(x.URI) && len(all) < maxOffers {
				all = append(all, harness.ServerResource{
					URI: x.URI, Name: line(x.Name), Title: line(x.Title), Help: line(x.Description), MediaType: line(x.MIMEType), Size: max(x.Size, 0),
				})
			}
		}
		return r.NextCursor, len(all), nil
	})
	if err != nil {
		return err
	}
	plain := len(all)
	_, err = v.pages(ctx, func(ctx context.Context, cursor string) (string, int, error) {
		r, err := v.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return "", 0, err
		}
		for _, x := range r.ResourceTemplates {
			if x != nil && typeable(x.URITemplate) && len(all)-plain < maxOffers {
				all = append(all, harness.ServerResource{
					URI: x.URITemplate, Template: true, Name: line(x.Name), Title: line(x.Title), Help: line(x.Description), MediaType: line(x.MIMEType),
				})
			}
		}
		return r.NextCursor, len(all) - plain, nil
	})
	if err == nil {
		o.resources = all
	}
	return err
}

// typeable reports whether an address is one that a person can see and type.
func typeable(uri string) bool {
	return uri != "" && len(uri) <= 2000 && words(uri, 2000) == uri && !strings.ContainsFunc(uri, unicode.IsSpace)
}

// follow asks for lists again when the server says that they changed: several times at
// once is one time.
func (v *live) follow() {
	for {
		select {
		case <-v.news:
		case <-v.ended:
			return
		}
		if !v.wait(gathering) {
			return
		}
		v.update()
		if !v.wait(resting) {
			return
		}
	}
}

// wait waits and reports whether the connection lasted.
func (v *live) wait(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-limit.C:
		return true
	case <-v.ended:
		return false
	}
}

// update asks for the lists that changed.
func (v *live) update() {
	l := v.l
	ctx, cancel := context.WithTimeout(v.ctx, l.timeout())
	defer cancel()
	l.mu.Lock()
	o := l.offer
	l.mu.Unlock()
	for kind := range kinds {
		if !v.changed[kind].Swap(false) {
			continue
		}
		if err := v.refresh(ctx, kind, &o); err != nil {
			v.logs(slog.LevelWarn, "its lists cannot be read again: "+l.explain(err))
			v.changed[kind].Store(true) // the next change asks again; what was read before counts
			break
		}
	}
	l.mu.Lock()
	current := l.live == v
	if current {
		l.take(o)
	}
	l.mu.Unlock()
	if current {
		l.m.retool()
	}
}

// jsonRaw is a call's input as it is sent: an object, byte for byte as it was given.
func jsonRaw(input []byte) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage("{}")
	}
	return input
}

package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/tool"
)

const (
	// maxName is what providers take of a tool's name, in bytes, and nameSum how many
	// digits tell apart names that were cut.
	maxName = 64
	nameSum = 8
	// maxToolName is how long a server's own name of a tool may be, in bytes.
	maxToolName = 1000
)

// offered is a tool of a server, as it is offered to a model.
type offered struct {
	// name is what the model calls it by, remote what the server does.
	name, remote string
	title, help  string
	schema       json.RawMessage
	// hints are what the server says that the tool does, which nobody believes.
	hints []string
	// digest stands for all that was told of it.
	digest string
}

// tools makes of a server's tools those that can be offered, by their names, and says
// of others why they are left out.
func (l *link) tools(all []*sdk.Tool) (out []offered, refused []string) {
	all = slices.DeleteFunc(slices.Clone(all), func(t *sdk.Tool) bool { return t == nil })
	slices.SortStableFunc(all, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	taken := map[string]string{}
	left := maxSpecs
	for _, t := range all[:min(len(all), maxOffers)] {
		if !l.wanted(t.Name) {
			continue
		}
		o, err := l.offered(t)
		if err == nil {
			if before, ok := taken[o.name]; ok {
				err = fmt.Errorf("the model would know it as %s, as it does %s of the same server", o.name, before)
			}
		}
		if err == nil {
			err = room(&left, o)
		}
		if err != nil {
			refused = append(refused, fmt.Sprintf("The tool %s is left out: %s.", line(t.Name), line(err.Error())))
			continue
		}
		taken[o.name] = line(t.Name)
		out = append(out, o)
	}
	return out, refused
}

// wanted reports whether a tool is one of those that the configuration takes.
func (l *link) wanted(remote string) bool {
	return (len(l.c.Tools) == 0 || matches(l.c.Tools, remote)) && !matches(l.c.Without, remote)
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// offered makes one tool fit to be offered.
func (l *link) offered(t *sdk.Tool) (offered, error) {
	if t.Name == "" || len(t.Name) > maxToolName {
		return offered{}, errors.New("it has no usable name")
	}
	schema, err := schemaOf(t.InputSchema)
	if err != nil {
		return offered{}, err
	}
	o := offered{
		name: l.name(t.Name), remote: t.Name, title: line(t.Title), help: l.clean(strings.TrimSpace(words(t.Description, maxWords))), schema: schema,
	}
	if a := t.Annotations; a != nil {
		if o.title == "" {
			o.title = line(a.Title)
		}
		if a.ReadOnlyHint {
			o.hints = append(o.hints, "that it changes nothing")
		}
		if !a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint {
			o.hints = append(o.hints, "that it may destroy something")
		}
	}
	sum := sha256.New()
	for _, part := range []string{o.name, o.title, o.help, string(o.schema)} {
		fmt.Fprintf(sum, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	o.digest = hex.EncodeToString(sum.Sum(nil))
	return o, nil
}

// name is what a model calls a tool by. What is cut, or had to be changed, is told
// apart by a digest where it would be too long.
func (l *link) name(remote string) string {
	prefix := l.c.Prefix
	if prefix == "" {
		prefix = l.c.Name
	}
	legal := func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}
	name := prefix + "_" + strings.Map(legal, remote)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(remote))
	return name[:maxName-nameSum-1] + "_" + hex.EncodeToString(sum[:])[:nameSum]
}

// schemaOf is the schema of a tool's arguments as the server gave it, but for what
// providers refuse: it is an object, with a type and a list of properties.
func schemaOf(given any) (json.RawMessage, error) {
	if size, large := given.(tooLarge); large {
		return nil, fmt.Errorf("it takes %d bytes to tell its arguments, and at most %d are taken of each tool and %d of all", size, maxSpec, maxSpecs)
	}
	given, err := seen(given, "")
	if err != nil {
		return nil, err
	}
	schema, ok := given.(map[string]any)
	if given == nil {
		schema, ok = map[string]any{}, true
	}
	if !ok {
		return nil, errors.New("the schema of its arguments is no object")
	}
	schema = maps.Clone(schema)
	delete(schema, "$schema")
	delete(schema, "$id")
	switch kind := schema["type"].(type) {
	case nil:
		schema["type"] = "object"
	case string:
		if kind != "object" {
			return nil, fmt.Errorf("its arguments are to be of type %s, and only an object can be given", line(kind))
		}
	default:
		return nil, errors.New("the type of its arguments is no name of one")
	}
	if _, ok := schema["properties"].(map[string]any); !ok {
		schema["properties"] = map[string]any{}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(schema); err != nil {
		return nil, fmt.Errorf("the schema of its arguments cannot be written: %w", err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
}

// source names the server behind a tool: another command or address under its name is
// another server.
func source(c Server) string {
	sum := sha256.New()
	for _, part := range append([]string{c.URL, c.Dir, c.Command}, c.Args...) {
		fmt.Fprintf(sum, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	return "mcp " + c.Name + " " + hex.EncodeToString(sum.Sum(nil))[:32]
}

// tool is the tool as the agent has it.
func (l *link) tool(o offered) tool.Tool {
	t := tool.Tool{
		Name: o.name, Description: describe(o, l.c.Name), Schema: o.schema, Permission: tool.Ask, Replay: tool.Manual,
		Timeout: l.timeout(), Source: source(l.c),
	}
	if matches(l.c.Repeatable, o.remote) {
		t.Replay = tool.Safe
	}
	t.Propose = func(_ context.Context, c tool.Call) (harness.Proposal, error) { return l.propose(o, c) }
	t.Run = func(ctx context.Context, c tool.Call) (string, error) { return l.run(ctx, o, c) }
	return t
}

// describe is what a model is told of a tool.
func describe(o offered, server string) string {
	switch {
	case o.help != "":
		return o.help
	case o.title != "":
		return o.title
	}
	return fmt.Sprintf("The tool %s of the MCP server %s.", line(o.remote), server)
}

// propose shows a call to the person: the server, the tool and what it is given.
func (l *link) propose(o offered, c tool.Call) (harness.Proposal, error) {
	var body bytes.Buffer
	if err := json.Indent(&body, c.Input, "", "  "); err != nil {
		return harness.Proposal{}, fmt.Errorf("the arguments cannot be shown: %w", err)
	}
	p := harness.Proposal{Kind: harness.ProposalCall, Subject: line(o.remote) + " of the MCP server " + l.c.Name, Body: body.String()}
	if o.title != "" && o.title != o.remote {
		p.About = append(p.About, "it calls itself "+o.title)
	}
	p.About = append(p.About, "at "+target(l.c))
	if len(o.hints) > 0 {
		p.About = append(p.About, "the server says "+strings.Join(o.hints, " and "))
	}
	l.mu.Lock()
	first, seen := l.first[o.remote]
	if before, ok := l.earlier[o.remote]; ok {
		first, seen = before, true
	}
	l.mu.Unlock()
	if seen && first.digest != o.digest {
		p.About = append(p.About, "the server changed it: "+difference(first, o))
	}
	return p, nil
}

// difference says what is different in two definitions of a tool.
func difference(before, now offered) string {
	var all []string
	if before.title != now.title {
		all = append(all, "its title")
	}
	if before.help != now.help {
		all = append(all, "its description")
	}
	if !bytes.Equal(before.schema, now.schema) {
		old, current := properties(before.schema), properties(now.schema)
		count := len(all)
		for _, name := range slices.Sorted(maps.Keys(current)) {
			switch was, ok := old[name]; {
			case !ok:
				all = append(all, "the new argument "+line(name))
			case !bytes.Equal(was, current[name]):
				all = append(all, "the argument "+line(name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(old)) {
			if _, ok := current[name]; !ok {
				all = append(all, "the argument "+line(name)+" that is gone")
			}
		}
		if len(all) == count {
			all = append(all, "its arguments")
		}
	}
	const most = 5
	if len(all) > most {
		all = append(all[:most], "more")
	}
	return strings.Join(all, ", ")
}

func properties(schema json.RawMessage) map[string]json.RawMessage {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return s.Properties
}

// run calls a tool. A call that the server cannot have had is made once more, over a
// new connection.
func (l *link) run(ctx context.Context, o offered, c tool.Call) (string, error) {
	for again := false; ; again = true {
		v, err := l.get(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "", fmt.Errorf("not run: the MCP server %s cannot be had: %s", l.c.Name, l.explain(err))
		}
		r, err := v.call(ctx, o.remote, c.Input, c.Report)
		switch {
		case err == nil:
			l.went()
			return l.result(r, c.Show)
		case ctx.Err() != nil:
			return "", ctx.Err()
		case v.visits(ctx, err):
			return "", &visitError{l.c.Name}
		case !again && unsent(err) && !isPermanent(err):
			l.drop(v, err)
			continue
		}
		return "", l.failure(v, err)
	}
}

// failure is what the model is told of a call that failed.
func (l *link) failure(v *live, err error) error {
	why := l.explain(err)
	switch {
	case answered(err):
		return fmt.Errorf("the MCP server %s refused the call: %s", l.c.Name, why)
	case unsent(err):
		return fmt.Errorf("not run: the MCP server %s cannot be had: %s", l.c.Name, why)
	}
	l.drop(v, err)
	return tool.Uncertain(fmt.Errorf("the connection to the MCP server %s was lost during the call, outcome unknown: it may have run, so look before making the call again (%s)", l.c.Name, why))
}

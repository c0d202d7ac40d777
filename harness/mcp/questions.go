package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
)

// maxFields bounds what a server may ask at once.
const maxFields = 50

// visitError is a call that the server carries out only when the person has been at an
// address.
type visitError struct{ server string }

func (e *visitError) Error() string {
	return "the MCP server " + e.server + " wants the person to visit an address first; they were asked to. Make the call again when they say that it is done"
}

// elicit asks the person what a server wants to know.
func (v *live) elicit(ctx context.Context, p *sdk.ElicitParams) *sdk.ElicitResult {
	cancelled := &sdk.ElicitResult{Action: string(harness.AnswerCancel)}
	if p == nil {
		return cancelled
	}
	if !v.l.m.o.Interactive {
		v.logs(slog.LevelInfo, "asks, and there is nobody here who could answer: "+line(p.Message))
		return cancelled
	}
	q := harness.ServerQuestion{Server: v.l.c.Name, Text: v.l.clean(words(p.Message, maxWords))}
	var schema *jsonschema.Resolved
	if p.URL != "" || p.Mode == "url" {
		at, err := url.Parse(p.URL)
		if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || words(p.URL, maxWords) != p.URL {
			v.logs(slog.LevelWarn, "asks to visit what is no address of the web: "+line(p.URL))
			return &sdk.ElicitResult{Action: string(harness.AnswerDecline)}
		}
		q.URL = p.URL
	} else {
		var err error
		if q.Fields, schema, err = fields(p.RequestedSchema, orderOf(p.Meta)); err != nil {
			v.logs(slog.LevelWarn, "asks what cannot be asked: "+line(err.Error()))
			return &sdk.ElicitResult{Action: string(harness.AnswerDecline)}
		}
	}
	done, ok := v.waits()
	if !ok {
		v.logs(slog.LevelWarn, "asks more at once than a person can answer")
		return cancelled
	}
	defer done()
	a, ok := v.put(ctx, q)
	if !ok {
		return cancelled
	}
	out := &sdk.ElicitResult{Action: string(a.Action)}
	switch a.Action {
	case harness.AnswerAccept:
	case harness.AnswerDecline, harness.AnswerCancel:
		return out
	default:
		return cancelled
	}
	if q.URL != "" {
		return out
	}
	if out.Content = content(a.Values, q.Fields); schema != nil {
		if err := schema.Validate(out.Content); err != nil {
			v.logs(slog.LevelWarn, "an answer is not what was asked for: "+line(err.Error()))
			return cancelled
		}
	}
	return out
}

// visits reports whether a call failed because the person has to visit an address
// first, and asks them to.
func (v *live) visits(ctx context.Context, err error) bool {
	var reply *jsonrpc.Error
	if !v.l.m.o.Interactive || !errors.As(err, &reply) || reply.Code != sdk.CodeURLElicitationRequired {
		return false
	}
	var all struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(reply.Data, &all) != nil || len(all.Elicitations) == 0 {
		return false
	}
	// More than a few are no help to anybody.
	const most = 3
	for _, p := range all.Elicitations[:min(len(all.Elicitations), most)] {
		if p == nil || p.URL == "" || v.elicit(ctx, p).Action != string(harness.AnswerAccept) {
			return false
		}
	}
	return true
}

// put puts a question to the person and waits for the answer; there is none once the
// server, or what is asked of the server, gives up.
func (v *live) put(ctx context.Context, q harness.ServerQuestion) (harness.ServerAnswer, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(v.asking(), cancel)() //nolint:contextcheck // it ends with what is asked of the server, too
	answers := make(chan harness.ServerAnswer, 1)
	var once sync.Once
	q.Done = ctx.Done()
	q.Answer = func(a harness.ServerAnswer) { once.Do(func() { answers <- a }) }
	select {
	case v.l.m.questions <- q:
	case <-ctx.Done():
		return harness.ServerAnswer{}, false
	}
	select {
	case a := <-answers:
		return a, true
	case <-ctx.Done():
		return harness.ServerAnswer{}, false
	}
}

// property is one value of a question, as its schema has it.
type property struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Help      string          `json:"description"`
	Format    string          `json:"format"`
	Default   json.RawMessage `json:"default"`
	Enum      []string        `json:"enum"`
	EnumNames []string        `json:"enumNames"`
	OneOf     []choice        `json:"oneOf"`
	Items     struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
		OneOf []choice `json:"oneOf"`
	} `json:"items"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinLength *float64 `json:"minLength"`
	MaxLength *float64 `json:"maxLength"`
	MinItems  *float64 `json:"minItems"`
	MaxItems  *float64 `json:"maxItems"`
}

type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// fields are what a server asks for, in its order. Where that is not handed on, what is
// required comes first, and then the others by their names.
func fields(schema any, names []string) ([]harness.ServerField, *jsonschema.Resolved, error) {
	if schema == nil {
		return nil, nil, nil
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, nil, fmt.Errorf("read the question: %w", err)
	}
	if err := askable(raw); err != nil {
		return nil, nil, err
	}
	var s struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, nil, fmt.Errorf("read the question: %w", err)
	}
	if len(s.Properties) > maxFields {
		return nil, nil, fmt.Errorf("it asks for %d values at once", len(s.Properties))
	}
	var js jsonschema.Schema
	if err := json.Unmarshal(raw, &js); err != nil {
		return nil, nil, fmt.Errorf("read the question: %w", err)
	}
	resolved, err := js.Resolve(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read the question: %w", err)
	}
	var order []string
	for _, name := range slices.Concat(names, s.Required, slices.Sorted(maps.Keys(s.Properties))) {
		if _, ok := s.Properties[name]; ok && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	out := make([]harness.ServerField, 0, len(order))
	for _, name := range order {
		f, err := field(name, s.Properties[name])
		if err != nil {
			return nil, nil, err
		}
		f.Required = slices.Contains(s.Required, name)
		out = append(out, f)
	}
	return out, resolved, nil
}

// field is one value that a server asks for.
func field(name string, p property) (harness.ServerField, error) {
	f := harness.ServerField{Name: name, Title: line(p.Title), Help: line(p.Help), Min: p.Minimum, Max: p.Maximum}
	var err error
	read := func(into any) {
		if len(p.Default) > 0 && string(p.Default) != "null" {
			err = json.Unmarshal(p.Default, into)
		}
	}
	switch p.Type {
	case "boolean":
		f.Kind = harness.FieldYesNo
		var value *bool
		if read(&value); value != nil {
			f.Default = *value
		}
	case "number", "integer":
		f.Kind = harness.FieldNumber
		if p.Type == "integer" {
			f.Kind = harness.FieldInteger
		}
		var value *float64
		if read(&value); value != nil {
			f.Default = *value
		}
	case "array":
		f.Kind, f.Min, f.Max = harness.FieldChoices, p.MinItems, p.MaxItems
		f.Choices = choices(p.Items.Enum, nil, append(p.Items.AnyOf, p.Items.OneOf...))
		var value []string
		if read(&value); value != nil {
			f.Default = value
		}
	case "string", "":
		f.Kind, f.Min, f.Max = harness.FieldText, p.MinLength, p.MaxLength
		if f.Choices = choices(p.Enum, p.EnumNames, p.OneOf); len(f.Choices) > 0 {
			f.Kind, f.Min, f.Max = harness.FieldChoice, nil, nil
		}
		switch p.Format {
		case "email", "uri", "date", "date-time":
			f.Format = p.Format
		}
		var value *string
		if read(&value); value != nil {
			f.Default = *value
		}
	default:
		return f, fmt.Errorf("the value %s is of the type %s, which cannot be asked for", line(name), line(p.Type))
	}
	if err != nil {
		f.Default = nil // what is no value of the kind is none
	}
	return f, nil
}

func choices(values, names []string, titled []choice) []harness.FieldChoiceOf {
	var out []harness.FieldChoiceOf
	for i, value := range values {
		title := value
		if i < len(names) && names[i] != "" {
			title = names[i]
		}
		out = append(out, harness.FieldChoiceOf{Value: value, Title: line(title)})
	}
	for _, c := range titled {
		title := c.Title
		if title == "" {
			title = c.Const
		}
		out = append(out, harness.FieldChoiceOf{Value: c.Const, Title: line(title)})
	}
	return out
}

// content are the values of an answer as they are sent: those that were asked for.
func content(values map[string]any, asked []harness.ServerField) map[string]any {
	out := map[string]any{}
	for _, f := range asked {
		value, ok := values[f.Name]
		if !ok || value == nil {
			continue
		}
		switch x := value.(type) {
		case []string:
			list := make([]any, 0, len(x))
			for _, s := range x {
				list = append(list, s)
			}
			value = list
		case int:
			value = float64(x)
		}
		if x, ok := value.(float64); ok {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			if f.Kind == harness.FieldInteger && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
				value = int64(x) // written without a fraction or an exponent
			}
		}
		out[f.Name] = value
	}
	return out
}

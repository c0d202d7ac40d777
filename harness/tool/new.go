package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"cairn/harness"
)

// Option changes a tool as [New] makes it.
type Option func(*Tool)

// WithPermission sets the permission; without it a call asks.
func WithPermission(p Permission) Option { return func(t *Tool) { t.Permission = p } }

// WithReplay sets the replay policy; without it a tool is [Manual].
func WithReplay(r Replay) Option { return func(t *Tool) { t.Replay = r } }

// WithTimeout bounds a call; without it [DefaultTimeout] does.
func WithTimeout(d time.Duration) Option { return func(t *Tool) { t.Timeout = d } }

// WithJudge sets what may make the permission stricter for a call.
func WithJudge(judge func(Call) (Permission, string)) Option {
	return func(t *Tool) { t.Judge = judge }
}

// WithTouches sets what says what a call would touch.
func WithTouches(touches func(Call) ([]Access, error)) Option {
	return func(t *Tool) { t.Touches = touches }
}

// WithPropose sets what says what a call would do.
func WithPropose(propose func(ctx context.Context, c Call) (harness.Proposal, error)) Option {
	return func(t *Tool) { t.Propose = propose }
}

// WithRetry makes a call again that failed for a passing reason.
func WithRetry(r Retry) Option { return func(t *Tool) { t.Retry = r } }

// Question makes the tool one that asks the person, as [Tool] says.
func Question() Option { return func(t *Tool) { t.Question = true } }

// Whole keeps the results of the tool in the conversation, as [Tool] says.
func Whole() Option { return func(t *Tool) { t.Whole = true } }

// Sequential makes the calls of one reply run one after the other.
func Sequential() Option { return func(t *Tool) { t.Sequential = true } }

// New makes a tool from a function. In is a struct whose fields are the
// arguments: their names come from json tags, their descriptions from
// jsonschema tags, and a field without omitempty or omitzero is required. The
// function's text is the result; its error becomes a failed result.
func New[In any](name, description string, fn func(ctx context.Context, c Call, in In) (string, error), opts ...Option) (Tool, error) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return Tool{}, fmt.Errorf("infer schema of tool %q: %w: %w", name, ErrInvalid, err)
	}
	oneType(schema)
	raw, err := json.Marshal(schema)
	if err != nil {
		return Tool{}, fmt.Errorf("write schema of tool %q: %w", name, err)
	}
	t := Tool{Name: name, Description: description, Schema: raw, Permission: Ask, Replay: Manual}
	t.Run = func(ctx context.Context, c Call) (string, error) {
		var in In
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return "", fmt.Errorf("%w: %w", errArguments, err)
		}
		return fn(ctx, c, in)
	}
	for _, o := range opts {
		o(&t)
	}
	if _, err := prepare(t); err != nil {
		return Tool{}, fmt.Errorf("make tool %q: %w", name, err)
	}
	return t, nil
}

// oneType makes "null or X" into "X": some providers refuse lists of types,
// and a null for an optional argument is taken for its absence anyway.
func oneType(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		oneType(p)
	}
	oneType(s.Items)
	oneType(s.AdditionalProperties)
}

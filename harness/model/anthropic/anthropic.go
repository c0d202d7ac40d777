// Package anthropic is the adaptor for Anthropic's messages interface.
package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"charm.land/fantasy"
	sdk "charm.land/fantasy/providers/anthropic"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/wire"
)

const (
	// BaseURL is the service's address.
	BaseURL = "https://api.anthropic.com"
	// DefaultOutput is the reply budget if nobody knows the model's own: the
	// interface demands one.
	DefaultOutput = 8192
	// leastThinking is the smallest budget for reasoning that is accepted.
	leastThinking = 1024
)

// budgets are the tokens of reasoning for each effort.
var budgets = map[string]int64{"low": 2048, "medium": 8192, "high": 24576} //nolint:gochecknoglobals // a table that nobody changes

// Options say how to reach the service.
type Options struct {
	// Provider is the first half of "provider/model"; empty means "anthropic".
	// Other services speak the same interface.
	Provider   string
	Model, Key string
	// BaseURL is another address; empty means [BaseURL].
	BaseURL string
	// HTTP makes the round trips; nil means the default transport.
	HTTP http.RoundTripper
	// MaxOutput is the reply budget of requests that set none; 0 means
	// [DefaultOutput].
	MaxOutput int
	// Effort asks for reasoning: "", "low", "medium" or "high".
	Effort string
	// Adaptive says that the model takes an effort by name. Older ones take a
	// number of tokens, which newer ones refuse.
	Adaptive bool
}

// New returns the model. It does not use the network.
func New(ctx context.Context, o Options) (model.Model, error) {
	if o.MaxOutput == 0 {
		o.MaxOutput = DefaultOutput
	}
	if o.Provider == "" {
		o.Provider = "anthropic"
	}
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	if base == "" {
		base = BaseURL
	}
	t := &wire.Transport{
		Provider: o.Provider, Base: o.HTTP, Secrets: []string{o.Key}, Named: true, Rewrite: tools,
		Keep: []string{"Anthropic-Version", "Anthropic-Beta"},
		Auth: func(h http.Header) { h.Set("X-Api-Key", o.Key) },
	}
	// The transport sends the key. The SDK must be given something, or it
	// looks for credentials in the environment and in files.
	p, err := sdk.New(sdk.WithBaseURL(base), sdk.WithAPIKey("none"), sdk.WithHTTPClient(t.Client()))
	if err != nil {
		return nil, fmt.Errorf("set up %s: %w", o.Provider, err)
	}
	language, err := p.LanguageModel(ctx, o.Model)
	if err != nil {
		return nil, fmt.Errorf("set up %s/%s: %w", o.Provider, o.Model, err)
	}
	return &wire.Wire{
		Provider: o.Provider, Model: o.Model, Issuer: o.Provider,
		Language:  language,
		Decoder:   func() wire.Decoder { return &decoder{args: map[int]*strings.Builder{}} },
		Options:   o.options,
		Seal:      seal,
		Unseal:    unseal,
		Blocks:    true,
		CallsLast: true,
		CacheMark: sdk.NewProviderCacheControlOptions(&sdk.ProviderCacheControlOptions{CacheControl: sdk.CacheControl{Type: "ephemeral"}}),
		MaxOutput: o.MaxOutput,

		ResultImage: true,
	}, nil
}

// options ask for reasoning, within the reply budget.
func (o Options) options(r model.Request) fantasy.ProviderOptions {
	if o.Effort != "" && o.Adaptive {
		effort := sdk.Effort(o.Effort)
		return sdk.NewProviderOptions(&sdk.ProviderOptions{Effort: &effort})
	}
	limit := int64(o.MaxOutput)
	if r.MaxOutput > 0 {
		limit = int64(r.MaxOutput)
	}
	budget := min(budgets[o.Effort], limit/2)
	if budget < leastThinking || begunWithout(r.Messages, o.Provider) {
		return nil
	}
	return sdk.NewProviderOptions(&sdk.ProviderOptions{Thinking: &sdk.ThinkingProviderOption{BudgetTokens: budget}})
}

// begunWithout reports whether the turn goes on after calls and was begun without
// reasoning of this provider's, as when another model began it. Asked for reasoning
// by a number of tokens, the service refuses such a turn.
func begunWithout(messages []harness.Message, provider string) bool {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != harness.RoleUser {
			continue
		}
		if i+1 == len(messages) || len(messages[i+1].Parts) == 0 {
			return false
		}
		first := messages[i+1].Parts[0]
		return first.Kind != harness.PartThinking || first.Opaque == nil || first.Opaque.Provider != provider
	}
	return false
}

// tools puts the whole schemas into a request. The mark of the system prompt is
// that of the tools, too, which come before it; without one they have their own.
func tools(body []byte, r model.Request) ([]byte, error) {
	if len(r.Tools) == 0 {
		return body, nil
	}
	list := make([]map[string]any, len(r.Tools))
	for i, t := range r.Tools {
		list[i] = map[string]any{"name": t.Name, "description": t.Description, "input_schema": wire.Schema(t)}
	}
	if strings.TrimSpace(r.System) == "" {
		list[len(list)-1]["cache_control"] = map[string]string{"type": "ephemeral"}
	}
	return wire.SetField(body, "tools", list)
}

// sealed is the opaque data of a piece of reasoning.
type sealed struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

func seal(meta fantasy.ProviderMetadata) json.RawMessage {
	m, ok := meta[sdk.Name].(*sdk.ReasoningOptionMetadata)
	if !ok || (m.Signature == "" && m.RedactedData == "") {
		return nil
	}
	// Two strings always encode.
	raw, _ := json.Marshal(sealed{Signature: m.Signature, Redacted: m.RedactedData})
	return raw
}

func unseal(data json.RawMessage, _ string) fantasy.ProviderOptions {
	var s sealed
	if json.Unmarshal(data, &s) != nil || (s.Signature == "" && s.Redacted == "") {
		return nil
	}
	return fantasy.ProviderOptions{sdk.Name: &sdk.ReasoningOptionMetadata{Signature: s.Signature, RedactedData: s.Redacted}}
}

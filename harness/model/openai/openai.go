// Package openai is the adaptor for OpenAI's own service. It speaks chat
// completions, the one format that every server behind OPENAI_BASE_URL has, and
// the responses interface for the models that have no other.
package openai

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"charm.land/fantasy"
	sdk "charm.land/fantasy/providers/openai"

	"cairn/harness/model"
	"cairn/harness/model/compat"
	"cairn/harness/model/wire"
)

// BaseURL is the service's address.
const BaseURL = "https://api.openai.com/v1"

// Options say how to reach the service.
type Options struct {
	// Provider is the first half of "provider/model"; empty means "openai".
	// Other services speak the same interface.
	Provider   string
	Model, Key string
	// BaseURL is another address; empty means [BaseURL].
	BaseURL string
	// HTTP makes the round trips; nil means the default transport.
	HTTP http.RoundTripper
	// MaxOutput is the reply budget of requests that set none.
	MaxOutput int
	// Effort asks for reasoning: "", "low", "medium" or "high".
	Effort string
	// Responses speaks the responses interface. It is also spoken to OpenAI's
	// own address for models that have no other.
	Responses bool
}

// New returns the model. It does not use the network.
func New(ctx context.Context, o Options) (model.Model, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	if o.BaseURL == "" {
		o.BaseURL = BaseURL
	}
	own := o.BaseURL == BaseURL
	if o.Responses || own && onlyResponses(o.Model) {
		return responses(ctx, o)
	}
	return compat.New(ctx, compat.Options{
		Provider: o.Provider, Model: o.Model, Key: o.Key, BaseURL: o.BaseURL, HTTP: o.HTTP,
		MaxOutput: o.MaxOutput, Effort: o.Effort, OpenAI: own,
	})
}

// onlyResponses reports whether a model of OpenAI's has no chat completions.
func onlyResponses(name string) bool {
	for _, family := range []string{"codex", "-pro", "deep-research", "computer-use"} {
		if strings.Contains(name, family) {
			return true
		}
	}
	return false
}

// responses returns a model behind the responses interface.
func responses(ctx context.Context, o Options) (model.Model, error) {
	t := &wire.Transport{Provider: o.Provider, Base: o.HTTP, Secrets: []string{o.Key}, Auth: func(h http.Header) {
		if o.Key != "" {
			h.Set("Authorization", "Bearer "+o.Key)
		}
	}}
	p, err := sdk.New(
		sdk.WithBaseURL(o.BaseURL),
		// The transport sends the key; see package compat.
		sdk.WithAPIKey("none"),
		sdk.WithHTTPClient(t.Client()),
		sdk.WithUseResponsesAPI(),
		sdk.WithResponsesAPIFunc(func(string) bool { return true }),
	)
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
		Decoder:   func() wire.Decoder { return &decoder{} },
		Options:   o.options,
		MaxOutput: o.MaxOutput,
	}, nil
}

func (o Options) options(r model.Request) fantasy.ProviderOptions {
	opts := &sdk.ResponsesProviderOptions{}
	if key := compat.CacheKey(r); key != "" && o.BaseURL == BaseURL {
		opts.PromptCacheKey = &key
	}
	if o.Effort != "" {
		effort := sdk.ReasoningEffort(o.Effort)
		opts.ReasoningEffort = &effort
	}
	return sdk.NewResponsesProviderOptions(opts)
}

// Package compat is the adaptor for servers that speak OpenAI's chat
// completions: Ollama, LM Studio, llama.cpp, vLLM and many services.
package compat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"charm.land/fantasy"
	sdk "charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"

	"cairn/harness/model"
	"cairn/harness/model/wire"
	"cairn/harness/model/wire/chat"
)

// Options say where a server is and how to speak to it.
type Options struct {
	// Provider is the first half of "provider/model", Model the server's own
	// name of the model.
	Provider, Model string
	// BaseURL ends before "/chat/completions", usually in "/v1".
	BaseURL string
	// Key is sent as a bearer token; empty sends none.
	Key string
	// Headers are sent besides.
	Headers map[string]string
	// HTTP makes the round trips; nil means the default transport.
	HTTP http.RoundTripper
	// MaxOutput is the reply budget of requests that set none; 0 leaves it to
	// the server.
	MaxOutput int
	// Effort asks for reasoning: "", "low", "medium" or "high".
	Effort string
	// OpenAI says that the server is OpenAI's own, which takes fields that
	// others refuse and refuses one that others need.
	OpenAI bool
}

// New returns the model. It does not use the network.
func New(ctx context.Context, o Options) (model.Model, error) {
	t := &wire.Transport{Provider: o.Provider, Base: o.HTTP, Secrets: []string{o.Key}, Auth: func(h http.Header) {
		for k, v := range o.Headers {
			h.Set(k, v)
		}
		if o.Key != "" {
			h.Set("Authorization", "Bearer "+o.Key)
		}
	}}
	if o.OpenAI {
		t.Rewrite = newName
	}
	p, err := openaicompat.New(
		openaicompat.WithBaseURL(o.BaseURL),
		// The transport sends the key. The SDK must be given something, or it
		// takes one of another service from the environment.
		openaicompat.WithAPIKey("none"),
		openaicompat.WithHTTPClient(t.Client()),
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
		Language:     language,
		Decoder:      func() wire.Decoder { return chat.New() },
		Options:      o.options,
		EchoThinking: true,
		MaxOutput:    o.MaxOutput,
	}, nil
}

func (o Options) options(r model.Request) fantasy.ProviderOptions {
	opts := &openaicompat.ProviderOptions{}
	if o.Effort != "" {
		effort := sdk.ReasoningEffort(o.Effort)
		opts.ReasoningEffort = &effort
	}
	if key := CacheKey(r); o.OpenAI && key != "" {
		opts.ExtraBody = map[string]any{"prompt_cache_key": key}
	}
	return fantasy.ProviderOptions{openaicompat.Name: opts}
}

// maxCacheKey is the longest key of a prompt cache that OpenAI takes.
const maxCacheKey = 64

// CacheKey is the key by which OpenAI finds what it has kept of a conversation's
// requests, the same for all of them.
func CacheKey(r model.Request) string {
	if len(r.Key) <= maxCacheKey {
		return r.Key
	}
	sum := sha256.Sum256([]byte(r.Key))
	return hex.EncodeToString(sum[:])
}

// newName gives the reply budget the name that OpenAI's models of today demand.
func newName(body []byte, _ model.Request) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	limit, ok := fields["max_tokens"]
	if !ok {
		return body, nil
	}
	delete(fields, "max_tokens")
	fields["max_completion_tokens"] = limit
	return json.Marshal(fields)
}

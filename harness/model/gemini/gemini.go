// Package gemini is the adaptor for Google's Gemini interface.
//
// The SDK below it writes to the standard library's default logger, for one
// when both GEMINI_API_KEY and GOOGLE_API_KEY are set. A program with a screen
// must therefore discard that logger's output ([log.SetOutput]) before it makes
// a model.
package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"charm.land/fantasy"
	sdk "charm.land/fantasy/providers/google"

	"cairn/harness/model"
	"cairn/harness/model/wire"
)

// BaseURL is the service's address.
const BaseURL = "https://generativelanguage.googleapis.com"

// Options say how to reach the service.
type Options struct {
	// Provider is the first half of "provider/model"; empty means "gemini".
	// Other services speak the same interface.
	Provider   string
	Model, Key string
	// BaseURL is another address; empty means [BaseURL].
	BaseURL string
	// HTTP makes the round trips; nil means the default transport.
	HTTP http.RoundTripper
	// MaxOutput is the reply budget of requests that set none.
	MaxOutput int
	// Thoughts asks for summaries of the reasoning, which only models that
	// reason take.
	Thoughts bool
}

// New returns the model. It does not use the network.
func New(ctx context.Context, o Options) (model.Model, error) {
	if o.Provider == "" {
		o.Provider = "gemini"
	}
	if strings.Contains(o.Model, "claude") || strings.Contains(o.Model, "anthropic") {
		// The SDK takes such a name for a model on another platform of Google's.
		return nil, &model.Error{Kind: model.KindNotFound, Provider: o.Provider, Message: fmt.Sprintf("there is no model %q", model.Sentence(o.Model))}
	}
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1beta")
	if base == "" {
		base = BaseURL
	}
	t := &wire.Transport{
		Provider: o.Provider, Base: o.HTTP, Secrets: []string{o.Key}, Rewrite: o.rewrite,
		Auth: func(h http.Header) { h.Set("X-Goog-Api-Key", o.Key) },
	}
	p, err := sdk.New(sdk.WithGeminiAPIKey("none"), sdk.WithBaseURL(base+"/"), sdk.WithHTTPClient(t.Client()))
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
		Seal:      seal,
		Unseal:    unseal,
		Blocks:    true,
		File:      still,
		MaxOutput: o.MaxOutput,
	}, nil
}

func (o Options) options(model.Request) fantasy.ProviderOptions {
	if !o.Thoughts {
		return nil
	}
	yes := true
	return fantasy.ProviderOptions{sdk.Name: &sdk.ProviderOptions{ThinkingConfig: &sdk.ThinkingConfig{IncludeThoughts: &yes}}}
}

// rewrite mends what the SDK builds.
func (o Options) rewrite(body []byte, r model.Request) ([]byte, error) {
	body, err := tools(body, r)
	if err != nil || !wantsSignatures(o.Model) {
		return body, err
	}
	return signed(body)
}

// tools puts the whole schemas into a request.
func tools(body []byte, r model.Request) ([]byte, error) {
	if len(r.Tools) == 0 {
		return body, nil
	}
	list := make([]map[string]any, len(r.Tools))
	for i, t := range r.Tools {
		list[i] = map[string]any{"name": t.Name, "description": t.Description, "parametersJsonSchema": wire.Schema(t)}
	}
	return wire.SetField(body, "tools", []map[string]any{{"functionDeclarations": list}})
}

// sealed is the opaque data of a piece of reasoning.
type sealed struct {
	// Signature is bytes, encoded in base64.
	Signature []byte `json:"signature"`
}

func seal(meta fantasy.ProviderMetadata) json.RawMessage {
	m, ok := meta[sdk.Name].(*sdk.ReasoningMetadata)
	if !ok || m.Signature == "" {
		return nil
	}
	// Bytes always encode.
	raw, _ := json.Marshal(sealed{Signature: []byte(m.Signature)})
	return raw
}

func unseal(data json.RawMessage, callID string) fantasy.ProviderOptions {
	var s sealed
	if json.Unmarshal(data, &s) != nil || len(s.Signature) == 0 {
		return nil
	}
	return fantasy.ProviderOptions{sdk.Name: &sdk.ReasoningMetadata{Signature: string(s.Signature), ToolID: callID}}
}

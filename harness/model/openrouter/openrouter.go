// Package openrouter is the adaptor for OpenRouter, which passes requests on
// to the providers of many models.
package openrouter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	sdk "charm.land/fantasy/providers/openrouter"

	"cairn/harness/model"
	"cairn/harness/model/wire"
	"cairn/harness/model/wire/chat"
)

// BaseURL is the service's address.
const BaseURL = sdk.DefaultURL

// Options say how to reach the service.
type Options struct {
	// Provider is the first half of "provider/model"; empty means "openrouter".
	Provider string
	// Model is "vendor/model".
	Model, Key string
	// BaseURL is another address; empty means [BaseURL].
	BaseURL string
	// HTTP makes the round trips; nil means the default transport.
	HTTP http.RoundTripper
	// MaxOutput is the reply budget of requests that set none.
	MaxOutput int
	// Effort asks for reasoning: "", "low", "medium" or "high".
	Effort string
}

// New returns the model. It does not use the network.
func New(ctx context.Context, o Options) (model.Model, error) {
	if o.Provider == "" {
		o.Provider = "openrouter"
	}
	vendor, _, _ := strings.Cut(o.Model, "/")
	t := &wire.Transport{Provider: o.Provider, Base: o.HTTP, Secrets: []string{o.Key}, Auth: func(h http.Header) {
		h.Set("Authorization", "Bearer "+o.Key)
		h.Set("X-Title", "cairn")
	}}
	if vendor == "anthropic" {
		t.Rewrite = inBlocks
	}
	if o.BaseURL != "" {
		to, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
		if err != nil {
			return nil, &model.Error{Kind: model.KindConfig, Provider: o.Provider, Message: "the base URL is not a URL"}
		}
		t.Base = moved{to: to, next: o.HTTP}
	}
	p, err := sdk.New(sdk.WithAPIKey("none"), sdk.WithHTTPClient(t.Client()))
	if err != nil {
		return nil, fmt.Errorf("set up %s: %w", o.Provider, err)
	}
	language, err := p.LanguageModel(ctx, o.Model)
	if err != nil {
		return nil, fmt.Errorf("set up %s/%s: %w", o.Provider, o.Model, err)
	}
	w := &wire.Wire{
		Provider: o.Provider, Model: o.Model,
		// What one vendor sealed, another refuses.
		Issuer:    o.Provider + "/" + vendor,
		Language:  language,
		Decoder:   func() wire.Decoder { return chat.New() },
		Options:   o.options,
		Seal:      seal,
		Unseal:    unseal,
		MaxOutput: o.MaxOutput,
	}
	if vendor == "anthropic" {
		w.Blocks = true
		w.CacheMark = anthropic.NewProviderCacheControlOptions(&anthropic.ProviderCacheControlOptions{CacheControl: anthropic.CacheControl{Type: "ephemeral"}})
	}
	return w, nil
}

func (o Options) options(model.Request) fantasy.ProviderOptions {
	opts := &sdk.ProviderOptions{}
	if o.Effort != "" {
		effort := sdk.ReasoningEffort(o.Effort)
		opts.Reasoning = &sdk.ReasoningOptions{Effort: &effort}
	}
	return fantasy.ProviderOptions{sdk.Name: opts}
}

// moved sends requests for [BaseURL] to another address: the SDK knows only
// its own.
type moved struct {
	to   *url.URL
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (m moved) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	_, path, _ := strings.Cut(r.URL.Path, "/v1")
	r.URL = m.to.JoinPath(path)
	r.Host = ""
	next := m.next
	if next == nil {
		next = wire.Shared()
	}
	return next.RoundTrip(r)
}

// sealed is the opaque data of a piece of reasoning, in the form of the vendor
// that sealed it.
type sealed struct {
	Signature string   `json:"signature,omitempty"`
	Google    string   `json:"google,omitempty"`
	Item      string   `json:"item,omitempty"`
	Encrypted string   `json:"encrypted,omitempty"`
	Summary   []string `json:"summary,omitempty"`
}

func seal(meta fantasy.ProviderMetadata) json.RawMessage {
	var s sealed
	for _, v := range meta {
		switch m := v.(type) {
		case *anthropic.ReasoningOptionMetadata:
			s.Signature = m.Signature
		case *google.ReasoningMetadata:
			s.Google = m.Signature
		case *openai.ResponsesReasoningMetadata:
			if m.EncryptedContent != nil {
				s = sealed{Item: m.ItemID, Encrypted: *m.EncryptedContent, Summary: m.Summary}
			}
		}
	}
	if s.Signature == "" && s.Google == "" && s.Encrypted == "" {
		return nil
	}
	// Strings always encode.
	raw, _ := json.Marshal(s)
	return raw
}

func unseal(data json.RawMessage, callID string) fantasy.ProviderOptions {
	var s sealed
	if json.Unmarshal(data, &s) != nil {
		return nil
	}
	switch {
	case s.Signature != "":
		return fantasy.ProviderOptions{anthropic.Name: &anthropic.ReasoningOptionMetadata{Signature: s.Signature}}
	case s.Google != "":
		return fantasy.ProviderOptions{google.Name: &google.ReasoningMetadata{Signature: s.Google, ToolID: callID}}
	case s.Encrypted != "":
		return fantasy.ProviderOptions{openai.Name: &openai.ResponsesReasoningMetadata{ItemID: s.Item, EncryptedContent: &s.Encrypted, Summary: s.Summary}}
	}
	return nil
}

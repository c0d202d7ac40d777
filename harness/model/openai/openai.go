// Package openai is the adaptor for OpenAI's own service. It speaks chat
// completions, the one format that every server behind OPENAI_BASE_URL has.
package openai

import (
	"context"
	"net/http"
	"strings"

	"cairn/harness/model"
	"cairn/harness/model/compat"
)

// BaseURL is the service's address.
const BaseURL = "https://api.openai.com/v1"

// Options say how to reach the service.
type Options struct {
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
	base := strings.TrimRight(o.BaseURL, "/")
	if base == "" {
		base = BaseURL
	}
	return compat.New(ctx, compat.Options{
		Provider: "openai", Model: o.Model, Key: o.Key, BaseURL: base, HTTP: o.HTTP,
		MaxOutput: o.MaxOutput, Effort: o.Effort, CacheKey: base == BaseURL,
	})
}

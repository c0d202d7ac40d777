package choose

import (
	"cmp"
	"context"
	"strings"

	"cairn/harness/model"
	"cairn/harness/model/catalogue"
	"cairn/harness/model/embed"
	"cairn/harness/model/gemini"
	"cairn/harness/model/openai"
	"cairn/harness/model/openrouter"
)

// Embedder returns the model "provider/model" that embeds texts, with the keys and
// addresses that conversations have. It does not use the network, but may have to
// fetch a key. Errors are [*model.Error].
func (e Env) Embedder(ctx context.Context, id string) (*embed.Model, error) {
	e = e.filled()
	p, name, wrong := e.embedding(id)
	if wrong != nil {
		return nil, wrong
	}
	key, err := e.key(ctx, p)
	if err != nil {
		return nil, asError(err)
	}
	o := embed.Options{Provider: p.ID, Model: name, Key: key, BaseURL: e.baseURL(p), Wire: embed.OpenAI, HTTP: e.HTTP}
	o.Info = e.Catalogue.Info(p.ID + "/" + name)
	o.Info.ID = p.ID + "/" + name
	switch p.Kind {
	case catalogue.Gemini:
		o.Wire, o.BaseURL = embed.Gemini, cmp.Or(o.BaseURL, gemini.BaseURL)
	case catalogue.OpenRouter:
		o.BaseURL = cmp.Or(o.BaseURL, openrouter.BaseURL)
	case catalogue.OpenAI:
		o.BaseURL = cmp.Or(o.BaseURL, openai.BaseURL)
	default:
		if o.BaseURL == "" {
			return nil, config("%s has no address; put its base URL into the configuration", p.ID)
		}
	}
	return embed.New(o), nil
}

// Embeds returns the full name of a model that embeds texts, or an error that says
// why it cannot: the provider is not known, has no embeddings, or needs a key.
func (e Env) Embeds(id string) (string, error) {
	e = e.filled()
	p, name, err := e.embedding(id)
	if err != nil {
		return "", err
	}
	return p.ID + "/" + name, e.keyed(p)
}

// embedding resolves the name of a model that embeds texts.
func (e Env) embedding(id string) (catalogue.Provider, string, *model.Error) {
	provider, name, split := strings.Cut(strings.TrimSpace(id), "/")
	p, known := e.Catalogue.Provider(strings.ToLower(provider))
	switch {
	case !split || provider == "" || name == "":
		return p, "", config("%q names no model; an embedding model is named %q, such as %q", model.Sentence(id), "provider/model", "openai/text-embedding-3-small")
	case !known:
		_, _, err := e.resolve(id)
		return p, "", asError(err)
	case p.Kind == catalogue.Anthropic || p.Kind == catalogue.Offline:
		return p, "", config("%s has no embedding models; use those of openai, gemini, openrouter or a local server, such as %q", p.ID, "ollama/nomic-embed-text")
	}
	return p, name, nil
}

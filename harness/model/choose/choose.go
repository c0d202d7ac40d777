// Package choose turns "provider/model" into a model that is ready to be
// asked, with keys and addresses from the environment and the configuration.
// The one thing to know: nothing here uses the network, but [Env.Local], which
// looks for servers on this machine.
package choose

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"cairn/harness/model"
	"cairn/harness/model/anthropic"
	"cairn/harness/model/catalogue"
	"cairn/harness/model/compat"
	"cairn/harness/model/gemini"
	"cairn/harness/model/offline"
	"cairn/harness/model/openai"
	"cairn/harness/model/openrouter"
)

// Env is where keys, addresses and models come from.
type Env struct {
	// Getenv looks an environment variable up; nil finds none.
	Getenv func(name string) string
	// Key returns a provider's key from the configuration, empty if there is
	// none. The environment wins over it. May be nil.
	Key func(provider string) string
	// Keys are kept apart from both, and are asked last; nil has none.
	Keys Keys
	// BaseURLs are addresses from the configuration by provider. The
	// environment wins over them.
	BaseURLs map[string]string
	// Catalogue knows the models; nil means one without overrides.
	Catalogue *catalogue.Catalogue
	// HTTP makes the round trips; nil means the default transport.
	HTTP http.RoundTripper
	// Patience is how long local servers are looked for; 0 means 150 ms.
	Patience time.Duration
	// Effort asks models that reason for it: "", "low", "medium" or "high".
	Effort string
	// Fallback are the models to fall back on, "provider/model", in order.
	Fallback []string
	// Health remembers which models failed lately; nil means that each model
	// that is built remembers for itself.
	Health *model.Health
}

// Keys are keys of providers that are kept somewhere, such as in the keyring of the
// system.
type Keys interface {
	// Where says where a provider's key is, in words, empty if there is none. It
	// does not ask for the key, and takes no time.
	Where(provider string) string
	// Key returns one that is there. It may take seconds.
	Key(ctx context.Context, provider string) (string, error)
}

// Build returns the model "provider/model", decorated: idle watch, waiting
// notice, retries and cost, with the models of [Env.Fallback] to fall back on but
// those whose key is missing; see [Env.Ready]. Model names may hold slashes. A
// provider alone means its default model; a name without provider is looked up in
// the catalogue. Errors are [*model.Error].
func Build(ctx context.Context, id string, e Env) (model.Model, model.Info, error) {
	ids := []string{id}
	for _, other := range e.Fallback {
		if err, ok := model.AsError(e.Ready(other)); !ok || err.Kind != model.KindAuth {
			ids = append(ids, other)
		}
	}
	return Chain(ctx, ids, e)
}

// Chain returns the first of several models with the others to fall back on. The
// info is the first one's and knows of the others. A model that is named again
// counts once, and the built-in model, which does not fail, has no others.
func Chain(ctx context.Context, ids []string, e Env) (model.Model, model.Info, error) {
	e = e.filled()
	var members []model.Member
	for n, id := range ids {
		m, err := e.member(ctx, id)
		if err != nil {
			if n > 0 {
				err.Message = fmt.Sprintf("the fallback %q: %s", model.Sentence(id), err.Message)
			}
			return nil, model.Info{}, err
		}
		if !slices.ContainsFunc(members, func(k model.Member) bool { return k.Info.ID == m.Info.ID }) {
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return nil, model.Info{}, config("no model is named")
	}
	info := members[0].Info
	if info.ID == offline.ID {
		return members[0].Model, info, nil
	}
	if len(members) == 1 {
		return model.Retry{Next: members[0].Model}, info, nil
	}
	for _, m := range members[1:] {
		info.Fallbacks = append(info.Fallbacks, m.Info)
	}
	return model.Retry{Next: &model.Fallback{Members: members, Health: e.Health}}, info, nil
}

// member returns one model, decorated with everything but retries.
func (e Env) member(ctx context.Context, id string) (model.Member, *model.Error) {
	p, name, err := e.resolve(id)
	if err != nil {
		return model.Member{}, asError(err)
	}
	if p.Kind == catalogue.Offline {
		return model.Member{Model: offline.New(), Info: offline.Info()}, nil
	}
	info := e.Catalogue.Info(p.ID + "/" + name)
	key, err := e.key(ctx, p)
	if err != nil {
		return model.Member{}, asError(err)
	}
	m, err := e.adaptor(ctx, p, name, key, info)
	if err != nil {
		return model.Member{}, asError(err)
	}
	return model.Member{Model: attempt(m, info, p.ID), Info: info}, nil
}

// asError returns err as what all errors here are.
func asError(err error) *model.Error {
	if e, ok := model.AsError(err); ok {
		own := *e
		return &own
	}
	return &model.Error{Kind: model.KindConfig, Message: model.Sentence(err.Error()), Cause: err}
}

// attempt puts around a bare model what every one of them needs for one attempt.
func attempt(m model.Model, info model.Info, provider string) model.Model {
	return model.Waiting{Next: model.Known{Next: model.Idle{Next: m, Provider: provider}, Info: info}}
}

func (e Env) filled() Env {
	if e.Getenv == nil {
		e.Getenv = func(string) string { return "" }
	}
	if e.Catalogue == nil {
		e.Catalogue = catalogue.New(catalogue.Overrides{})
	}
	return e
}

// resolve finds the provider and the name of a model.
func (e Env) resolve(id string) (catalogue.Provider, string, error) {
	provider, name, split := strings.Cut(strings.TrimSpace(id), "/")
	p, known := e.Catalogue.Provider(strings.ToLower(provider))
	switch {
	case known && split && name != "":
		return p, name, nil
	case known && p.Default != "":
		return p, p.Default, nil
	case known:
		return p, "", config("name a model of %s, as in %q", p.ID, p.ID+"/MODEL")
	case !split:
		if p, ok := e.withModel(provider); ok {
			return p, provider, nil
		}
	}
	msg := fmt.Sprintf("there is no provider %q", model.Sentence(provider))
	if near := e.Catalogue.SuggestProvider(strings.ToLower(provider)); near != "" {
		return p, "", config("%s; did you mean %q?", msg, strings.TrimSuffix(near+"/"+name, "/"))
	}
	return p, "", config("%s; a model is named %q, such as %q", msg, "provider/model", "openai/gpt-5.6-sol")
}

// withModel finds the first provider that has a model of that name: those with
// a key before those without.
func (e Env) withModel(name string) (catalogue.Provider, bool) {
	var found catalogue.Provider
	for _, p := range e.Catalogue.Providers() {
		for _, m := range p.Models {
			if m.ID != p.ID+"/"+name {
				continue
			}
			if e.keyed(p) == nil {
				return p, true
			}
			if found.ID == "" {
				found = p
			}
		}
	}
	return found, found.ID != ""
}

// given returns a provider's key of the environment or the configuration, and
// where it is from; both are empty if there is none.
func (e Env) given(p catalogue.Provider) (key, from string) {
	for _, v := range p.KeyVars {
		if key := strings.TrimSpace(e.Getenv(v)); key != "" {
			return key, v
		}
	}
	if e.Key != nil {
		if key := strings.TrimSpace(e.Key(p.ID)); key != "" {
			return key, "configuration"
		}
	}
	return "", ""
}

// keyFrom says where a provider's key is from, empty if there is none.
func (e Env) keyFrom(p catalogue.Provider) string {
	_, from := e.given(p)
	if from == "" && e.Keys != nil {
		from = e.Keys.Where(p.ID)
	}
	return from
}

// keyed returns nil if a provider has the key that it needs, or an error that names
// the variable to set. One at another address may do without.
func (e Env) keyed(p catalogue.Provider) error {
	if len(p.KeyVars) == 0 || e.baseURL(p) != p.BaseURL || e.keyFrom(p) != "" {
		return nil
	}
	return &model.Error{
		Kind: model.KindAuth, Provider: p.ID,
		Message: fmt.Sprintf("no key; set %s, or run: cairn models keys set %s", strings.Join(p.KeyVars, " or "), p.ID),
	}
}

// key returns a provider's key, empty if it needs none; see [Env.keyed]. It may
// have to be fetched.
func (e Env) key(ctx context.Context, p catalogue.Provider) (string, error) {
	if key, _ := e.given(p); key != "" {
		return key, nil
	}
	if e.Keys != nil && e.Keys.Where(p.ID) != "" {
		key, err := e.Keys.Key(ctx, p.ID)
		if err != nil {
			return "", &model.Error{Kind: model.KindAuth, Provider: p.ID, Message: model.Sentence(err.Error()), Cause: err}
		}
		return key, nil
	}
	return "", e.keyed(p)
}

// baseURL returns a provider's address, empty for the adaptor's own.
func (e Env) baseURL(p catalogue.Provider) string {
	if p.BaseVar != "" {
		if v := strings.TrimSpace(e.Getenv(p.BaseVar)); v != "" {
			if p.ID == "ollama" {
				return ollamaURL(v)
			}
			return v
		}
	}
	if v := strings.TrimSpace(e.BaseURLs[p.ID]); v != "" {
		return v
	}
	return p.BaseURL
}

// ollamaURL reads OLLAMA_HOST, which may lack the scheme, the host, the port
// or the path, and may be the address that the server listens on.
func ollamaURL(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	scheme, rest, _ := strings.Cut(host, "://")
	rest, path, _ := strings.Cut(strings.TrimRight(rest, "/"), "/")
	name, port := rest, ""
	if i := strings.LastIndex(rest, ":"); i >= 0 && !strings.HasSuffix(rest, "]") {
		name, port = rest[:i], rest[i+1:]
	}
	switch name {
	case "", "0.0.0.0", "[::]":
		name = "127.0.0.1"
	}
	if port == "" {
		port = "11434"
		if scheme == "https" {
			port = "443"
		}
	}
	if path == "" {
		path = "v1"
	}
	return scheme + "://" + name + ":" + port + "/" + path
}

// adaptor returns the bare model.
func (e Env) adaptor(ctx context.Context, p catalogue.Provider, name, key string, info model.Info) (model.Model, error) {
	base := e.baseURL(p)
	levels := p.Efforts[info.ID]
	effort := e.Effort
	if !info.Reasoning || len(levels) > 0 && !slices.Contains(levels, effort) {
		effort = ""
	}
	switch p.Kind {
	case catalogue.Anthropic:
		return anthropic.New(ctx, anthropic.Options{
			Provider: p.ID, Model: name, Key: key, BaseURL: base, HTTP: e.HTTP, MaxOutput: info.MaxOutput,
			Effort: effort, Adaptive: len(levels) > 0,
		})
	case catalogue.OpenAI:
		return openai.New(ctx, openai.Options{Provider: p.ID, Model: name, Key: key, BaseURL: base, HTTP: e.HTTP, Effort: effort})
	case catalogue.Gemini:
		return gemini.New(ctx, gemini.Options{Provider: p.ID, Model: name, Key: key, BaseURL: base, HTTP: e.HTTP, Thoughts: info.Reasoning})
	case catalogue.OpenRouter:
		if base == openrouter.BaseURL {
			base = ""
		}
		return openrouter.New(ctx, openrouter.Options{Provider: p.ID, Model: name, Key: key, BaseURL: base, HTTP: e.HTTP, Effort: effort})
	case catalogue.Compat:
		if base == "" {
			return nil, config("%s has no address; put its base URL into the configuration", p.ID)
		}
		return compat.New(ctx, compat.Options{Provider: p.ID, Model: name, Key: key, BaseURL: strings.TrimRight(base, "/"), HTTP: e.HTTP, Effort: effort})
	default:
		return nil, config("no adaptor speaks to a provider of the kind %q", p.Kind)
	}
}

func config(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.KindConfig, Message: fmt.Sprintf(format, args...)}
}

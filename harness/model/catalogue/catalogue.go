// Package catalogue knows providers and their models: addresses, windows and
// prices, from the data embedded in charm.land/catwalk and from the user's
// configuration. The one thing to know: the data is of the day of a release.
// A model that is missing is not wrong, only unknown.
package catalogue

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/embedded"

	"cairn/harness/model"
)

// Kind says which adaptor speaks to a provider.
type Kind string

// The kinds of providers.
const (
	Anthropic  Kind = "anthropic"
	OpenAI     Kind = "openai"
	Gemini     Kind = "gemini"
	OpenRouter Kind = "openrouter"
	Compat     Kind = "compat"
	Offline    Kind = "offline"
)

// Provider is one service or kind of server.
type Provider struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// BaseURL is the usual address; empty means the adaptor's own.
	BaseURL string `json:"base_url,omitempty"`
	// BaseVar and KeyVars name the environment variables of another address
	// and of the key, the preferred one first. Without KeyVars no key is needed.
	BaseVar string   `json:"base_var,omitempty"`
	KeyVars []string `json:"key_vars,omitempty"`
	// Default is the model to use when none is named, as in "provider/Default".
	Default string       `json:"default,omitempty"`
	Models  []model.Info `json:"models,omitempty"`
	// Efforts are the levels of reasoning that a model takes, by its id; a
	// model that is missing takes none or does not tell.
	Efforts map[string][]string `json:"efforts,omitempty"`
	// Local says that it runs on this machine or network.
	Local bool `json:"local,omitempty"`
}

// Overrides are the user's additions and corrections.
type Overrides struct {
	// Providers are added, or replace the filled-in fields of the known one of
	// that id. A provider without a kind is an OpenAI-compatible server.
	Providers []Provider
	// Models are added, or replace the non-zero fields of the known one of
	// that id ("provider/model"). A price that is set makes prices known.
	Models []model.Info
	// Reads says of models ("provider/model") what they can be given, whatever
	// else is known of them.
	Reads map[string]Reads
}

// Reads says whether a model is given images and PDF documents. Nil leaves it to
// what is known.
type Reads struct{ Images, Documents *bool }

// Catalogue is safe for concurrent use. The data is decoded at first use.
type Catalogue struct {
	load func() map[string]Provider
}

// New returns a catalogue with overrides.
func New(o Overrides) *Catalogue {
	return &Catalogue{load: sync.OnceValue(func() map[string]Provider { return merged(o) })}
}

// main are the providers whose keys are looked for, in this order.
var main = []string{"anthropic", "openai", "gemini", "openrouter"} //nolint:gochecknoglobals // a table that nobody changes

// Main returns the ids of the providers whose default model is used when a key
// for them is found, in order of preference.
func Main() []string { return slices.Clone(main) }

// builtin are the providers with variables of their own and the local servers.
var builtin = []Provider{ //nolint:gochecknoglobals // a table that nobody changes
	{ID: "anthropic", Kind: Anthropic, BaseVar: "ANTHROPIC_BASE_URL", KeyVars: []string{"ANTHROPIC_API_KEY"}},
	{ID: "openai", Kind: OpenAI, BaseVar: "OPENAI_BASE_URL", KeyVars: []string{"OPENAI_API_KEY"}},
	{ID: "gemini", Kind: Gemini, BaseVar: "GOOGLE_GEMINI_BASE_URL", KeyVars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
	{ID: "openrouter", Kind: OpenRouter, BaseVar: "OPENROUTER_BASE_URL", KeyVars: []string{"OPENROUTER_API_KEY"}},
	{ID: "ollama", Name: "Ollama", Kind: Compat, Local: true, BaseURL: "http://127.0.0.1:11434/v1", BaseVar: "OLLAMA_HOST"},
	{ID: "lmstudio", Name: "LM Studio", Kind: Compat, Local: true, BaseURL: "http://127.0.0.1:1234/v1", BaseVar: "LMSTUDIO_BASE_URL"},
	{ID: "llamacpp", Name: "llama.cpp", Kind: Compat, Local: true, BaseURL: "http://127.0.0.1:8080/v1", BaseVar: "LLAMACPP_BASE_URL"},
	{ID: "vllm", Name: "vLLM", Kind: Compat, Local: true, BaseURL: "http://127.0.0.1:8000/v1", BaseVar: "VLLM_BASE_URL"},
	{ID: "offline", Name: "Built-in, without weights", Kind: Offline, Local: true, Default: "cairn"},
}

// merged builds the providers by id.
func merged(o Overrides) map[string]Provider {
	all := map[string]Provider{}
	for _, c := range embedded.GetAll() {
		if p, ok := convert(c); ok {
			all[p.ID] = p
		}
	}
	for _, p := range builtin {
		all[p.ID] = overlaid(all[p.ID], p)
	}
	for _, p := range o.Providers {
		base := all[p.ID]
		if base.Kind == "" && p.Kind == "" {
			p.Kind = Compat
		}
		all[p.ID] = overlaid(base, p)
	}
	for _, i := range o.Models {
		i.OwnWindow, i.OwnMaxOutput = i.Window > 0, i.MaxOutput > 0
		amend(all, i.ID, func(list []model.Info) []model.Info { return withModel(list, i) })
	}
	for id, r := range o.Reads {
		amend(all, id, func(list []model.Info) []model.Info { return r.over(list, id) })
	}
	return all
}

// amend changes what is known of the model "provider/model", whose provider has to
// be known. A model that is not is added as what is assumed of it.
func amend(all map[string]Provider, id string, change func([]model.Info) []model.Info) {
	provider, _, ok := strings.Cut(id, "/")
	p, known := all[provider]
	if !ok || !known {
		return
	}
	if !slices.ContainsFunc(p.Models, func(m model.Info) bool { return m.ID == id }) {
		p.Models = append(slices.Clip(p.Models), assumed(id, p))
	}
	p.Models = change(p.Models)
	all[provider] = p
}

// over returns a list whose model of that id reads what r says.
func (r Reads) over(list []model.Info, id string) []model.Info {
	list = slices.Clone(list)
	for n := range list {
		if m := &list[n]; m.ID == id {
			if r.Images != nil {
				m.Images = *r.Images
			}
			if r.Documents != nil {
				m.Documents = *r.Documents
			}
		}
	}
	return list
}

// overlaid returns base with the filled-in fields of p.
func overlaid(base, p Provider) Provider {
	base.ID = p.ID
	base.Name = cmp.Or(p.Name, base.Name, p.ID)
	base.Kind = cmp.Or(p.Kind, base.Kind)
	base.BaseURL = cmp.Or(p.BaseURL, base.BaseURL)
	base.BaseVar = cmp.Or(p.BaseVar, base.BaseVar)
	base.Default = cmp.Or(p.Default, base.Default)
	base.Local = base.Local || p.Local
	if len(p.KeyVars) > 0 {
		base.KeyVars = p.KeyVars
	}
	for _, m := range p.Models {
		base.Models = withModel(base.Models, m)
	}
	return base
}

// withModel adds a model to a list or overlays the one with its id.
func withModel(list []model.Info, i model.Info) []model.Info {
	list = slices.Clone(list)
	i.PriceKnown = i.PriceKnown || i.InputPrice > 0 || i.OutputPrice > 0
	at := slices.IndexFunc(list, func(m model.Info) bool { return m.ID == i.ID })
	if at < 0 {
		i.Window = cmp.Or(i.Window, model.UnknownWindow)
		return append(list, i)
	}
	m := list[at]
	m.Name = cmp.Or(i.Name, m.Name)
	m.Window = cmp.Or(i.Window, m.Window)
	m.MaxOutput = cmp.Or(i.MaxOutput, m.MaxOutput)
	m.OwnWindow, m.OwnMaxOutput = m.OwnWindow || i.OwnWindow, m.OwnMaxOutput || i.OwnMaxOutput
	m.Images, m.Documents = m.Images || i.Images, m.Documents || i.Documents
	m.Reasoning, m.Local = m.Reasoning || i.Reasoning, m.Local || i.Local
	if i.PriceKnown {
		m.PriceKnown = true
		m.InputPrice, m.OutputPrice = i.InputPrice, i.OutputPrice
		m.CacheReadPrice, m.CacheWritePrice = cmp.Or(i.CacheReadPrice, i.InputPrice), cmp.Or(i.CacheWritePrice, i.InputPrice)
	}
	list[at] = m
	return list
}

// Provider returns a provider by id.
func (c *Catalogue) Provider(id string) (Provider, bool) {
	p, ok := c.load()[id]
	return p, ok
}

// Known reports whether a provider of that id is known.
func (c *Catalogue) Known(provider string) bool {
	_, ok := c.Provider(provider)
	return ok
}

// Providers returns all providers: those of [Main] first, then the others by
// id.
func (c *Catalogue) Providers() []Provider {
	all := c.load()
	list := make([]Provider, 0, len(all))
	for _, p := range all {
		list = append(list, p)
	}
	rank := func(id string) int {
		if i := slices.Index(main, id); i >= 0 {
			return i
		}
		return len(main)
	}
	slices.SortFunc(list, func(a, b Provider) int {
		return cmp.Or(cmp.Compare(rank(a.ID), rank(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Lookup returns what is known of the model "provider/model".
func (c *Catalogue) Lookup(id string) (model.Info, bool) {
	provider, _, _ := strings.Cut(id, "/")
	p, ok := c.Provider(provider)
	if !ok {
		return model.Info{}, false
	}
	for _, m := range p.Models {
		if m.ID == id {
			m.Local = m.Local || p.Local
			return m, true
		}
	}
	return model.Info{}, false
}

// Info returns what is known of the model "provider/model", or what is assumed
// of one that is not known: the usual window and no price. Of the two providers
// all of whose models see it is assumed that a new one does, too.
func (c *Catalogue) Info(id string) model.Info {
	if i, ok := c.Lookup(id); ok {
		return i
	}
	provider, _, _ := strings.Cut(id, "/")
	p, _ := c.Provider(provider)
	return assumed(id, p)
}

// assumed is what is assumed of a model of p that is not known.
func assumed(id string, p Provider) model.Info {
	provider, name, _ := strings.Cut(id, "/")
	sees := provider == "anthropic" || provider == "gemini"
	return model.Info{ID: id, Name: name, Window: model.UnknownWindow, Local: p.Local, Images: sees, Documents: sees}
}

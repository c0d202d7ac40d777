package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"cairn/harness/model"
	"cairn/harness/model/catalogue"
	chooser "cairn/harness/model/choose"
	"cairn/harness/tool"
)

// Environment is where keys, addresses and models come from under the
// configuration.
func (s Setup) Environment() chooser.Env {
	reads := map[string]catalogue.Reads{}
	o := catalogue.Overrides{Reads: reads}
	bases := map[string]string{}
	for name, p := range s.Config.Providers {
		bases[name] = p.BaseURL
		o.Providers = append(o.Providers, catalogue.Provider{ID: name, Kind: catalogue.Kind(p.Kind), BaseURL: p.BaseURL})
	}
	for name, limits := range s.Config.Models {
		o.Models = append(o.Models, overridden(name, limits))
		reads[name] = catalogue.Reads{Images: limits.Images, Documents: limits.Documents}
	}
	env := chooser.Env{
		Getenv: s.Getenv, BaseURLs: bases, Catalogue: catalogue.New(o), Fallback: s.Config.Fallback, Health: &model.Health{},
		Key: func(provider string) string { return s.Config.Providers[provider].APIKey },
	}
	if s.Keys != nil {
		env.Keys = s.Keys
	}
	return env
}

// overridden is what a configuration says of a model.
func overridden(name string, l ModelLimits) model.Info {
	i := model.Info{ID: name, PriceKnown: l.InputPrice != nil || l.OutputPrice != nil}
	override(&i.Window, l.Window)
	override(&i.MaxOutput, l.MaxOutput)
	override(&i.InputPrice, l.InputPrice)
	override(&i.OutputPrice, l.OutputPrice)
	return i
}

func override[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// NewModels returns what answers questions about the models of env.
func NewModels(env chooser.Env) Models { return models{env} }

type models struct{ env chooser.Env }

// List implements [Models].
func (m models) List(context.Context) ([]ModelInfo, error) {
	var list []ModelInfo
	for _, p := range m.env.Catalogue.Providers() {
		from := m.env.KeyFrom(p.ID)
		for _, i := range p.Models {
			list = append(list, ModelInfo{
				Name: i.ID, Window: i.Window, MaxOutput: i.MaxOutput, InputPrice: i.InputPrice, OutputPrice: i.OutputPrice,
				PriceKnown: i.PriceKnown, Key: from, Local: p.Local,
			})
		}
	}
	return list, nil
}

// Default implements [Models].
func (m models) Default(ctx context.Context) (name, why string, err error) {
	name, why = m.env.Default(ctx)
	return name, why, nil
}

// Validate implements [Models].
func (m models) Validate(_ context.Context, name string) (string, error) { return m.env.Resolve(name) }

// Ready implements [Models].
func (m models) Ready(_ context.Context, name string) error { return m.env.Ready(name) }

// Accepts implements [Models].
func (m models) Accepts(_ context.Context, name, mediaType string) error {
	return m.env.Accepts(name, mediaType)
}

// Keys implements [Models]: it tells of the providers that are looked for, and of
// others that have a key.
func (m models) Keys(context.Context) ([]KeyState, error) {
	var list []KeyState
	for _, p := range m.env.Catalogue.Providers() {
		from := m.env.KeyFrom(p.ID)
		if from == "" && !slices.Contains(catalogue.Main(), p.ID) {
			continue
		}
		s := KeyState{Provider: p.ID, From: from, Address: m.env.Address(p.ID)}
		if len(p.KeyVars) > 0 {
			s.Wanted = p.KeyVars[0]
		}
		list = append(list, s)
	}
	return list, nil
}

// Servers implements [Models].
func (m models) Servers(ctx context.Context) ([]Server, error) {
	var list []Server
	for _, s := range m.env.Local(ctx) {
		list = append(list, Server{Name: s.Provider, Address: s.BaseURL, Models: s.Models})
	}
	return list, nil
}

// Secrets are the keys and passwords that this start knows of, by name: those
// of environ, as [os.Environ] gives it, and those of the configuration. No
// tool's result may hold one of them, and no call carries one away unasked.
func (s Setup) Secrets(environ []string) map[string]string {
	more := map[string]string{}
	environ = slices.Clone(environ)
	for name, p := range s.Config.Providers {
		environ = append(environ, "providers."+name+".base_url="+p.BaseURL) // it may hold a password
		if key := cmp.Or(p.APIKey, p.exposed); key != "" {
			more["providers."+name+".api_key"] = key
		}
	}
	for i, a := range s.Config.Engines {
		environ = append(environ, fmt.Sprintf("engines.%d=%s", i, a.Text)) // it may hold a password, too
	}
	for _, server := range s.Config.MCP {
		maps.Copy(more, server.secrets)
	}
	return tool.SecretsOf(environ, more)
}

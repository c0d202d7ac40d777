package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/catwalk/pkg/catwalk"

	"cairn/harness/model"
)

// convert translates a provider of the embedded data; ok is false for those
// that need another way to log in than a key.
func convert(c catwalk.Provider) (Provider, bool) {
	p := Provider{ID: string(c.ID), Name: c.Name, Default: c.DefaultLargeModelID}
	switch c.Type {
	case catwalk.TypeAnthropic:
		p.Kind = Anthropic
	case catwalk.TypeOpenAI:
		p.Kind = OpenAI
		if c.ID != catwalk.InferenceProviderOpenAI {
			p.Kind = Compat
		}
	case catwalk.TypeGoogle:
		p.Kind = Gemini
	case catwalk.TypeOpenRouter:
		p.Kind = OpenRouter
		if c.ID != catwalk.InferenceProviderOpenRouter {
			p.Kind = Compat
		}
	case catwalk.TypeOpenAICompat, catwalk.TypeVercel:
		p.Kind = Compat
	default:
		return Provider{}, false
	}
	if c.ID == catwalk.InferenceProviderCopilot {
		return Provider{}, false
	}
	if v, ok := strings.CutPrefix(c.APIKey, "$"); ok {
		p.KeyVars = []string{v}
	}
	if v, ok := strings.CutPrefix(c.APIEndpoint, "$"); ok {
		p.BaseVar = v
	} else {
		p.BaseURL = c.APIEndpoint
	}
	p.Efforts = map[string][]string{}
	for _, m := range c.Models {
		p.Models = append(p.Models, info(p.ID, m))
		if len(m.ReasoningLevels) > 0 {
			p.Efforts[p.ID+"/"+m.ID] = m.ReasoningLevels
		}
	}
	return p, true
}

// info translates a model of the embedded data.
func info(provider string, m catwalk.Model) model.Info {
	i := model.Info{
		ID: provider + "/" + m.ID, Name: cmp.Or(m.Name, m.ID),
		Window: int(m.ContextWindow), MaxOutput: int(m.DefaultMaxTokens),
		InputPrice: m.CostPer1MIn, OutputPrice: m.CostPer1MOut,
		PriceKnown: m.CostPer1MIn > 0 || m.CostPer1MOut > 0 || strings.HasSuffix(m.ID, ":free"),
		Images:     m.SupportsImages, Reasoning: m.CanReason,
	}
	i.Documents = i.Images && documents(provider, m.ID)
	i.Window = cmp.Or(i.Window, model.UnknownWindow)
	i.CacheReadPrice, i.CacheWritePrice = cachePrices(m)
	return i
}

// documents reports whether the models of a provider that see read PDF documents,
// too: those of the three whose interfaces take them. OpenRouter reads documents
// for all other models by a service that costs extra, which nobody asked for.
func documents(provider, name string) bool {
	if provider == string(catwalk.InferenceProviderOpenRouter) {
		vendor, _, _ := strings.Cut(name, "/")
		return slices.Contains([]string{"anthropic", "openai", "google"}, vendor)
	}
	return slices.Contains([]string{"anthropic", "openai", "gemini"}, provider)
}

// cachePrices reads the prices of cached tokens. The data has two fields that
// its providers fill differently: for most the "in" one is the price of
// writing and the "out" one that of reading, for some the "in" one is that of
// reading. Reading is never dearer than plain input and writing never cheaper;
// what is missing costs as much as plain input, so no cost is told too low.
func cachePrices(m catwalk.Model) (read, write float64) {
	read, write = m.CostPer1MIn, m.CostPer1MIn
	for _, price := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		if price > 0 && price < read {
			read = price
		}
	}
	return read, max(write, m.CostPer1MInCached)
}

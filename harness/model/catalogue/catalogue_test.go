package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"cairn/harness/model"
	"cairn/harness/model/catalogue"
)

func TestMainProvidersHaveUsableDefaults(t *testing.T) {
	t.Parallel()
	c := catalogue.New(catalogue.Overrides{})
	for i, p := range c.Providers()[:4] {
		if p.ID != catalogue.Main()[i] {
			t.Errorf("provider %d is %s, want %s", i, p.ID, catalogue.Main()[i])
		}
		info, ok := c.Lookup(p.ID + "/" + p.Default)
		if !ok || info.Window < 100_000 || !info.PriceKnown || info.InputPrice <= 0 || len(p.KeyVars) == 0 {
			t.Errorf("%s: %+v", p.ID, info)
		}
	}
	for _, id := range []string{"ollama", "lmstudio", "llamacpp", "vllm"} {
		if p, ok := c.Provider(id); !ok || !p.Local || p.BaseURL == "" || len(p.KeyVars) != 0 {
			t.Errorf("%s: %+v", id, p)
		}
	}
}

func TestEveryProviderCanBeSpokenTo(t *testing.T) {
	t.Parallel()
	kinds := []catalogue.Kind{catalogue.Anthropic, catalogue.OpenAI, catalogue.Gemini, catalogue.OpenRouter, catalogue.Compat, catalogue.Offline}
	for _, p := range catalogue.New(catalogue.Overrides{}).Providers() {
		if !slices.Contains(kinds, p.Kind) || p.Name == "" || p.Kind == catalogue.Compat && p.BaseURL == "" && p.BaseVar == "" {
			t.Errorf("%+v", p)
		}
		for _, m := range p.Models {
			if !strings.HasPrefix(m.ID, p.ID+"/") || m.Window <= 0 {
				t.Errorf("%+v", m)
			}
			if m.CacheReadPrice > m.InputPrice || m.CacheWritePrice < m.InputPrice {
				t.Errorf("the prices of cached tokens of %s cannot be: %+v", m.ID, m)
			}
		}
	}
}

func TestUnknownModelsAreUsable(t *testing.T) {
	t.Parallel()
	c := catalogue.New(catalogue.Overrides{})
	if _, ok := c.Lookup("openai/of-tomorrow"); ok {
		t.Fatal("it is known")
	}
	if i := c.Info("openai/of-tomorrow"); i.Window != model.UnknownWindow || i.PriceKnown || i.Local {
		t.Errorf("%+v", i)
	}
	if i := c.Info("ollama/qwen/2.5"); i.ID != "ollama/qwen/2.5" || i.Name != "qwen/2.5" || !i.Local {
		t.Errorf("%+v", i)
	}
	if c.Known("opnai") || !c.Known("openai") {
		t.Error("known providers are mixed up")
	}
}

func TestWhatModelsReadIsKnown(t *testing.T) {
	t.Parallel()
	c := catalogue.New(catalogue.Overrides{Models: []model.Info{{ID: "ollama/llava", Images: true}, {ID: "ollama/papers", Documents: true}}})
	for id, want := range map[string][2]bool{
		"openai/gpt-4o": {true, true}, "openai/o3-mini": {false, false}, "openai/of-tomorrow": {false, false},
		"anthropic/claude-sonnet-4-6": {true, true}, "anthropic/of-tomorrow": {true, true},
		"gemini/gemini-2.5-pro": {true, true}, "gemini/of-tomorrow": {true, true},
		"ollama/llama3": {false, false}, "ollama/llava": {true, false}, "ollama/papers": {false, true},
	} {
		if i := c.Info(id); i.Images != want[0] || i.Documents != want[1] {
			t.Errorf("%s: images %v, documents %v", id, i.Images, i.Documents)
		}
	}
	yes, no := true, false
	told := catalogue.New(catalogue.Overrides{
		Models: []model.Info{{ID: "anthropic/of-tomorrow", Window: 9000}, {ID: "ollama/llava", Window: 4000, Images: true}},
		Reads: map[string]catalogue.Reads{
			"openai/gpt-4o": {Images: &no}, "ollama/llava": {Documents: &yes}, "ollama/new": {Images: &yes}, "nowhere/x": {Images: &yes}, "gemini/of-tomorrow": {Documents: &no},
		},
	})
	for id, want := range map[string][2]bool{
		"openai/gpt-4o": {false, true}, "ollama/llava": {true, true}, "ollama/new": {true, false}, "ollama/other": {false, false},
		"anthropic/of-tomorrow": {true, true}, "gemini/of-tomorrow": {true, false},
	} {
		if i := told.Info(id); i.Images != want[0] || i.Documents != want[1] || i.Window == 0 {
			t.Errorf("%s, as it was told: %+v", id, i)
		}
	}
	if i := told.Info("ollama/new"); !i.Local || i.Name != "new" || i.OwnWindow {
		t.Errorf("a new one is %+v", i)
	}
	p, _ := c.Provider("openrouter")
	for _, m := range p.Models {
		vendor, _, _ := strings.Cut(strings.TrimPrefix(m.ID, "openrouter/"), "/")
		if main := vendor == "anthropic" || vendor == "openai" || vendor == "google"; m.Documents != (main && m.Images) {
			t.Errorf("%s: images %v, documents %v", m.ID, m.Images, m.Documents)
		}
	}
}

func TestOverridesAddAndCorrect(t *testing.T) {
	t.Parallel()
	c := catalogue.New(catalogue.Overrides{
		Providers: []catalogue.Provider{
			{ID: "house", BaseURL: "http://10.0.0.1/v1", Default: "big"},
			{ID: "openai", BaseURL: "https://proxy.example.org/v1"},
		},
		Models: []model.Info{
			{ID: "house/big", Window: 9000},
			{ID: "openai/gpt-4o", Window: 1234},
			{ID: "openai/of-tomorrow", InputPrice: 1, OutputPrice: 2},
			{ID: "nowhere/x", Window: 1},
		},
	})
	house, ok := c.Provider("house")
	if !ok || house.Kind != catalogue.Compat || house.Default != "big" || c.Info("house/big").Window != 9000 {
		t.Errorf("%+v", house)
	}
	openai, _ := c.Provider("openai")
	if openai.BaseURL != "https://proxy.example.org/v1" || openai.Kind != catalogue.OpenAI || len(openai.KeyVars) != 1 {
		t.Errorf("%+v", openai)
	}
	known := catalogue.New(catalogue.Overrides{}).Info("openai/gpt-4o")
	if got := c.Info("openai/gpt-4o"); got.Window != 1234 || got.InputPrice != known.InputPrice || !got.PriceKnown {
		t.Errorf("%+v", got)
	}
	if got := c.Info("openai/gpt-4o"); !got.OwnWindow || got.OwnMaxOutput || known.OwnWindow || !c.Info("house/big").OwnWindow {
		t.Errorf("who configured what is lost: %+v", got)
	}
	if got := c.Info("openai/of-tomorrow"); got.OwnWindow || !got.PriceKnown || got.Window != model.UnknownWindow {
		t.Errorf("%+v", got)
	}
}

func TestMisspeltNamesHaveANearest(t *testing.T) {
	t.Parallel()
	c := catalogue.New(catalogue.Overrides{})
	for misspelt, want := range map[string]string{
		"opnai": "openai", "antropic": "anthropic", "gemeni": "gemini", "olama": "ollama", "openruoter": "openrouter", "zzzzzzzz": "", "": "",
	} {
		if got := c.SuggestProvider(misspelt); got != want {
			t.Errorf("%q: %q, want %q", misspelt, got, want)
		}
	}
	if got := c.SuggestModel("anthropic/claude-sonet-4-6"); got != "anthropic/claude-sonnet-4-6" {
		t.Errorf("got %q", got)
	}
	if got := catalogue.Nearest("ab", []string{"ba", "abc"}); got != "ba" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		catalogue.New(catalogue.Overrides{}).Providers()
	}
}

package overlay

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"cairn/ui/uitest/stored"
)

const pasted = "sk-ant-0123456789abcdef"

// shop has models, and keeps keys.
type shop struct {
	kept map[string]string
	err  error
}

func (s *shop) source() ModelSource {
	return ModelSource{
		List: func(context.Context) ([]ModelLine, error) {
			return []ModelLine{
				{Name: "anthropic/claude-opus-4-8", Title: "Claude Opus 4.8", Window: 1_000_000, InputPrice: 5, OutputPrice: 25, PriceKnown: true, Images: true, Documents: true, Reasoning: true, NeedsKey: true},
				{Name: "anthropic/claude-sonnet-4-6", Title: "Claude Sonnet 4.6", Window: 200_000, InputPrice: 3, OutputPrice: 15, PriceKnown: true, Images: true, Documents: true, NeedsKey: true},
				{Name: "openai/gpt-5.6-sol", Title: "GPT-5.6 Sol", Window: 400_000, InputPrice: 1.25, OutputPrice: 10, PriceKnown: true, Images: true, Reasoning: true, Key: "OPENAI_API_KEY"},
				{Name: "openai/gpt-5.6-mini", Window: 400_000, InputPrice: .25, OutputPrice: 2, PriceKnown: true, Key: "OPENAI_API_KEY"},
				{Name: "own/千问-大", Window: 0, Key: "configuration"},
				{Name: "offline/cairn", Window: 32_000, Local: true},
			}, nil
		},
		Found: func(context.Context) ([]ModelLine, error) {
			return []ModelLine{{Name: "ollama/qwen3:8b", Window: 128_000, Local: true}}, nil
		},
		SaveKey: func(_ context.Context, provider, key string) (string, error) {
			if s.err != nil {
				return "", s.err
			}
			if s.kept == nil {
				s.kept = map[string]string{}
			}
			s.kept[provider] = key
			return "the system keyring", nil
		},
		Doubt: func(provider, key string) string {
			if provider == "anthropic" && !strings.HasPrefix(key, "sk-ant-") {
				return "keys of anthropic begin with sk-ant-, and this one does not"
			}
			return ""
		},
	}
}

func modelsOver(tb testing.TB, s *shop, w, h int, change ...func(*ModelsConfig)) *driven[Models] {
	tb.Helper()
	c := ModelsConfig{
		ModelSource: s.source(), Current: "openai/gpt-5.6-sol", Theme: theme(tb),
		Recent: func(context.Context) ([]string, error) { return []string{"openai/gpt-5.6-mini", "gone/model"}, nil },
	}
	for _, f := range change {
		f(&c)
	}
	m, cmd := NewModels(context.Background(), c).Open()
	out := &driven[Models]{tb: tb, v: m, w: w, h: h}
	return out.send(tea.WindowSizeMsg{Width: w, Height: h}).run(cmd)
}

func TestGoldenModels(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		s := modelsOver(t, &shop{}, w, h)
		golden(t, "models", s.v.View(w, h), w, h)
		golden(t, "models-filtered", s.types("anthropic").v.View(w, h), w, h)
		golden(t, "models-key", s.keys("enter").v.View(w, h), w, h)
		s.paste("sk-wrong-0123456789").keys("enter")
		golden(t, "models-key-doubted", s.v.View(w, h), w, h)
		golden(t, "models-none", modelsOver(t, &shop{}, w, h).types("zzz").v.View(w, h), w, h)
	}
}

func TestModelsAreThoseInUseThenRecentThenUsable(t *testing.T) {
	t.Parallel()
	s := modelsOver(t, &shop{}, 120, 40)
	s.chosen("openai/gpt-5.6-sol").shows("in use", "openai/gpt-5.6-mini", "ollama/qwen3:8b", "needs a key")
	s.keys("down").chosen("gpt-5.6-mini").keys("ctrl+end").chosen("anthropic/claude-sonnet-4-6")
	v := s.view()
	if a, b := strings.Index(v, "ollama/qwen3:8b"), strings.Index(v, "anthropic/claude-opus"); a < 0 || b < a {
		t.Errorf("a model that lacks a key comes before one that does not:\n%s", v)
	}
}

func TestAModelSaysWhatItIsAndCosts(t *testing.T) {
	t.Parallel()
	s := modelsOver(t, &shop{}, 120, 40).types("opus")
	s.shows("1M", "$5 / $25", "images documents reasoning", "no key of anthropic", "$5 in, $25 out per million", "Claude Opus 4.8")
	s.keys("ctrl+u").types("reasoning images").shows("gpt-5.6-sol", "claude-opus").hides("gpt-5.6-mini", "sonnet")
	s.keys("ctrl+u").types("千问").shows("price ?", "?")
	modelsOver(t, &shop{}, 40, 10).types("sol").chosen("openai/gpt-5.6-sol")
}

func TestAModelWithAKeyIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	s := modelsOver(t, &shop{}, 80, 24).types("mini").keys("enter")
	if s.intent != (UseModel{Name: "openai/gpt-5.6-mini"}) {
		t.Errorf("it wants %#v", s.intent)
	}
}

func TestAMissingKeyIsAskedForInPlaceAndNeverShown(t *testing.T) {
	t.Parallel()
	k := &shop{}
	s := modelsOver(t, k, 80, 24).types("opus").keys("enter").shows("Key of anthropic", "anthropic/claude-opus-4-8", "paste it here")
	s.paste("  \n"+pasted+" \r\n").shows(strings.Repeat("*", len(pasted))).hides(pasted, "sk-ant", pasted[len(pasted)-6:])
	s.keys("enter")
	if k.kept["anthropic"] != pasted {
		t.Errorf("kept %q", k.kept)
	}
	if s.intent != (UseModel{Name: "anthropic/claude-opus-4-8", Note: "the key of anthropic is kept in the system keyring"}) {
		t.Errorf("it wants %#v", s.intent)
	}
}

func TestADoubtfulKeyIsAskedForTwice(t *testing.T) {
	t.Parallel()
	k := &shop{}
	s := modelsOver(t, k, 80, 24).types("sonnet").keys("enter").paste("odd-0123456789abcdef").keys("enter")
	s.shows("Keys of anthropic begin with sk-ant-", "enter again keeps", "keep it all the same").hides("odd-0123")
	if k.kept != nil {
		t.Fatalf("it was kept unasked: %v", k.kept)
	}
	if s.types("x").keys("enter"); k.kept != nil { // another one is doubted anew
		t.Fatalf("a changed one was kept unasked: %v", k.kept)
	}
	if s.keys("enter"); k.kept["anthropic"] != "odd-0123456789abcdefx" {
		t.Errorf("kept %v", k.kept)
	}
}

func TestAKeyThatCannotBeKeptIsNotLost(t *testing.T) {
	t.Parallel()
	k := &shop{err: errors.New("write secrets.toml: no space left on device")}
	s := modelsOver(t, k, 80, 24).types("opus").keys("enter").paste(pasted).keys("enter")
	s.shows("Write secrets.toml: no space left on device.", strings.Repeat("*", len(pasted)))
	k.err = nil
	if s.keys("enter"); k.kept["anthropic"] != pasted {
		t.Errorf("kept %v", k.kept)
	}
}

func TestAskingForAKeyIsLeftAndClearedByKeys(t *testing.T) {
	t.Parallel()
	s := modelsOver(t, &shop{}, 80, 24).types("opus").keys("enter").shows("Key of anthropic").keys("enter").shows("Paste the key first.")
	s.paste(pasted).keys("ctrl+u").shows("paste it here").keys("esc").shows("Models", "opus")
	if s.intent != nil {
		t.Errorf("it wants %#v", s.intent)
	}
	if s.keys("esc"); s.intent != (Closed{}) {
		t.Errorf("it wants %#v", s.intent)
	}
}

func TestAKeyThatIsThereIsReplaced(t *testing.T) {
	t.Parallel()
	k := &shop{}
	s := modelsOver(t, k, 80, 24).types("sol").keys("ctrl+r").shows("There is a key from OPENAI_API_KEY. It wins over what is kept here.")
	if s.paste("sk-0123456789abcdef").keys("enter"); k.kept["openai"] == "" {
		t.Errorf("kept %v", k.kept)
	}
	modelsOver(t, k, 80, 24).types("offline").keys("ctrl+r").shows("offline needs no key")
}

func TestAModelChosenElsewhereIsUsedOrItsKeyAskedFor(t *testing.T) {
	t.Parallel()
	modelsOver(t, &shop{}, 80, 24, func(c *ModelsConfig) { c.Choose = "anthropic/claude-opus-4-8" }).shows("Key of anthropic")
}

func TestAnotherKeyIsAskedForOnceWithWhatWasWrong(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openai/gpt-5.6-mini", "openai/not-listed"} {
		k := &shop{}
		s := modelsOver(t, k, 80, 24, func(c *ModelsConfig) { c.Choose, c.Refused = name, "openai: the key is wrong" })
		s.shows("Key of openai", "Openai: the key is wrong.", name)
		if s.paste("sk-0123456789abcdef").keys("enter"); k.kept["openai"] == "" {
			t.Errorf("%s: kept %v", name, k.kept)
		}
		s = modelsOver(t, &shop{}, 80, 24, func(c *ModelsConfig) { c.Choose, c.Refused = name, "openai: the key is wrong" })
		if s.keys("esc", "ctrl+r"); strings.Contains(s.v.View(80, 24), "is wrong") {
			t.Error("it is said of another key, too")
		}
	}
}

func TestModelsThatCannotBeListedAreASentence(t *testing.T) {
	t.Parallel()
	modelsOver(t, &shop{}, 80, 24, func(c *ModelsConfig) {
		c.List = func(context.Context) ([]ModelLine, error) { return nil, errors.New("the catalogue is damaged") }
		c.Found = nil
	}).shows("the catalogue is damaged")
}

func TestModelsHoldTheirSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		s := modelsOver(t, &shop{}, w, h)
		holds(rt, s.v.View(w, h), w, h)
		for range 4 {
			s.keys(rapid.SampledFrom([]string{"ctrl+end", "enter", "ctrl+r", "pgdown", "esc", "o"}).Draw(rt, "key"))
			s.paste(strings.Repeat("k", rapid.IntRange(0, 300).Draw(rt, "paste")))
			holds(rt, s.v.View(w, h), w, h)
			holds(rt, s.v.View(h, w), h, w)
		}
	})
}

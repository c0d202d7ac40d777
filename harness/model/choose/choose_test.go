package choose_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/catalogue"
	"cairn/harness/model/choose"
	"cairn/harness/model/modeltest"
	"cairn/harness/model/offline"
)

type vars map[string]string

func env(v vars) choose.Env {
	return choose.Env{Getenv: func(name string) string { return v[name] }}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// firstRequest asks the model id and returns the request that leaves.
func firstRequest(t *testing.T, e choose.Env, id string) *http.Request {
	t.Helper()
	var got *http.Request
	e.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	m, _, err := choose.Build(t.Context(), id, e)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("hi")}}, func(model.Delta) {})
	if failed, ok := model.AsError(err); !ok || failed.Kind != model.KindNotFound || got == nil {
		t.Fatalf("%s: %v", id, err)
	}
	return got
}

func TestIDsAreResolved(t *testing.T) {
	t.Parallel()
	keys := vars{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
	for id, want := range map[string]string{
		"openai/gpt-4o":                 "openai/gpt-4o",
		"OpenAI/gpt-4o":                 "openai/gpt-4o",
		" anthropic/claude-sonnet-4-6 ": "anthropic/claude-sonnet-4-6",
		"anthropic/claude-of-tomorrow":  "anthropic/claude-of-tomorrow",
		"openrouter/anthropic/claude-x": "openrouter/anthropic/claude-x",
		"gemini/gemini-x":               "gemini/gemini-x",
		"ollama/library/qwen:7b":        "ollama/library/qwen:7b",
		"claude-sonnet-4-6":             "anthropic/claude-sonnet-4-6",
		"offline":                       "offline/cairn",
		"offline/cairn":                 "offline/cairn",
	} {
		m, info, err := choose.Build(t.Context(), id, env(keys))
		if err != nil || m == nil || info.ID != want {
			t.Errorf("%q: %v, %q, want %q", id, err, info.ID, want)
		}
	}
	p, _ := catalogue.New(catalogue.Overrides{}).Provider("openai")
	if _, info, err := choose.Build(t.Context(), "openai", env(keys)); err != nil || info.ID != "openai/"+p.Default || info.Window == 0 {
		t.Errorf("a provider alone: %v, %+v", err, info)
	}
}

func TestAChainFallsBack(t *testing.T) {
	t.Parallel()
	e := env(vars{"OPENAI_API_KEY": "k"})
	e.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusPaymentRequired, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	m, info, err := choose.Chain(t.Context(), []string{"openai/gpt-4o", "offline"}, e)
	if err != nil || info.ID != "openai/gpt-4o" {
		t.Fatalf("%v, %+v", err, info)
	}
	reply, err := m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("list files")}}, func(model.Delta) {})
	if err != nil || reply.Model != offline.ID {
		t.Fatalf("%v, %q", err, reply.Model)
	}
	if _, _, err := choose.Chain(t.Context(), []string{"offline", "opnai/x"}, e); err == nil {
		t.Fatal("a misspelt member is no error")
	}
}

func TestConfiguredFallbacksAreAsked(t *testing.T) {
	t.Parallel()
	e := env(vars{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
	e.Fallback, e.Health = []string{"openai/gpt-4o", "anthropic"}, &model.Health{}
	var hosts []string
	e.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Host)
		status := http.StatusServiceUnavailable
		if r.URL.Host == "api.anthropic.com" {
			status = http.StatusBadRequest
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	m, info, err := choose.Build(t.Context(), "openai/gpt-4o", e)
	if err != nil || len(info.Fallbacks) != 1 || info.ID != "openai/gpt-4o" || !strings.HasPrefix(info.Fallbacks[0].ID, "anthropic/claude") {
		t.Fatalf("%v, %+v", err, info)
	}
	r := model.Request{Messages: []harness.Message{harness.UserText("hi")}}
	var news []string
	_, err = m.Stream(t.Context(), r, func(d model.Delta) {
		if d.Kind == model.DeltaRetry {
			news = append(news, d.Err.Model+" then "+d.Model)
		}
	})
	refused, ok := model.AsError(err)
	if !ok || refused.Model != info.Fallbacks[0].ID || !slices.Equal(hosts, []string{"api.openai.com", "api.anthropic.com"}) ||
		!slices.Equal(news, []string{"openai/gpt-4o then " + info.Fallbacks[0].ID}) {
		t.Fatalf("%v, asked %q, %q", err, hosts, news)
	}
	// What is built later remembers, too.
	if m, _, err = choose.Build(t.Context(), "openai/gpt-4o", e); err != nil {
		t.Fatal(err)
	}
	hosts = nil
	if _, err = m.Stream(t.Context(), r, func(model.Delta) {}); err == nil || !slices.Equal(hosts, []string{"api.anthropic.com"}) {
		t.Fatalf("%v, asked %q", err, hosts)
	}
	if _, info, err = choose.Build(t.Context(), "offline", e); err != nil || info.ID != offline.ID || info.Fallbacks != nil {
		t.Fatalf("%v, %+v", err, info)
	}
}

func TestAFallbackWithoutAKeyIsLeftOut(t *testing.T) {
	t.Parallel()
	e := env(vars{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
	e.Fallback = []string{"gemini", "anthropic"}
	_, info, err := choose.Build(t.Context(), "openai/gpt-4o", e)
	if err != nil || len(info.Fallbacks) != 1 || !strings.HasPrefix(info.Fallbacks[0].ID, "anthropic/") {
		t.Fatalf("%+v, %v", info, err)
	}
	if err := e.Ready("anthropic"); err != nil {
		t.Error(err)
	}
	refused, ok := model.AsError(e.Ready("gemini"))
	if !ok || refused.Kind != model.KindAuth || !strings.Contains(refused.Error(), "no key; set GEMINI_API_KEY or GOOGLE_API_KEY") {
		t.Errorf("%v", refused)
	}
	// A name that is no model is a mistake, and the model itself needs its key.
	e.Fallback = []string{"opnai/x"}
	_, _, err = choose.Build(t.Context(), "openai/gpt-4o", e)
	if refused, ok = model.AsError(err); !ok || refused.Kind != model.KindConfig || !strings.Contains(refused.Error(), `the fallback "opnai/x": there is no provider`) {
		t.Errorf("%v", err)
	}
	e.Fallback = nil
	if _, _, err = choose.Build(t.Context(), "gemini", e); err == nil {
		t.Error("a model without its key is built")
	}
	if _, _, err = choose.Chain(t.Context(), []string{"openai/gpt-4o", "gemini"}, e); err == nil || !strings.Contains(err.Error(), `the fallback "gemini": no key`) {
		t.Errorf("a list of one's own is cut: %v", err)
	}
	if _, _, err := choose.Chain(t.Context(), nil, e); err == nil {
		t.Fatal("no model is no error")
	}
}

func TestFilesThatAModelDoesNotReadNameOnesThatDo(t *testing.T) {
	t.Parallel()
	e := env(vars{"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "OPENROUTER_API_KEY": "k"})
	if err := e.Accepts("openai/gpt-4o", "image/png"); err != nil {
		t.Error(err)
	}
	err := e.Accepts("openai/o3-mini", "application/pdf")
	var refused *model.MediaError
	if !errors.As(err, &refused) || len(refused.Instead) != 2 || !strings.HasPrefix(refused.Instead[0], "anthropic/") || !strings.HasPrefix(refused.Instead[1], "gemini/") {
		t.Errorf("%v, %+v", err, refused)
	}
	if err := env(nil).Accepts("ollama/llama3", "image/png"); err == nil || !strings.Contains(err.Error(), "ollama/llama3 reads no images") {
		t.Error(err)
	}
	if err := env(nil).Accepts("offline", "image/png"); err != nil {
		t.Error(err)
	}
	if err := env(nil).Accepts("opnai/x", "image/png"); err == nil {
		t.Error("an unknown provider reads everything")
	}
}

func TestWhatCannotBeBuiltIsExplained(t *testing.T) {
	t.Parallel()
	for id, c := range map[string]struct {
		kind model.ErrorKind
		says string
	}{
		"opnai/gpt-4o":    {model.KindConfig, `did you mean "openai/gpt-4o"?`},
		"antropic":        {model.KindConfig, `did you mean "anthropic"?`},
		"zzzzzzzzzz/x":    {model.KindConfig, `"provider/model"`},
		"":                {model.KindConfig, `"provider/model"`},
		"openai/gpt-4o":   {model.KindAuth, "set OPENAI_API_KEY"},
		"gemini/x":        {model.KindAuth, "set GEMINI_API_KEY or GOOGLE_API_KEY"},
		"ollama":          {model.KindConfig, `"ollama/MODEL"`},
		"ollama/":         {model.KindConfig, `"ollama/MODEL"`},
		"\x1b[31m/x":      {model.KindConfig, "[31m"},
		"gemini/claude-x": {model.KindNotFound, "no model"},
	} {
		e := env(nil)
		if c.kind == model.KindNotFound {
			e = env(vars{"GEMINI_API_KEY": "k"})
		}
		_, _, err := choose.Build(t.Context(), id, e)
		got, ok := model.AsError(err)
		if !ok || got.Kind != c.kind || !strings.Contains(got.Error(), c.says) || strings.Contains(got.Error(), "\x1b") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestAddressesAndKeysAreUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, base, suffix, key string
		dialect               modeltest.Dialect
		path, header, value   string
	}{
		{"openai/gpt-4o", "OPENAI_BASE_URL", "/v1/", "OPENAI_API_KEY", modeltest.OpenAI{}, "/v1/chat/completions", "Authorization", "Bearer secret-key"},
		{"anthropic/claude-x", "ANTHROPIC_BASE_URL", "/", "ANTHROPIC_API_KEY", modeltest.Anthropic{}, "/v1/messages", "X-Api-Key", "secret-key"},
		{"gemini/gemini-x", "GOOGLE_GEMINI_BASE_URL", "", "GOOGLE_API_KEY", modeltest.Gemini{}, "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "secret-key"},
		{"openrouter/a/b", "OPENROUTER_BASE_URL", "/api/v1", "OPENROUTER_API_KEY", modeltest.OpenAI{}, "/api/v1/chat/completions", "Authorization", "Bearer secret-key"},
		{"ollama/m", "OLLAMA_HOST", "", "", modeltest.OpenAI{}, "/v1/chat/completions", "Authorization", ""},
	} {
		svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
			a.Send(modeltest.Plain, c.dialect.Start(), c.dialect.Text("ok"), c.dialect.Finish("stop"), c.dialect.End())
		})
		url := svc.URL + c.suffix
		if c.id == "ollama/m" {
			url = strings.TrimPrefix(url, "http://")
		}
		m, _, err := choose.Build(t.Context(), c.id, env(vars{c.base: url, c.key: "secret-key"}))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("hi")}}, func(model.Delta) {})
		if err != nil || reply.Model != c.id {
			t.Errorf("%s: %v, %q", c.id, err, reply.Model)
			continue
		}
		_, header, path := svc.Last()
		if path != c.path || header.Get(c.header) != c.value {
			t.Errorf("%s: asked %s with %v", c.id, path, header)
		}
	}
}

// A provider of the configuration is called by its own name, whatever it speaks.
func TestAProviderOfTheConfigurationKeepsItsName(t *testing.T) {
	t.Parallel()
	for _, kind := range []catalogue.Kind{catalogue.OpenAI, catalogue.Anthropic, catalogue.Gemini, catalogue.OpenRouter, catalogue.Compat} {
		e := env(nil)
		e.Key = func(string) string { return "k" }
		e.Catalogue = catalogue.New(catalogue.Overrides{Providers: []catalogue.Provider{{ID: "own", Kind: kind, BaseURL: "http://127.0.0.1:1/v1"}}})
		e.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})
		m, _, err := choose.Build(t.Context(), "own/tiny", e)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		_, err = m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("hi")}}, func(model.Delta) {})
		if failed, ok := model.AsError(err); !ok || failed.Provider != "own" {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestKeysComeFromTheConfigurationLast(t *testing.T) {
	t.Parallel()
	e := env(vars{"OPENAI_API_KEY": "from-env"})
	e.Key = func(provider string) string { return "from-config-" + provider }
	if got := firstRequest(t, e, "openai/x").Header.Get("Authorization"); got != "Bearer from-env" {
		t.Errorf("openai: sent %q", got)
	}
	if got := firstRequest(t, e, "anthropic/x").Header.Get("X-Api-Key"); got != "from-config-anthropic" {
		t.Errorf("anthropic: sent %q", got)
	}
}

func TestTheFirstKeyDecidesTheDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vars vars
		want string
	}{
		{vars{"OPENROUTER_API_KEY": "k", "OPENAI_API_KEY": "k"}, "openai/"},
		{vars{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "anthropic/"},
		{vars{"GOOGLE_API_KEY": "k"}, "gemini/"},
		{vars{"OPENROUTER_API_KEY": "k"}, "openrouter/"},
	} {
		e := env(c.vars)
		e.HTTP = roundTrip(func(*http.Request) (*http.Response, error) {
			t.Error("the network was used")
			return nil, context.Canceled
		})
		if id, why := e.Default(t.Context()); !strings.HasPrefix(id, c.want) || why == "" {
			t.Errorf("%v: %s, %s", c.vars, id, why)
		}
	}
}

// models answers like a local server.
func models(t *testing.T, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if auth := r.Header.Get("Authorization"); r.URL.Path != "/v1/models" || auth != "" && !strings.HasPrefix(auth, "Basic ") { // that of the address
			t.Errorf("asked %s with %v", r.URL, r.Header)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Errorf("answer: %v", err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// alone makes all usual ports but those of the given variables lead nowhere.
func alone(v vars) choose.Env {
	all := vars{"OLLAMA_HOST": "http://127.0.0.1:1", "LMSTUDIO_BASE_URL": "http://127.0.0.1:1/v1", "LLAMACPP_BASE_URL": "http://127.0.0.1:1/v1", "VLLM_BASE_URL": "http://127.0.0.1:1/v1"}
	for k, x := range v {
		all[k] = x
	}
	e := env(all)
	e.Patience = time.Minute // a busy machine must not decide
	return e
}

func TestALocalServerIsFound(t *testing.T) {
	t.Parallel()
	if id, _ := alone(nil).Default(t.Context()); id != offline.ID {
		t.Errorf("without a server: %s", id)
	}
	vllm := models(t, `{"data":[{"id":"nomic-embed-text"},{"id":"org/qwen"}]}`)
	if id, why := alone(vars{"VLLM_BASE_URL": vllm + "/v1"}).Default(t.Context()); id != "vllm/org/qwen" || !strings.Contains(why, vllm) {
		t.Errorf("%s, %s", id, why)
	}
	secret := alone(vars{"VLLM_BASE_URL": strings.Replace(vllm, "://", "://ada:verysecret@", 1) + "/v1"})
	if id, why := secret.Default(t.Context()); id != "vllm/org/qwen" || strings.Contains(why, "verysecret") || !strings.Contains(why, strings.TrimPrefix(vllm, "http://")) {
		t.Errorf("%s, %s", id, why)
	}
	ollama := models(t, `{"data":[{"id":"llama"}]}`)
	e := alone(vars{"OLLAMA_HOST": ollama, "VLLM_BASE_URL": vllm + "/v1", "OPENAI_BASE_URL": ""})
	if id, _ := e.Default(t.Context()); id != "ollama/llama" {
		t.Errorf("got %s", id)
	}
	if found := e.Local(t.Context()); len(found) != 2 || found[1].Provider != "vllm" || len(found[1].Models) != 1 {
		t.Errorf("found %+v", found)
	}
	for _, body := range []string{`{"data":[]}`, `<html>`, `{"models":[]}`, `{"data":[{"id":"bge-embed"}]}`} {
		if id, _ := alone(vars{"LLAMACPP_BASE_URL": models(t, body) + "/v1"}).Default(t.Context()); id != offline.ID {
			t.Errorf("%s: %s", body, id)
		}
	}
}

func TestAServerBehindOpenAIsVariableNeedsNoKey(t *testing.T) {
	t.Parallel()
	e := alone(vars{"OPENAI_BASE_URL": models(t, `{"data":[{"id":"tiny"}]}`) + "/v1"})
	id, _ := e.Default(t.Context())
	if id != "openai/tiny" {
		t.Fatalf("got %s", id)
	}
	if _, info, err := choose.Build(t.Context(), id, e); err != nil || info.Window != model.UnknownWindow || info.PriceKnown {
		t.Fatalf("%v, %+v", err, info)
	}
}

func TestOllamasHostIsReadInEveryForm(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"127.0.0.1:9999": "http://127.0.0.1:9999/v1", "http://box:9999/": "http://box:9999/v1", ":9999": "http://127.0.0.1:9999/v1",
		"0.0.0.0": "http://127.0.0.1:11434/v1", "box": "http://box:11434/v1", "https://box": "https://box:443/v1",
		"[::1]:9999": "http://[::1]:9999/v1", "[::1]": "http://[::1]:11434/v1", "http://box:80/ollama/v1": "http://box:80/ollama/v1",
	} {
		if got := firstRequest(t, env(vars{"OLLAMA_HOST": host}), "ollama/m").URL.String(); got != want+"/chat/completions" {
			t.Errorf("%s: asked %s", host, got)
		}
	}
}

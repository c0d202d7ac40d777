package embed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness/model"
	"cairn/harness/model/catalogue"
	"cairn/harness/model/choose"
	"cairn/harness/model/embed"
)

const key = "sk-proj-0123456789abcdef"

// asked is a request as a server got it.
type asked struct {
	path   string
	header http.Header
	body   map[string]any
}

// serve answers every request with a text, and hands requests out.
func serve(t *testing.T, status int, answer string) (address string, got <-chan asked) {
	t.Helper()
	requests := make(chan asked, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{path: r.URL.Path, header: r.Header}
		data, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(data, &a.body)
		}
		if err != nil {
			t.Error(err)
		}
		requests <- a
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// env is where the keys and addresses of conversations are.
func env(vars map[string]string) choose.Env {
	return choose.Env{Getenv: func(name string) string { return vars[name] }}
}

func open(t *testing.T, e choose.Env, id string) *embed.Model {
	t.Helper()
	m, err := e.Embedder(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOpenAIGetsTextsAndGivesVectorsInTheirOrder(t *testing.T) {
	t.Parallel()
	address, got := serve(t, 200, `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":1000000,"total_tokens":1000000}}`)
	m := open(t, env(map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": address + "/v1/"}), "openai/text-embedding-3-small")
	r, err := m.Embed(t.Context(), []string{"first", "second"}, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.Vectors) != "[[0.6 0.8] [0 1]]" {
		t.Errorf("got %v", r.Vectors)
	}
	if r.Usage.Input != 1_000_000 || !r.Usage.CostKnown || math.Abs(r.Usage.Cost-0.02) > 1e-9 {
		t.Errorf("used %+v", r.Usage)
	}
	a := <-got
	if a.path != "/v1/embeddings" || a.header.Get("Authorization") != "Bearer "+key {
		t.Errorf("asked %s with %q", a.path, a.header.Get("Authorization"))
	}
	if a.body["model"] != "text-embedding-3-small" || a.body["dimensions"] != 512.0 || fmt.Sprint(a.body["input"]) != "[first second]" {
		t.Errorf("asked %v", a.body)
	}
}

func TestGeminiIsToldWhetherATextIsAQuestion(t *testing.T) {
	t.Parallel()
	address, got := serve(t, 200, `{"embeddings":[{"values":[1,0]}]}`)
	m := open(t, env(map[string]string{"GEMINI_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": address}), "gemini/gemini-embedding-001")
	for p, task := range map[embed.Purpose]string{embed.Document: "RETRIEVAL_DOCUMENT", embed.Query: "RETRIEVAL_QUERY"} {
		r, err := m.Embed(t.Context(), []string{"text"}, p)
		if err != nil || len(r.Vectors) != 1 || r.Usage.Input == 0 || !r.Usage.Incomplete {
			t.Fatalf("got %+v, %v", r, err)
		}
		a := <-got
		if a.path != "/v1beta/models/gemini-embedding-001:batchEmbedContents" || a.header.Get("X-Goog-Api-Key") != key {
			t.Errorf("asked %s", a.path)
		}
		if text := fmt.Sprint(a.body); !strings.Contains(text, task) || !strings.Contains(text, "models/gemini-embedding-001") {
			t.Errorf("asked %s", text)
		}
	}
}

func TestModelsGetWhatTheyWantInFrontOfAText(t *testing.T) {
	t.Parallel()
	address, got := serve(t, 200, `{"data":[{"embedding":[1,0]}]}`)
	m := open(t, env(map[string]string{"OLLAMA_HOST": address}), "ollama/nomic-embed-text:latest")
	for p, want := range map[embed.Purpose]string{embed.Document: "[search_document: text]", embed.Query: "[search_query: text]"} {
		if _, err := m.Embed(t.Context(), []string{"text"}, p); err != nil {
			t.Fatal(err)
		}
		a := <-got
		if fmt.Sprint(a.body["input"]) != want || a.body["dimensions"] != nil || a.header.Get("Authorization") != "" {
			t.Errorf("asked %v", a.body)
		}
	}
}

func TestWhatIsNoVectorOfATextIsRefused(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"zeros":      `{"data":[{"embedding":[0,0]},{"embedding":[0,1]}]}`,
		"no numbers": `{"data":[{"embedding":[1e39,0]},{"embedding":[0,1]}]}`,
		"too few":    `{"data":[{"embedding":[1,0]}]}`,
		"unlike":     `{"data":[{"embedding":[1,0]},{"embedding":[0,1,0]}]}`,
		"empty":      `{"data":[{"embedding":[]},{"embedding":[]}]}`,
		"twice":      `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[0,1]}]}`,
		"elsewhere":  `{"data":[{"index":0,"embedding":[1,0]},{"index":7,"embedding":[0,1]}]}`,
		"base64":     `{"data":[{"embedding":"AAAA"},{"embedding":"AAAA"}]}`,
		"a page":     `<html>` + key,
		"nothing":    ``,
	} {
		address, _ := serve(t, 200, answer)
		m := open(t, env(map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": address}), "openai/any")
		_, err := m.Embed(t.Context(), []string{"a", "b"}, embed.Document)
		e, ok := model.AsError(err)
		if !ok || e.Kind != model.KindProtocol || e.Provider != "openai" || strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRefusalsAreSortedAndTellNoKey(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]model.ErrorKind{401: model.KindAuth, 404: model.KindNotFound, 429: model.KindRateLimit, 500: model.KindServer, 302: model.KindProtocol} {
		address, _ := serve(t, status, `{"error":{"message":"not with `+key+`"}}`)
		m := open(t, env(map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": address}), "openai/any")
		_, err := m.Embed(t.Context(), []string{"a"}, embed.Document)
		if e, ok := model.AsError(err); !ok || e.Kind != kind || strings.Contains(err.Error(), key) {
			t.Errorf("%d: got %v", status, err)
		}
	}
	m := open(t, env(map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}), "ollama/any")
	if _, err := m.Embed(t.Context(), []string{"a"}, embed.Document); err == nil || !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("got %v", err)
	}
}

func TestTooMuchIsNotSent(t *testing.T) {
	t.Parallel()
	address, got := serve(t, 200, `{}`)
	m := open(t, env(map[string]string{"OLLAMA_HOST": address}), "ollama/any")
	for _, texts := range [][]string{nil, make([]string, embed.MaxTexts+1), {strings.Repeat("a", embed.MaxText+1)}} {
		if _, err := m.Embed(t.Context(), texts, embed.Document); err == nil {
			t.Errorf("%d texts were sent", len(texts))
		}
	}
	if len(got) != 0 {
		t.Error("something was sent")
	}
}

// flaky refuses some requests and then answers.
type flaky struct{ refusals, asked int }

func (f *flaky) RoundTrip(*http.Request) (*http.Response, error) {
	f.asked++
	status, body := 503, `{"error":{"message":"overloaded"}}`
	if f.asked > f.refusals {
		status, body = 200, `{"data":[{"embedding":[1]}]}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestWhatPassesIsTriedAgainWhereNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for refusals, want := range map[int]int{0: 1, 2: 3, 9: model.Attempts} {
			f := &flaky{refusals: refusals}
			e := env(nil)
			e.HTTP = f
			start := time.Now()
			_, err := open(t, e, "ollama/any").Patiently(t.Context(), []string{"a"}, embed.Document)
			if f.asked != want || (err == nil) != (refusals < model.Attempts) {
				t.Errorf("%d refusals: asked %d times in %s, %v", refusals, f.asked, time.Since(start), err)
			}
		}
		f := &flaky{refusals: 9}
		e := env(nil)
		e.HTTP = f
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := open(t, e, "ollama/any").Patiently(ctx, []string{"a"}, embed.Document); err == nil || f.asked != 1 {
			t.Errorf("asked %d times, %v", f.asked, err)
		}
		if _, err := open(t, e, "ollama/any").Embed(t.Context(), []string{"a"}, embed.Query); err == nil || f.asked != 2 {
			t.Errorf("asked %d times, %v", f.asked, err)
		}
	})
}

func TestProvidersWithoutEmbeddingsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"anthropic/claude": "anthropic has no embedding models; use those of",
		"offline/cairn":    "offline has no embedding models",
		"openay/text":      `did you mean "openai/text"`,
		"openai":           "names no model",
		"":                 "names no model",
		"openai/any":       "set OPENAI_API_KEY",
	} {
		_, err := env(nil).Embedder(t.Context(), id)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", id, err)
		}
		if _, other := env(nil).Embeds(id); other == nil || other.Error() != err.Error() {
			t.Errorf("%q: got %v and %v", id, err, other)
		}
	}
	if name, err := env(nil).Embeds("ollama/nomic-embed-text"); name != "ollama/nomic-embed-text" || err != nil {
		t.Errorf("got %q, %v", name, err)
	}
}

func TestThePriceIsTheCatalogues(t *testing.T) {
	t.Parallel()
	e := env(map[string]string{"OPENAI_API_KEY": key})
	if i := open(t, e, "openai/text-embedding-3-large").Info(); !i.PriceKnown || i.InputPrice != 0.13 || i.ID != "openai/text-embedding-3-large" {
		t.Errorf("got %+v", i)
	}
	if i := open(t, e, "openai/new").Info(); i.PriceKnown {
		t.Errorf("got %+v", i)
	}
	e.Catalogue = catalogue.New(catalogue.Overrides{Models: []model.Info{{ID: "openai/text-embedding-3-large", InputPrice: 7, PriceKnown: true}}})
	if i := open(t, e, "openai/text-embedding-3-large").Info(); i.InputPrice != 7 {
		t.Errorf("got %+v", i)
	}
	if i := open(t, env(nil), "ollama/any").Info(); !i.Local {
		t.Errorf("got %+v", i)
	}
}

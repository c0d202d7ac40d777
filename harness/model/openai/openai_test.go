package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/modeltest"
	"cairn/harness/model/openai"
)

func TestWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.OpenAI{}, ID: "openai/gpt-4o", Issuer: "openai",
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := openai.New(t.Context(), openai.Options{Model: "gpt-4o", Key: key, BaseURL: url + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}

func TestResponsesWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.Responses{}, ID: "openai/gpt-x", Issuer: "openai", ReasonAtEnd: true,
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := openai.New(t.Context(), openai.Options{Model: "gpt-x", Key: key, BaseURL: url + "/v1", Responses: true})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}

func TestTheCacheKeyIsTheConversationsAndNotTooLong(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpt-4o", "gpt-5.1-codex"} {
		keys := map[string]string{}
		for _, session := range []string{"s1", "s2", strings.Repeat("a", 128), strings.Repeat("a", 127) + "b"} {
			for range 2 {
				var body []byte
				m, err := openai.New(t.Context(), openai.Options{Model: name, Key: "k", HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
					var err error
					if body, err = io.ReadAll(r.Body); err != nil {
						return nil, err
					}
					return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
				})})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.Stream(t.Context(), model.Request{Key: session, Messages: []harness.Message{harness.UserText("hi")}}, func(model.Delta) {}); err == nil {
					t.Fatal("no error")
				}
				var sent struct {
					Key string `json:"prompt_cache_key"`
				}
				if err := json.Unmarshal(body, &sent); err != nil || sent.Key == "" || len(sent.Key) > 64 {
					t.Fatalf("%v, key %q", err, sent.Key)
				}
				if of, ok := keys[sent.Key]; ok && of != session {
					t.Errorf("%s: two conversations have the key %q", name, sent.Key)
				}
				keys[sent.Key] = session
			}
		}
		if len(keys) != 4 {
			t.Errorf("%s: keys %v", name, keys)
		}
	}
}

func TestModelsWithoutChatCompletionsAreAskedForResponses(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"gpt-5.1-codex": "/v1/responses", "gpt-5.5-pro": "/v1/responses", "gpt-4o": "/v1/chat/completions", "gpt-5.5": "/v1/chat/completions",
	} {
		var got, body string
		m, err := openai.New(t.Context(), openai.Options{Model: name, Key: "k", HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.Host + r.URL.Path
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = string(raw)
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Stream(t.Context(), model.Request{Key: "session", MaxOutput: 77, Messages: []harness.Message{harness.UserText("hi")}}, func(model.Delta) {})
		if err == nil || got != "api.openai.com"+path {
			t.Errorf("%s: %v, asked %s", name, err, got)
		}
		if !strings.Contains(body, `"prompt_cache_key":"session"`) || strings.Contains(body, `"max_tokens"`) ||
			!strings.Contains(body, `"max_completion_tokens":77`) && !strings.Contains(body, `"max_output_tokens":77`) {
			t.Errorf("%s: sent %s", name, body)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

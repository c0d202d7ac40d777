//go:build unix

package realtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cairn/harness/model/modeltest"
)

// strict is a model service that refuses what is longer than its window, in its
// provider's words.
type strict struct {
	*httptest.Server

	mu                sync.Mutex
	refused, answered int
	// most are the tokens of the largest request that was answered.
	most int
}

// refusedTokens is the window that the services turn out to have.
const refusedTokens = 12_000

func newStrict(t *testing.T, d modeltest.Dialect, words string) *strict {
	t.Helper()
	s := &strict{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program has gone
		}
		tokens := len(body) / 4
		s.mu.Lock()
		long := tokens > refusedTokens
		if long {
			s.refused++
		} else {
			s.answered++
			s.most = max(s.most, tokens)
		}
		s.mu.Unlock()
		if long {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, d.Refusal(http.StatusBadRequest, fmt.Sprintf(words, tokens, refusedTokens))) // the program may have gone
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, events := range [][]modeltest.Event{d.Start(), d.Text("It is well."), d.Finish("stop"), d.Usage(tokens, 0, 5, 0), d.End()} {
			for _, e := range events {
				_, _ = io.WriteString(w, modeltest.Plain(e)) // the program may have gone
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// counts returns what came since the last time.
func (s *strict) counts() (refused, answered, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refused, answered, most = s.refused, s.answered, s.most
	s.refused, s.answered, s.most = 0, 0, 0
	return refused, answered, most
}

// TestRefusalsTeachWindows lets five providers refuse a long request in their own
// words. The program learns the window from that, remembers it in another process
// and another session, and does not take it for that of another provider.
func TestRefusalsTeachWindows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, one, model, path string
		dialect                modeltest.Dialect
		words                  string
	}{
		"openai": {
			"openai", "one", "gpt-4o", "/v1",
			modeltest.OpenAI{},
			"This model's maximum context length is %[2]d tokens. However, your messages resulted in %[1]d tokens. Please reduce the length of the messages.",
		},
		"anthropic": {
			"anthropic", "one", "claude-sonnet-4-6", "",
			modeltest.Anthropic{},
			"prompt is too long: %[1]d tokens > %[2]d maximum",
		},
		"gemini": {
			"gemini", "one", "gemini-2.5-pro", "",
			modeltest.Gemini{},
			"The input token count (%[1]d) exceeds the maximum number of tokens allowed (%[2]d).",
		},
		"openrouter": {
			"openrouter", "openrouter", "meta-llama/llama-3.3-70b-instruct", "/v1",
			modeltest.OpenAI{},
			"This endpoint's maximum context length is %[2]d tokens. However, you requested about %[1]d tokens. Please reduce the length of either one.",
		},
		"llama.cpp": {
			"openai", "one", "llama-3.1-8b", "/v1",
			modeltest.OpenAI{},
			"the request exceeds the available context size. try increasing the context size or enable context shift (%[1]d tokens, n_ctx = %[2]d)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newStrict(t, c.dialect, c.words), newStrict(t, c.dialect, c.words)
			h := newHome(t)
			h.writes(filepath.Join(".config", "cairn", "config.toml"), fmt.Sprintf(
				"[providers.%[4]s]\nkind = %[1]q\nbase_url = %[2]q\napi_key = \"sk-1\"\n[providers.two]\nkind = %[1]q\nbase_url = %[3]q\napi_key = \"sk-2\"\n",
				c.kind, first.URL+c.path, second.URL+c.path, c.one))
			for _, id := range []string{"a", "b", "c"} {
				h.imports(id, 40)
			}
			ask := func(session, provider string) {
				t.Helper()
				out, errs, code := h.answered("-q", "-p", "-s", session, "-m", provider+"/"+c.model, "How is it?")
				if code != 0 || !strings.Contains(out, "It is well.") {
					t.Fatalf("session %s: exit code %d: %q %s", session, code, out, errs)
				}
			}
			ask("a", c.one)
			if refused, answered, most := first.counts(); refused == 0 || answered == 0 || most > refusedTokens {
				t.Errorf("the first time %d requests were refused and %d of at most %d tokens answered", refused, answered, most)
			}
			ask("b", c.one)
			if refused, answered, most := first.counts(); refused != 0 || answered == 0 || most < refusedTokens/4 {
				t.Errorf("after a restart %d requests were refused and %d of at most %d tokens answered", refused, answered, most)
			}
			ask("c", "two")
			if refused, _, _ := second.counts(); refused == 0 {
				t.Error("what one provider taught was taken for what another one can")
			}
			if refused, answered, _ := first.counts(); refused+answered != 0 {
				t.Errorf("the first provider got %d requests of the second", refused+answered)
			}
		})
	}
}

// writes writes a file of the home and returns its path.
func (h home) writes(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// imports imports a session of so many turns.
func (h home) imports(id string, turns int) {
	h.t.Helper()
	var b strings.Builder
	line := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			h.t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	say := func(role, text string) {
		line(map[string]any{"message": map[string]any{"role": role, "content": text}})
	}
	line(map[string]any{"session": map[string]any{"id": id, "title": "An old story"}})
	for i := range turns {
		say("user", fmt.Sprintf("What of chapter %d? %s", i, strings.Repeat("Tell me more of it, please. ", 20)))
		say("assistant", fmt.Sprintf("Chapter %d of %s: %s", i, id, strings.Repeat("It was a dark night in the hills. ", 30)))
	}
	file := h.writes("story-"+id+".jsonl", b.String())
	h.tells("-q", "sessions", "import", file)
}

//go:build unix

package realtest

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The keys that are pasted here: one that the service takes, and one that it refuses.
const (
	rightKey = "sk-proj-Zq91right2Kd7pasted4here"
	wrongKey = "sk-proj-Zq92wrong3Lm8pasted5here"
)

// gate is a model service that answers whoever has the right key.
type gate struct {
	*httptest.Server

	mu   sync.Mutex
	came []string // the Authorization of each request for an answer
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return // the program has gone
		}
		if r.Method != http.MethodPost { // which models there are: no key is needed
			http.NotFound(w, r)
			return
		}
		g.mu.Lock()
		g.came = append(g.came, r.Header.Get("Authorization"))
		g.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+rightKey {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+wrongKey+`","type":"invalid_request_error","code":"invalid_api_key"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say(w, map[string]any{"content": "the key is right"}, "")
		say(w, map[string]any{}, "stop")
		_, _ = io.WriteString(w, "data: [DONE]\n\n") // the program may have gone
	}))
	t.Cleanup(g.Close)
	return g
}

// heard is what came so far.
func (g *gate) heard() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.came...)
}

func TestAKeyThatIsPastedIsUsedAndARefusedOneIsAskedForAgain(t *testing.T) {
	t.Parallel()
	g, h := newGate(t), newHome(t)
	h.tells("config", "set", "model", "offline/cairn")
	h.configures("[providers.openai]\nbase_url = \"" + g.URL + "/v1\"\n")
	w := h.open("-s", "keyed")
	w.send(enter)
	w.shows("> write a message")
	w.send("\x0cgpt-4o")
	w.shows("openai/gpt-4o", "needs a key")
	w.send(enter)
	w.shows("Key of openai", "paste it here")
	w.send(paste(wrongKey))
	w.shows("> ****")
	w.send(enter)
	w.shows("is kept in", "openai/gpt-4o", "> write a message")
	w.send("hello" + enter)
	w.shows("Incorrect API key provided", "k another key")
	w.send("k")
	w.shows("Key of openai", "Incorrect API key provided", "There is a key from")
	w.send(paste(rightKey))
	w.shows("> ****")
	w.send(enter)
	w.shows("is kept in", "r retry")
	w.send("r")
	w.shows("the key is right")
	w.send(ctrlD)
	w.ends()

	// A title may be asked for after the answer.
	came := g.heard()
	if len(came) < 2 || came[0] != "Bearer "+wrongKey || slices.ContainsFunc(came[1:], func(k string) bool { return k != "Bearer "+rightKey }) {
		t.Errorf("the requests came with %q", came)
	}
	leaksKeys(t, h)
}

// leaksKeys complains about a key in any file but the one for it.
func leaksKeys(t *testing.T, h home) {
	t.Helper()
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "secrets.toml" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, key := range []string{rightKey, wrongKey} {
			if strings.Contains(string(data), key) {
				t.Errorf("a key is in %s", path)
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

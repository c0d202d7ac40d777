package choose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness/model/catalogue"
	"cairn/harness/model/offline"
)

const (
	// probeLimit bounds the search for local servers, unless [Env.Patience] says
	// otherwise.
	probeLimit = 150 * time.Millisecond
	// maxList bounds the list of models that a server may answer with.
	maxList = 1 << 20
)

// Server is a local server that answers.
type Server struct {
	Provider string
	BaseURL  string
	// Models are the names of its models, without those for embeddings.
	Models []string
}

// Default returns the model to use when none is named, and why: the default
// model of the first provider with a key, else a model of a local server, else
// the built-in one. The network is used only if no key is found.
func (e Env) Default(ctx context.Context) (id, why string) {
	e = e.filled()
	for _, name := range catalogue.Main() {
		p, _ := e.Catalogue.Provider(name)
		if e.keyFrom(p) != "" && p.Default != "" {
			return p.ID + "/" + p.Default, fmt.Sprintf("a key for %s was found", p.ID)
		}
	}
	if found := e.Local(ctx); len(found) > 0 {
		return found[0].Provider + "/" + found[0].Models[0], "a local server answers at " + withoutUser(found[0].BaseURL)
	}
	return offline.ID, "no key and no local server was found"
}

// Local asks the usual ports of this machine, and an address set for OpenAI,
// for their models, all at once and within 150 ms. No key is sent. Servers
// without a model are left out; the order is that of the catalogue's local
// providers: Ollama, LM Studio, llama.cpp, vLLM.
func (e Env) Local(ctx context.Context) []Server {
	e = e.filled()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Patience, probeLimit))
	defer cancel()
	var candidates []Server
	for _, id := range []string{"openai", "ollama", "lmstudio", "llamacpp", "vllm"} {
		if p, ok := e.Catalogue.Provider(id); ok {
			if base := e.baseURL(p); base != "" {
				candidates = append(candidates, Server{Provider: id, BaseURL: strings.TrimRight(base, "/")})
			}
		}
	}
	var wg sync.WaitGroup
	for i := range candidates {
		wg.Go(func() {
			// Whatever goes wrong means that no server answers there.
			candidates[i].Models, _ = e.Models(ctx, candidates[i].BaseURL)
		})
	}
	wg.Wait()
	return slices.DeleteFunc(candidates, func(s Server) bool { return len(s.Models) == 0 })
}

// Models asks a server for the names of its models that can chat.
func (e Env) Models(ctx context.Context, baseURL string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+"/models", nil)
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", baseURL, err)
	}
	client := &http.Client{
		Transport:     e.HTTP,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", baseURL, err)
	}
	defer resp.Body.Close() //nolint:errcheck // everything needed has been read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("list the models of %s: status %d", baseURL, resp.StatusCode)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&list); err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", baseURL, err)
	}
	var names []string
	for _, m := range list.Data {
		if lower := strings.ToLower(m.ID); m.ID != "" && !strings.Contains(lower, "embed") && !strings.Contains(lower, "rerank") {
			names = append(names, m.ID)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the server has no model that can chat")
	}
	return names, nil
}

package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cairn/harness/model"
	"cairn/harness/model/wire"
)

// openAI asks "/embeddings".
func (m *Model) openAI(ctx context.Context, texts []string, _ Purpose) (Result, error) {
	type request struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions,omitempty"`
		Format     string   `json:"encoding_format"`
	}
	var answer struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Prompt int64   `json:"prompt_tokens"`
			Total  int64   `json:"total_tokens"`
			Cost   float64 `json:"cost"`
		} `json:"usage"`
	}
	auth := func(h http.Header) {
		if m.o.Key != "" {
			h.Set("Authorization", "Bearer "+m.o.Key)
		}
	}
	if err := m.post(ctx, strings.TrimRight(m.o.BaseURL, "/")+"/embeddings", auth, request{m.o.Model, texts, m.known.dims, "float"}, &answer); err != nil {
		return Result{}, err
	}
	r := Result{Vectors: make([][]float32, len(texts))}
	if len(answer.Data) != len(texts) {
		return r, m.fail(model.KindProtocol, fmt.Sprintf("it answered with %d vectors for %d texts", len(answer.Data), len(texts)))
	}
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(texts) || r.Vectors[at] != nil {
			return r, m.fail(model.KindProtocol, "it answered with vectors that belong to no text")
		}
		r.Vectors[at] = d.Embedding
	}
	r.Usage.Input = max(answer.Usage.Prompt, answer.Usage.Total, 0)
	if answer.Usage.Cost > 0 {
		r.Usage.Cost, r.Usage.CostKnown = answer.Usage.Cost, true
	}
	return r, nil
}

// gemini asks "batchEmbedContents", which tells no usage.
func (m *Model) gemini(ctx context.Context, texts []string, p Purpose) (Result, error) {
	type part struct {
		Text string `json:"text"`
	}
	type content struct {
		Parts []part `json:"parts"`
	}
	type one struct {
		Model   string  `json:"model"`
		Content content `json:"content"`
		Task    string  `json:"taskType"`
		Dims    int     `json:"outputDimensionality,omitempty"`
	}
	task, name := "RETRIEVAL_DOCUMENT", "models/"+strings.TrimPrefix(m.o.Model, "models/")
	if p == Query {
		task = "RETRIEVAL_QUERY"
	}
	var body struct {
		Requests []one `json:"requests"`
	}
	for _, t := range texts {
		body.Requests = append(body.Requests, one{name, content{[]part{{t}}}, task, m.known.dims})
	}
	var answer struct {
		Embeddings []struct {
			Values []float32 `json:"values"`
		} `json:"embeddings"`
	}
	base := strings.TrimSuffix(strings.TrimRight(m.o.BaseURL, "/"), "/v1beta")
	at := base + "/v1beta/models/" + url.PathEscape(strings.TrimPrefix(name, "models/")) + ":batchEmbedContents"
	auth := func(h http.Header) { h.Set("X-Goog-Api-Key", m.o.Key) }
	if err := m.post(ctx, at, auth, body, &answer); err != nil {
		return Result{}, err
	}
	var r Result
	for _, e := range answer.Embeddings {
		r.Vectors = append(r.Vectors, e.Values)
	}
	return r, nil
}

// post makes one round trip. A redirect is not followed, as it would carry the
// key elsewhere.
func (m *Model) post(ctx context.Context, to string, auth func(http.Header), body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the request of %s: %w", m.o.Info.ID, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(sent))
	if err != nil {
		return m.fail(model.KindConfig, "its address is none; check the base URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "cairn")
	auth(req.Header)
	trip := m.o.HTTP
	if trip == nil {
		trip = wire.Shared()
	}
	resp, err := trip.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return model.NetworkError(m.o.Provider, req.URL.Host, err, m.o.Key)
	}
	defer resp.Body.Close() //nolint:errcheck // everything needed has been read
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case resp.StatusCode != http.StatusOK:
		return m.refusal(resp, got)
	case err != nil:
		return model.NetworkError(m.o.Provider, req.URL.Host, err, m.o.Key)
	case len(got) > maxAnswer:
		return m.fail(model.KindProtocol, "its answer is longer than one for so many texts can be")
	}
	if err := json.Unmarshal(got, answer); err != nil {
		// What could not be read may hold anything and is not repeated.
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return m.fail(model.KindProtocol, "its answer has a "+kind.Value+" where numbers belong")
		}
		return m.fail(model.KindProtocol, "its answer is no JSON; is the address that of an embeddings service?")
	}
	return nil
}

// refusal turns a response that is no answer into an error.
func (m *Model) refusal(resp *http.Response, body []byte) error {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return m.fail(model.KindProtocol, "the address redirects elsewhere; set the base URL to where the service is")
	}
	now := m.o.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	e := model.Answer{
		Provider: m.o.Provider, Status: resp.StatusCode, Header: resp.Header, Body: body[:min(len(body), 64<<10)], Secrets: []string{m.o.Key}, Now: now(),
	}.Err()
	e.Model = m.o.Info.ID
	return e
}

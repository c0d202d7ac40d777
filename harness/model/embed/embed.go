// Package embed asks a provider for the vectors of texts, by which texts that
// mean the same are found without a word in common. The one thing to know: what
// is given to it leaves for that provider, so callers take out what must not.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// Purpose says what a text is embedded for: some models want to know.
type Purpose int

// The purposes.
const (
	// Document is a text that is to be found.
	Document Purpose = iota
	// Query is what somebody looks for.
	Query
)

// The bounds of one request and of what comes back.
const (
	// MaxTexts is how many texts one request may have, MaxText how long each may
	// be in bytes. That is below the window of every model in use.
	MaxTexts = 64
	MaxText  = 8_000
	// MaxDims is how many numbers a vector may have.
	MaxDims = 8_192
	// maxAnswer bounds what is read of an answer, in bytes: the numbers of a full
	// request, written out.
	maxAnswer = 32 << 20
)

// Wire says how a provider is spoken to.
type Wire string

// The wires.
const (
	// OpenAI is the "/embeddings" of OpenAI and all that speak like it.
	OpenAI Wire = "openai"
	// Gemini is "batchEmbedContents".
	Gemini Wire = "gemini"
)

// Options say what is asked where.
type Options struct {
	Provider string
	// Model is the name that the provider knows.
	Model string
	Key   string
	// BaseURL ends before "/embeddings", or before "/v1beta" of Gemini.
	BaseURL string
	Wire    Wire
	// Info has the price; its ID is "provider/model".
	Info model.Info
	// HTTP makes the round trips; nil means the transport that all share.
	HTTP http.RoundTripper
	// Now is the clock for dates in Retry-After; nil means the real one.
	Now func() time.Time
}

// Result is what came back: a vector of length 1 for each text, in their order.
type Result struct {
	Vectors [][]float32
	Usage   harness.Usage
}

// Model embeds texts. It is safe for concurrent use.
type Model struct {
	o     Options
	known known
	// random is for the jitter of waits; nil means a random one.
	random func() float64
}

// New returns the model. It does not use the network.
func New(o Options) *Model {
	m := &Model{o: o, known: knownOf(o.Model)}
	if !o.Info.PriceKnown && !o.Info.Local && m.known.price > 0 && m.known.provider == o.Provider {
		m.o.Info.InputPrice, m.o.Info.PriceKnown = m.known.price, true
	}
	return m
}

// Info tells the price of the model. Its ID is "provider/model".
func (m *Model) Info() model.Info { return m.o.Info }

// Tokens is how many tokens texts are thought to have, for holding back what
// they may cost.
func Tokens(texts []string) int {
	n := 0
	for _, t := range texts {
		n += 1 + len(t)/3
	}
	return n
}

// Embed returns the vectors of texts in one attempt. An error is a
// [*model.Error], or that of the context.
func (m *Model) Embed(ctx context.Context, texts []string, p Purpose) (Result, error) {
	if err := fits(texts); err != nil {
		return Result{}, m.fail(model.KindBadRequest, err.Error())
	}
	ask := m.openAI
	if m.o.Wire == Gemini {
		ask = m.gemini
	}
	r, err := ask(ctx, m.known.prefixed(texts, p), p)
	if err != nil {
		return Result{}, err
	}
	if err := check(r.Vectors, len(texts)); err != nil {
		return Result{}, m.fail(model.KindProtocol, err.Error())
	}
	if r.Usage.Input == 0 {
		r.Usage = harness.Usage{Input: int64(Tokens(texts)), Incomplete: true}
	}
	r.Usage = m.o.Info.Cost(r.Usage)
	return r, nil
}

// Patiently is Embed with further attempts where one fails in a way that passes:
// for what nobody waits for.
func (m *Model) Patiently(ctx context.Context, texts []string, p Purpose) (Result, error) {
	wait := model.FirstWait
	for attempt := 1; ; attempt++ {
		r, err := m.Embed(ctx, texts, p)
		if err == nil {
			return r, nil
		}
		e, ok := model.AsError(err)
		if !ok || !e.Retry || attempt == model.Attempts || e.RetryAfter > model.LongestAsked || ctx.Err() != nil {
			return r, err
		}
		random := rand.Float64
		if m.random != nil {
			random = m.random
		}
		pause := time.NewTimer(max(wait-time.Duration(random()*float64(wait)/4), e.RetryAfter))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return r, context.Cause(ctx)
		}
		wait = min(2*wait, model.LongestWait)
	}
}

func (m *Model) fail(kind model.ErrorKind, text string) *model.Error {
	return &model.Error{Kind: kind, Provider: m.o.Provider, Model: m.o.Info.ID, Message: model.Sentence(text, m.o.Key)}
}

func fits(texts []string) error {
	if len(texts) == 0 {
		return errors.New("there is no text to embed")
	}
	if len(texts) > MaxTexts {
		return fmt.Errorf("%d texts are too many for one request, which may have %d", len(texts), MaxTexts)
	}
	for _, t := range texts {
		if len(t) > MaxText {
			return fmt.Errorf("a text of %d bytes is too long to embed; it may have %d", len(t), MaxText)
		}
	}
	return nil
}

// check refuses what is no vector of a text, and gives the others the length 1.
func check(vectors [][]float32, want int) error {
	if len(vectors) != want {
		return fmt.Errorf("it answered with %d vectors for %d texts", len(vectors), want)
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) > MaxDims {
			return fmt.Errorf("it answered with a vector of %d numbers", len(v))
		}
		if len(v) != len(vectors[0]) {
			return fmt.Errorf("it answered with vectors of %d and of %d numbers", len(vectors[0]), len(v))
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		length := math.Sqrt(sum)
		if math.IsNaN(length) || math.IsInf(length, 0) {
			return errors.New("it answered with a vector that has something else than numbers")
		}
		if length < 1e-9 {
			return fmt.Errorf("it answered with a vector of zeros for text %d", i+1)
		}
		for j := range v {
			v[j] = float32(float64(v[j]) / length)
		}
	}
	return nil
}

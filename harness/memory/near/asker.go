package near

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/embed"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

const (
	// Patience is how long a search waits for the vector of a question.
	Patience = 1500 * time.Millisecond
	// Haste is how long the recall of a turn does.
	Haste = 400 * time.Millisecond
	// askFor bounds the call itself: a vector that comes too late for one search
	// is there for the next.
	askFor = 10 * time.Second
	// coolDown is how long nobody is asked after a failure.
	coolDown = 30 * time.Second
	// keptVectors is how many questions are remembered, maxQuestion how much of
	// one is sent, in bytes, and maxCalls how many calls are under way at most.
	keptVectors = 64
	maxQuestion = 2_000
	maxCalls    = 2
)

// Embedder makes vectors, and tells the price.
type Embedder interface {
	// Embed makes one attempt, Patiently more where one fails in a way that passes.
	Embed(ctx context.Context, texts []string, p embed.Purpose) (embed.Result, error)
	Patiently(ctx context.Context, texts []string, p embed.Purpose) (embed.Result, error)
	Info() model.Info
}

// Source is a model that makes vectors, with all that is to be heeded when it is
// asked. Its fields are set before the first use; then it is safe for concurrent
// use.
type Source struct {
	// Model is the name of the model, "provider/model".
	Model string
	// Open returns the model. It is called when it is needed first, as the key may
	// have to be fetched.
	Open func(ctx context.Context) (Embedder, error)
	// Budget keeps the calls within spending limits, Book books what they used.
	Budget *policy.Budget
	Book   func(ctx context.Context, id harness.SessionID, model string, u harness.Usage) error
	// Secrets are kept back, besides what looks like one.
	Secrets *tool.Redactor
	Now     func() time.Time
	Log     *slog.Logger

	// opening is held while the model is opened, which may take as long as fetching a
	// key does: whoever asks a question does not wait for that.
	opening sync.Mutex
	opened  Embedder

	mu   sync.Mutex
	asks map[string]*ask
	// order are the questions, the oldest first, and busy how many are asked now.
	order []string
	busy  int
	// until is when somebody may be asked again, failed why the last call failed.
	until  time.Time
	failed error
	// failure says why nobody is asked until then: a call that was under way may
	// have gone well since.
	failure error
}

// ask is a question that is or was asked. Once done it has a vector, or err says
// why it has none.
type ask struct {
	done   chan struct{}
	vector []float32
	err    error
}

// errNoVector means that a question has no vector now. The error around it says
// why; where it is a failure, that was logged.
var errNoVector = errors.New("the question has no vector")

// open returns the model.
func (s *Source) open(ctx context.Context) (Embedder, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.opened != nil {
		return s.opened, nil
	}
	m, err := s.Open(ctx)
	if err == nil {
		s.opened = m
	}
	return m, err
}

// Failed tells why the last call failed, nil if it did not.
func (s *Source) Failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// Vector returns the vector of a question, if it is there within a time.
func (s *Source) Vector(ctx context.Context, question string, patience time.Duration) ([]float32, error) {
	question = strings.Join(strings.Fields(question), " ")
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "")
	}
	switch {
	case question == "":
		return nil, errNoVector
	case secret(s.Secrets, question):
		return nil, &noVectorError{errKept}
	}
	a, err := s.asked(ctx, question)
	if err != nil {
		return nil, err
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-a.done:
		if a.vector == nil {
			return nil, &noVectorError{a.err}
		}
		return a.vector, nil
	case <-wait.C:
		s.Log.Info("the vector of a question comes too late", slog.String("model", s.Model), slog.Duration("after", patience))
		return nil, &noVectorError{fmt.Errorf("%s did not answer within %s", s.Model, patience)}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// asked returns the call about a question, which it begins if there was none, or
// why nobody may be asked now.
func (s *Source) asked(ctx context.Context, question string) (*ask, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.asks[question]; a != nil {
		return a, nil
	}
	switch {
	case s.busy >= maxCalls:
		return nil, &noVectorError{errBusy}
	case s.Now().Before(s.until):
		return nil, &noVectorError{s.failure}
	}
	a := &ask{done: make(chan struct{})}
	if s.asks == nil {
		s.asks = map[string]*ask{}
	}
	s.asks[question], s.order = a, append(s.order, question)
	if len(s.order) > keptVectors {
		delete(s.asks, s.order[0])
		s.order = s.order[1:]
	}
	s.busy++
	// Whoever asked goes on when their patience is over; the answer serves the next.
	go s.answer(context.WithoutCancel(ctx), question, a)
	return a, nil
}

// answer asks the model.
func (s *Source) answer(ctx context.Context, question string, a *ask) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	r, err := s.embed(ctx, []string{question}, embed.Query)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if s.failed = err; err != nil {
		s.until = s.Now().Add(coolDown)
		a.err = fmt.Errorf("%s cannot be asked: %w", s.Model, err)
		s.failure = a.err
		if s.asks[question] == a {
			delete(s.asks, question)
		}
		s.Log.Warn("a question gets no vector; words alone are looked for", slog.String("model", s.Model), slog.String("error", err.Error()))
	} else {
		a.vector = r[0]
	}
	close(a.done)
}

// embed makes vectors, heeding the spending limits, and books what that used. It
// tries again only for documents, which nobody waits for.
func (s *Source) embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	m, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	size := embed.Tokens(texts)
	held, err := s.Budget.Hold(ctx, "", m.Info(), size, 1)
	if err != nil {
		return nil, err
	}
	do := m.Patiently
	if p == embed.Query {
		do = m.Embed
	}
	r, err := do(ctx, texts, p)
	if err != nil {
		return nil, errors.Join(err, held.Failed(ctx, err, size, 0))
	}
	unseen := 0.0
	if s.Book != nil {
		if err := s.Book(context.WithoutCancel(ctx), "", s.Model, r.Usage); err != nil {
			s.Log.Warn("book what vectors used", slog.String("error", err.Error()))
			unseen = r.Usage.Cost
		}
	}
	if err := held.Settle(ctx, unseen); err != nil {
		s.Log.Warn("settle what vectors cost", slog.String("error", err.Error()))
	}
	return r.Vectors, nil
}

// Probe asks the model for the vector of one word.
func (s *Source) Probe(ctx context.Context) error {
	_, err := s.embed(ctx, []string{"cairn"}, embed.Query)
	return err
}

package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
)

// answering is a model that answers with its function.
type answering func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)

func (f answering) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	return f(ctx, r, emit)
}

func text(s string) model.Reply {
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: s}}, Stop: harness.StopEnd, Usage: harness.Usage{Input: 3, Output: 2}}
}

// echo answers with the number of messages in the request and the last one.
func echo(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	s := strings.Repeat("i", len(r.Messages)) + ": " + r.Messages[len(r.Messages)-1].Text()
	emit(model.Delta{Kind: model.DeltaText, Text: s})
	return text(s), nil
}

// shelf is a caller's own store: a map.
type shelf struct {
	mu   sync.Mutex
	logs map[harness.SessionID][]harness.Record
	open int
}

type shelved struct {
	*shelf

	id harness.SessionID
}

func (s *shelf) Open(_ context.Context, id harness.SessionID) (agent.Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return shelved{s, id}, nil
}

func (s shelved) Tail(context.Context, int) ([]harness.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]harness.Record(nil), s.logs[s.id]...), nil
}

func (s shelved) Append(_ context.Context, records ...harness.Record) ([]harness.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		n := len(s.logs[s.id])
		records[i].Seq, records[i].Prev = n+1, n
		s.logs[s.id] = append(s.logs[s.id], records[i])
	}
	return records, nil
}

func (s shelved) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	return nil
}

func TestSessionIsRehydratedByID(t *testing.T) {
	t.Parallel()
	s := &shelf{logs: map[harness.SessionID][]harness.Record{}}
	for i, id := range []string{"Refactor Parser", "refactor-parser"} {
		a, err := agent.Open(t.Context(), agent.Session{ID: id, Store: s}, agent.Options{Model: answering(echo)})
		if err != nil {
			t.Fatal(err)
		}
		if a.SessionID() != "refactor-parser" || len(a.Messages()) != 2*i {
			t.Errorf("session %s begins with %d messages", a.SessionID(), len(a.Messages()))
		}
		res, err := a.Run(t.Context(), "hello")
		if err != nil || res.Status != harness.RunCompleted || !strings.HasPrefix(res.Text, strings.Repeat("i", 2*i+1)+":") {
			t.Errorf("result %+v, %v", res, err)
		}
		if err := errors.Join(a.Close(), a.Close()); err != nil {
			t.Error(err)
		}
	}
	if s.open != 0 {
		t.Errorf("%d conversations are still open", s.open)
	}
}

func TestBadSessionIsAnError(t *testing.T) {
	t.Parallel()
	o := agent.Options{Model: answering(echo)}
	for _, id := range []string{"  ", "日本", strings.Repeat("a", 129)} {
		if _, err := agent.Open(t.Context(), agent.Session{ID: id}, o); err == nil {
			t.Errorf("id %q was taken", id)
		}
	}
	a, err := agent.Open(t.Context(), agent.Session{}, o)
	if err != nil || len(a.SessionID()) != 10 {
		t.Errorf("a session without an id is %q, %v", a.SessionID(), err)
	}
}

func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	a, err := agent.New(agent.Options{Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		close(begun)
		<-release
		return echo(ctx, r, emit)
	})})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := a.Run(t.Context(), "one")
		ended <- err
	}()
	<-begun
	if _, err := a.Run(t.Context(), "two"); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("a second run gives %v", err)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Run(t.Context(), "three"); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("a run on a closed agent gives %v", err)
	}
}

func TestCloseStopsTheRunAndKeepsItsText(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	s := &shelf{logs: map[harness.SessionID][]harness.Record{}}
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: s}, agent.Options{Model: answering(func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		emit(model.Delta{Kind: model.DeltaText, Text: "half an ans"})
		close(begun)
		<-ctx.Done()
		return model.Reply{}, ctx.Err()
	})})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan harness.Result)
	go func() {
		res, _ := a.Run(t.Context(), "go")
		results <- res
	}()
	<-begun
	closed := make(chan error)
	for range 2 {
		go func() { closed <- a.Close() }()
	}
	if res := <-results; res.Status != harness.RunCancelled {
		t.Errorf("the run is %s", res.Status)
	}
	if err := errors.Join(<-closed, <-closed); err != nil {
		t.Error(err)
	}
	msgs := a.Messages()
	if last := msgs[len(msgs)-1]; last.Text() != "half an ans" || last.Mark != harness.MarkInterrupted {
		t.Errorf("the last message is %+v", last)
	}
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		t.Error(err)
	}
	if len(s.logs["x"]) != 2 {
		t.Errorf("%d messages are stored", len(s.logs["x"]))
	}
}

func TestFailureIsDataWithASentence(t *testing.T) {
	t.Parallel()
	a, err := agent.New(agent.Options{Model: answering(func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		emit(model.Delta{Kind: model.DeltaText, Text: "Par"})
		return model.Reply{}, &model.Error{Kind: model.KindQuota, Provider: "mock", Message: "no credit left", Status: 429}
	})})
	if err != nil {
		t.Fatal(err)
	}
	var seen []harness.EventType
	res, err := a.Stream(t.Context(), "go", func(e harness.Event) { seen = append(seen, e.Type) })
	if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "quota" || !strings.Contains(res.Error.Text, "no credit left") {
		t.Fatalf("result %+v, %v", res, err)
	}
	msgs := a.Messages()
	if last := msgs[len(msgs)-1]; last.Text() != "Par" || last.Mark != harness.MarkIncomplete {
		t.Errorf("the last message is %+v", last)
	}
	if len(seen) < 2 || seen[0] != harness.EventRunStarted || seen[1] != harness.EventText {
		t.Errorf("events %v", seen)
	}
}

func TestSetMessagesKeepsWhatWasStored(t *testing.T) {
	t.Parallel()
	s := &shelf{logs: map[harness.SessionID][]harness.Record{}}
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: s}, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if err := a.SetMessages(t.Context(), []harness.Message{harness.UserText("other"), harness.AssistantText("yes")}); err != nil {
		t.Fatal(err)
	}
	if n := len(a.Messages()); n != 2 {
		t.Errorf("%d messages in context, want 2", n)
	}
	if n := len(s.logs["x"]); n != 5 {
		t.Errorf("%d records stored, want the two old ones, the reset and the two new ones", n)
	}
	res, err := a.Run(t.Context(), "next")
	if err != nil || !strings.HasPrefix(res.Text, "iii:") {
		t.Errorf("the next request had %q, %v", res.Text, err)
	}
}

package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// Whoever leaves parts out gets those that ask a person and lose nothing.
func TestAModelIsEnoughForARun(t *testing.T) {
	t.Parallel()
	set := new(tool.Set)
	if err := set.Add(tool.Tool{
		Name: "file", Description: "files", Run: func(context.Context, tool.Call) (string, error) { return "filed", nil },
	}); err != nil {
		t.Fatal(err)
	}
	calls := answering(func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
		if len(r.Tools) == 0 {
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}, Stop: harness.StopEnd}, nil
		}
		c := harness.ToolCall{Name: "file", Input: json.RawMessage(`{}`)}
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &c}}, Stop: harness.StopTools}, nil
	})
	for _, tools := range []*tool.Set{nil, set} {
		s := memory1()
		lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		l := run.NewLocal(run.Options{Journal: s.journal, Transcript: s.transcript, Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: calls, Tools: tools}, nil
		}})
		h, err := l.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("go")})
		if err != nil {
			t.Fatal(err)
		}
		want := harness.RunCompleted
		if tools != nil {
			want = harness.RunAwaiting
		}
		if res, err := h.Wait(t.Context()); err != nil || res.Status != want {
			t.Errorf("with tools %v: %+v, %v", tools != nil, res, err)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestARunWithoutAModelIsRefused(t *testing.T) {
	t.Parallel()
	s := memory1()
	lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := run.NewLocal(run.Options{Journal: s.journal, Transcript: s.transcript, Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
		return agent.Steps{}, nil
	}})
	_, err = l.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "a/b"}})
	if err == nil || !strings.Contains(err.Error(), `run of "a/b": Options.Steps gives no Model`) {
		t.Errorf("started: %v", err)
	}
}

func TestARunBeginsWithAUsersMessage(t *testing.T) {
	t.Parallel()
	s := memory1()
	lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := run.NewLocal(run.Options{Journal: s.journal, Transcript: s.transcript, Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
		return agent.Steps{Model: words(0)}, nil
	}})
	for _, m := range []harness.Message{{}, {Role: harness.RoleUser}, {Role: harness.RoleAssistant, Parts: harness.UserText("hi").Parts}} {
		if _, err := l.Start(t.Context(), harness.StartRequest{Lease: lease, Message: m}); err == nil || !strings.Contains(err.Error(), "none of a user's") {
			t.Errorf("%+v began a run: %v", m, err)
		}
	}
	h, err := l.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("hi")})
	if err != nil {
		t.Fatalf("after the refusals: %v", err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

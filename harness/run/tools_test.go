package run_test

import (
	"context"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// equip returns a world whose runs have tools, and whose parts come late if
// steps is given.
func equip(t *testing.T, s store, m model.Model, steps func(), tools ...tool.Tool) world {
	t.Helper()
	lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	set := new(tool.Set)
	for _, tl := range tools {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	l := run.NewLocal(run.Options{
		Journal: s.journal, Transcript: s.transcript, Engine: "test", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			if steps != nil {
				steps()
			}
			return agent.Steps{Model: m, Tools: set, Policy: policy.Rules{}, Now: time.Now, Compose: (&memory.Composer{}).Compose}, nil
		},
	})
	return world{s, l, lease}
}

func newTool(t *testing.T, name string, replay tool.Replay, fn func(ctx context.Context) (string, error)) tool.Tool {
	t.Helper()
	tl, err := tool.New(name, "a tool", func(ctx context.Context, _ tool.Call, _ struct{}) (string, error) { return fn(ctx) }, tool.WithReplay(replay), tool.WithPermission(tool.Allow))
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// calls streams a word, asks for the tool once and ends when it has a result.
func calls(name string) answering {
	return func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if r.Messages[len(r.Messages)-1].Role == harness.RoleTool {
			emit(model.Delta{Kind: model.DeltaText, Text: "done"})
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}, Stop: harness.StopEnd}, nil
		}
		emit(model.Delta{Kind: model.DeltaText, Text: "looking"})
		return model.Reply{Stop: harness.StopTools, Parts: []harness.Part{
			{Kind: harness.PartText, Text: "looking"}, {Kind: harness.PartCall, Call: &harness.ToolCall{Name: name}},
		}}, nil
	}
}

func (w world) status(t *testing.T, id harness.RunID) harness.Run {
	t.Helper()
	info, err := w.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// branch returns the messages on screen.
func (w world) branch(t *testing.T) []harness.Message {
	t.Helper()
	records, err := w.transcript.Tail(t.Context(), "s", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []harness.Message
	for _, r := range records {
		msgs = append(msgs, *r.Message)
	}
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		t.Errorf("the history is not legal: %v", err)
	}
	return msgs
}

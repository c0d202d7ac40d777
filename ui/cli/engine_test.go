package cli

import (
	"context"
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// halting is a model whose first answer never comes to its end; the others say
// how many messages they were asked with.
type halting struct{ asked *int }

func (m halting) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	if *m.asked++; *m.asked == 1 {
		emit(model.Delta{Kind: model.DeltaText, Text: "Half an "})
		<-ctx.Done()
		return model.Reply{}, ctx.Err()
	}
	text := fmt.Sprintf("answer to %d messages", len(r.Messages))
	emit(model.Delta{Kind: model.DeltaText, Text: text})
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd, Model: "openai/test"}, nil
}

// local is the engine of the program itself on the store of a script.
func (w *scriptWorld) local() harness.Engine {
	return run.NewLocal(run.Options{
		Journal: w.store.Journal(), Transcript: w.store.Transcript(), Engine: "memory", Now: w.now,
		Steps: func(_ context.Context, c harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: halting{&w.asked}, Info: model.Info{ID: c.Model}, Tools: &tool.Set{}, Now: w.now,
				Policy: policy.Rules{}, Compose: (&memory.Composer{}).Compose,
			}, nil
		},
	})
}

// halt leaves a session with a run that was stopped in the middle of its
// answer, and lets the program use its own engine from now on.
func halt(ts *testscript.TestScript, _ bool, args []string) {
	w, ctx := world(ts), context.Background()
	w.real, w.asked = true, 0
	owners := w.store.Owners()
	lease, err := owners.Acquire(ctx, harness.Session{ID: harness.SessionID(args[0])}, harness.Holder{PID: 1})
	ts.Check(err)
	engine := w.local()
	h, err := engine.Start(ctx, harness.StartRequest{
		Lease: lease, Message: harness.UserText("question"), Config: harness.RunConfig{Agent: "cairn@1", Model: "openai/test"},
	})
	ts.Check(err)
	events := h.Events(ctx, 0)
	for e := range events {
		if e.Type == harness.EventText {
			break
		}
	}
	ts.Check(engine.Close(ctx))
	ts.Check(owners.Release(ctx, lease))
	ts.Setenv("RUN", string(h.ID()))
	ts.Setenv("START", string(h.ID())[:6])
}

package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// gathered is a sink that keeps records as they come.
type gathered struct{ records []loop.Record }

func (g *gathered) Put(_ context.Context, _ harness.Usage, records ...loop.Record) ([]agent.Stored, error) {
	g.records = append(g.records, records...)
	return make([]agent.Stored, len(records)), nil
}
func (g *gathered) Emit(harness.Event) {}
func (g *gathered) Streamed()          {}

func (g *gathered) kinds(t *testing.T) (kinds []string) {
	t.Helper()
	for _, r := range g.records {
		e, err := loop.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

type replies func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)

func (f replies) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	return f(ctx, r, emit)
}

// stepwise is a turn that asks for one tool three times at once, is told that this
// leads nowhere, and ends.
func stepwise(t *testing.T, permission *tool.Permission) (agent.Steps, loop.State) {
	t.Helper()
	set := new(tool.Set)
	tl, err := tool.New("echo", "a tool", func(context.Context, tool.Call, struct{}) (string, error) { return "echo", nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Add(tl); err != nil {
		t.Fatal(err)
	}
	m := replies(func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
		if slices.ContainsFunc(r.Messages, func(m harness.Message) bool { return m.Role == harness.RoleTool }) {
			return model.Reply{Stop: harness.StopEnd, Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}}, nil
		}
		reply := model.Reply{Stop: harness.StopTools}
		for range 3 {
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "echo", Input: json.RawMessage("{}")}})
		}
		return reply, nil
	})
	judge := judging(func() policy.Verdict { return policy.Verdict{Permission: *permission} })
	steps := agent.Steps{Model: m, Tools: set, Policy: judge, Compose: new(memory.Composer).Compose, Now: time.Now}
	return steps, loop.Fold(loop.Started{Message: harness.UserText("go")})
}

type judging func() policy.Verdict

func (f judging) Judge(context.Context, tool.Call, tool.Tool, harness.ToolCall) policy.Verdict {
	return f()
}

// drive drives a turn step by step, each with a turn of its own.
func drive(t *testing.T, steps agent.Steps, s loop.State, g *gathered) loop.State {
	t.Helper()
	for s.Status() == harness.RunRunning {
		from := len(g.records)
		turn := agent.Turn{Steps: steps, Run: "r", Sink: g}
		if err := turn.Step(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, r := range g.records[from:] {
			s, _ = loop.Step(s, r)
		}
		for _, r := range g.records[from:] {
			b, ok := r.(loop.Began)
			if !ok {
				continue
			}
			at := len(g.records)
			call := agent.Turn{Steps: steps, Run: "r", Sink: g}
			if err := call.Execute(t.Context(), s, b.CallID); err != nil {
				t.Fatal(err)
			}
			for _, r := range g.records[at:] {
				s, _ = loop.Step(s, r)
			}
		}
	}
	return s
}

func TestATurnStepByStepLeavesTheRecordsOfAWholeOne(t *testing.T) {
	t.Parallel()
	allow := tool.Allow
	steps, s := stepwise(t, &allow)
	whole, single := new(gathered), new(gathered)
	turn := agent.Turn{Steps: steps, Run: "r", Sink: whole}
	if err := turn.Drive(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	end := drive(t, steps, s, single)
	if got, want := single.kinds(t), whole.kinds(t); !slices.Equal(got, want) {
		t.Errorf("step by step\n got %v\nwant %v", got, want)
	}
	if end.Answer() != "done" || end.Status() != harness.RunCompleted {
		t.Errorf("it ends %s with %q", end.Status(), end.Answer())
	}
}

func TestACallThatIsForbiddenAfterItBeganIsNotRun(t *testing.T) {
	t.Parallel()
	permission := tool.Allow
	steps, s := stepwise(t, &permission)
	g := new(gathered)
	turn := agent.Turn{Steps: steps, Run: "r", Sink: g}
	if err := turn.Step(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, r := range g.records {
		s, _ = loop.Step(s, r)
	}
	for i, next := range []tool.Permission{tool.Deny, tool.Ask} {
		permission = next
		id := g.records[len(g.records)-3+i].(loop.Began).CallID
		after := new(gathered)
		call := agent.Turn{Steps: steps, Run: "r", Sink: after}
		if err := call.Execute(t.Context(), s, id); err != nil {
			t.Fatal(err)
		}
		if len(after.records) != 1 {
			t.Fatalf("%s leaves %v", next, after.records)
		}
		if r := after.records[0].(loop.Ended).Message.Parts[0].Result; !r.Failed || r.Text == "echo" {
			t.Errorf("%s gives %+v", next, r)
		}
	}
}

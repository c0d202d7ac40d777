package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/hook"
	"cairn/harness/model"
	engines "cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// Hooks and extensions see a durable run as they see a turn of an agent, also one
// that waits for a person meanwhile.
func TestDurableRunHasHooksAndExtensions(t *testing.T) {
	t.Parallel()
	var seen observed
	first, second, told := lives(nil)
	st := mem.New(nil)
	say, err := tool.New("echo", "Say it again.", func(_ context.Context, _ tool.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		return in.Text, nil
	}, tool.WithPermission(tool.Ask))
	set := new(tool.Set)
	if err := errors.Join(err, set.Add(say)); err != nil {
		t.Fatal(err)
	}
	engine := engines.NewLocal(engines.Options{
		Journal: st.Journal(), Transcript: st.Transcript(), Engine: mem.Engine,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: signedCall(nil), Info: model.Info{ID: "mock/m"}, Tools: set, Hooks: []hook.Func{seen.see},
				Extensions: []agent.Extension{first, second, between{
					plain: plain{"third"},
					call: func(c harness.ToolCall) (harness.ToolCall, error) {
						c.Input = json.RawMessage(`{"text":"nothing"}`)
						return c, nil
					},
				}},
			}, nil
		},
	})
	lease, err := st.Owners().Acquire(t.Context(), harness.Session{ID: "x"}, harness.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "mock/m"}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.Wait(t.Context())
	if err != nil || res.Status != harness.RunAwaiting || len(res.Pending) != 1 {
		t.Fatalf("result %+v, %v", res, err)
	}
	if p := res.Pending[0]; p.Proposal == nil || p.Proposal.Body != "{\n  \"text\": \"nothing\"\n}" {
		t.Errorf("the person is shown %+v", p.Proposal)
	}
	p := res.Pending[0]
	h, err = engine.Decide(t.Context(), lease, h.ID(), harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove})
	if err != nil {
		t.Fatal(err)
	}
	res, err = h.Wait(t.Context())
	if err != nil || res.Status != harness.RunCompleted || res.Text != "it said nothing" {
		t.Fatalf("result %+v, %v", res, err)
	}
	if err := engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{
		"agent_start", "loop_iteration_start", "llm_request", "llm_response", "checkpoint", "checkpoint", "loop_iteration_end", "agent_end",
		"agent_start", "checkpoint", "tool_call_start", "checkpoint", "tool_call_end", "checkpoint",
		"loop_iteration_start", "llm_request", "llm_response", "checkpoint", "checkpoint", "loop_iteration_end", "agent_end",
	}
	got := slices.DeleteFunc(seen.names(), func(s string) bool { return s == "checkpoint" })
	if want := slices.DeleteFunc(want, func(s string) bool { return s == "checkpoint" }); !slices.Equal(got, want) {
		t.Errorf("hooks were told\n%v, want\n%v", got, want)
	}
	calls := []string{"first start", "second start", "first start", "second start", "first end", "second end", "first complete", "second complete"}
	if !slices.Equal(*told, calls) {
		t.Errorf("the extensions were told %v, want %v", *told, calls)
	}
}

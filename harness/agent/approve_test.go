package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// batch is a model that asks for these calls once, and answers with their
// results.
func batch(calls ...harness.ToolCall) answering {
	return func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
		var results []string
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Result != nil {
					results = append(results, p.Result.Text)
				}
			}
		}
		if len(results) > 0 {
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: strings.Join(results, "|")}}, Stop: harness.StopEnd}, nil
		}
		reply := model.Reply{Stop: harness.StopTools}
		for _, c := range calls {
			if c.Input == nil {
				c.Input = json.RawMessage(`{}`)
			}
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &c})
		}
		return reply, nil
	}
}

// with returns a set of tools.
func with(t *testing.T, tools ...tool.Tool) *tool.Set {
	t.Helper()
	set := new(tool.Set)
	for _, tl := range tools {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// asking is a tool that needs consent and counts how often it runs.
func asking(t *testing.T, name string, ran *atomic.Int32, opts ...tool.Option) tool.Tool {
	t.Helper()
	tl, err := tool.New(name, "a tool", func(context.Context, tool.Call, struct{}) (string, error) {
		ran.Add(1)
		return name + " ran", nil
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func TestApproveDecidesWhatRuns(t *testing.T) {
	t.Parallel()
	yes := harness.Decision{How: harness.DecideApprove}
	for name, tc := range map[string]struct {
		decision harness.Decision
		err      error
		ran      int32
		text     string
	}{
		"yes":                        {yes, nil, 1, "pay ran"},
		"no":                         {harness.Decision{How: harness.DecideDecline, Text: "too much"}, nil, 0, "permission denied by the person: too much"},
		"an error is no":             {yes, errors.New("the dialog broke"), 0, "the dialog broke"},
		"nothing is no":              {harness.Decision{}, nil, 0, "not an answer to what is asked"},
		"an answer is no consent":    {harness.Decision{How: harness.DecideAnswer, Text: "yes"}, nil, 0, "not an answer to what is asked"},
		"another call is no":         {harness.Decision{Call: "x", How: harness.DecideApprove}, nil, 0, "about call x"},
		"another digest is no":       {harness.Decision{Digest: "x", How: harness.DecideApprove}, nil, 0, "not what was shown"},
		"a grant cannot be kept":     {harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "pay"}, nil, 0, "approve once"},
		"once is a scope like none":  {harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeOnce}, nil, 1, "pay ran"},
		"an abort ends the turn":     {harness.Decision{How: harness.DecideAbort}, nil, 0, ""},
		"a retry of nothing is a no": {harness.Decision{How: harness.DecideRetry}, nil, 0, "not an answer to what is asked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran atomic.Int32
			a, err := agent.New(agent.Options{
				Model: batch(harness.ToolCall{Name: "pay"}), Tools: with(t, asking(t, "pay", &ran)),
				Approve: func(_ context.Context, p harness.Pending) (harness.Decision, error) {
					if p.Proposal == nil || p.Proposal.Body != "{}" || p.Digest == "" || p.Uncertain {
						t.Errorf("asked about %+v", p)
					}
					return tc.decision, tc.err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			res, err := a.Stream(t.Context(), "go", func(e harness.Event) {
				switch e.Type {
				case harness.EventApproval, harness.EventDecided, harness.EventToolResult, harness.EventResult:
					told = append(told, string(e.Type))
				default:
				}
			})
			if err != nil || !strings.Contains(res.Text, tc.text) || ran.Load() != tc.ran || len(res.Pending) != 0 {
				t.Errorf("it ran %d times, result %+v, %v", ran.Load(), res, err)
			}
			status := harness.RunCompleted
			if tc.decision.How == harness.DecideAbort {
				status = harness.RunCancelled
			}
			if got := strings.Join(told, " "); res.Status != status || got != "approval_required decided tool_result run_result" {
				t.Errorf("%s after %s", res.Status, got)
			}
			if err := memory.Legal(memory.Repair(a.Messages())); err != nil {
				t.Error(err)
			}
		})
	}
}

// always is a policy with one verdict.
type always tool.Permission

func (a always) Judge(context.Context, tool.Call, tool.Tool, harness.ToolCall) policy.Verdict {
	return policy.Verdict{Permission: tool.Permission(a), Rule: "test"}
}

func TestWithoutAnybodyToAskNothingThatAsksRuns(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Policy{nil, always(tool.Ask), always("perhaps"), always(""), policy.Rules{Interactive: true}} {
		var ran atomic.Int32
		a, err := agent.New(agent.Options{Model: batch(harness.ToolCall{Name: "pay"}), Tools: with(t, asking(t, "pay", &ran)), Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Run(t.Context(), "go")
		if err != nil || res.Status != harness.RunCompleted || ran.Load() != 0 || !strings.HasPrefix(res.Text, "permission denied") {
			t.Errorf("%#v: it ran %d times, result %+v, %v", p, ran.Load(), res, err)
		}
		if p != always("perhaps") && p != always("") && (len(res.Unasked) != 1 || res.Unasked[0].Call.Name != "pay" || !strings.Contains(res.Text, "nobody can be asked")) {
			t.Errorf("%#v: unasked are %+v, the model reads %q", p, res.Unasked, res.Text)
		}
	}
}

func TestWhoApprovesGetsCopies(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	got := make(chan string, 1)
	show := tool.WithPropose(func(_ context.Context, c tool.Call) (harness.Proposal, error) {
		return harness.Proposal{Kind: harness.ProposalCommand, Body: string(c.Input), About: []string{"in ~"}}, nil
	})
	pay, err := tool.New("pay", "a tool", func(_ context.Context, c tool.Call, _ struct {
		To string `json:"to"`
	},
	) (string, error) {
		ran.Add(1)
		got <- string(c.Input)
		return "paid", nil
	}, show)
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Options{
		Model: batch(harness.ToolCall{Name: "pay", Input: json.RawMessage(`{"to":"ada"}`)}), Tools: with(t, pay),
		Approve: func(_ context.Context, p harness.Pending) (harness.Decision, error) {
			copy(p.Call.Input, `{"to":"eve"}`)
			p.Proposal.Body, p.Proposal.About[0] = "nothing", "nowhere"
			return harness.Decision{How: harness.DecideApprove}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var shown harness.Proposal
	if _, err := a.Stream(t.Context(), "go", func(e harness.Event) {
		if e.Type == harness.EventApproval {
			shown = *e.Pending.Proposal
		}
	}); err != nil {
		t.Fatal(err)
	}
	if in := <-got; in != `{"to":"ada"}` || ran.Load() != 1 || shown.Body != in || shown.About[0] != "in ~" {
		t.Errorf("it ran %d times with %s, shown was %+v", ran.Load(), in, shown)
	}
}

func TestCancelWhileAPersonThinks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ran atomic.Int32
	a, err := agent.New(agent.Options{
		Model: batch(harness.ToolCall{Name: "pay"}, harness.ToolCall{Name: "pay"}), Tools: with(t, asking(t, "pay", &ran)),
		Approve: func(ctx context.Context, _ harness.Pending) (harness.Decision, error) {
			cancel()
			<-ctx.Done()
			return harness.Decision{How: harness.DecideApprove}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Run(ctx, "go")
	if err != nil || res.Status != harness.RunCancelled || ran.Load() != 0 {
		t.Errorf("it ran %d times, result %+v, %v", ran.Load(), res, err)
	}
	msgs := a.Messages()
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		t.Error(err)
	}
	if n := len(msgs); n != 4 {
		t.Errorf("%d messages, want the question, the answer and two results", n)
	}
}

func TestQuestionIsAnsweredByAPerson(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	ask := asking(t, "ask_user", &ran, tool.WithPropose(func(context.Context, tool.Call) (harness.Proposal, error) {
		return harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which one?", Choices: []string{"this", "that"}}, nil
	}))
	a, err := agent.New(agent.Options{
		Model: batch(harness.ToolCall{Name: "ask_user"}), Tools: with(t, ask),
		Approve: func(_ context.Context, p harness.Pending) (harness.Decision, error) {
			if !p.Question() {
				t.Errorf("asked was %+v", p)
			}
			return harness.Decision{How: harness.DecideAnswer, Text: p.Proposal.Choices[1]}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Run(t.Context(), "go")
	if err != nil || res.Text != "that" || ran.Load() != 0 {
		t.Errorf("the tool ran %d times, result %+v, %v", ran.Load(), res, err)
	}
}

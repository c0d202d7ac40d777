package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/hook"
	"cairn/harness/model"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
)

// observed collects events.
type observed struct {
	mu  sync.Mutex
	all []hook.Event
}

func (o *observed) see(_ context.Context, e hook.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, e)
}

func (o *observed) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for _, e := range o.all {
		names = append(names, e.Name())
	}
	return names
}

// find returns the first event of a type.
func find[E hook.Event](t *testing.T, o *observed) E {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.all {
		if e, ok := e.(E); ok {
			return e
		}
	}
	var none E
	t.Fatalf("no %T in %d events", none, len(o.all))
	return none
}

// calls answers with one call each time until they are used up, then in words.
func calls(all ...harness.ToolCall) answering {
	n := 0
	return func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		if n < len(all) {
			c := all[n]
			n++
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &c}}, Stop: harness.StopTools, Model: "mock/m"}, nil
		}
		emit(model.Delta{Kind: model.DeltaText, Text: "done"})
		r := text("done")
		r.Model = "mock/other"
		return r, nil
	}
}

func standardTools(t *testing.T) *tool.Set {
	t.Helper()
	set := new(tool.Set)
	echo, err := tool.New("echo", "Say it again.", func(_ context.Context, _ tool.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		return in.Text, nil
	}, tool.WithPermission(tool.Allow))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(set.Add(echo), ask.Register(set)); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestHooksSeeEachStageInOrder(t *testing.T) {
	t.Parallel()
	var seen observed
	a, err := agent.New(agent.Options{
		Model: calls(
			harness.ToolCall{Name: "echo", Input: json.RawMessage(`{"text":"hi"}`)},
			harness.ToolCall{Name: ask.TodosTool, Input: json.RawMessage(`{"todos":[{"text":"a","status":"completed"},{"text":"b","status":"completed"}]}`)},
		),
		Info: model.Info{ID: "mock/m"}, Tools: standardTools(t), System: "be brief", Hooks: []hook.Func{seen.see},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	tools := []string{"checkpoint", "tool_call_start", "checkpoint", "tool_call_end"}
	want := slices.Concat(
		[]string{"agent_start", "loop_iteration_start", "llm_request", "llm_response"}, tools,
		[]string{"checkpoint", "loop_iteration_end", "loop_iteration_start", "llm_request", "llm_response"}, tools,
		[]string{"todos_updated", "checkpoint", "loop_iteration_end", "loop_iteration_start", "llm_request", "llm_response", "checkpoint"},
		[]string{"checkpoint", "loop_iteration_end", "agent_end"},
	)
	if got := seen.names(); !slices.Equal(got, want) {
		t.Errorf("hooks were told\n%v, want\n%v", got, want)
	}
	if e := find[hook.LLMRequest](t, &seen); e.Model != "mock/m" || e.System != "be brief" || e.Messages != 1 || e.Tools == 0 || e.Estimate == 0 || e.PrefixKey == "" {
		t.Errorf("the request is told as %+v", e)
	}
	if e := find[hook.ToolCallEnd](t, &seen); e.Call.Name != "echo" || e.Result.Text != "hi" || e.Step != 1 || e.Session != a.SessionID() {
		t.Errorf("the end of a call is told as %+v", e)
	}
	if e := find[hook.TodosUpdated](t, &seen); e.Total != 2 || e.Completed != 2 || e.InProgress != 0 || e.Todos[0].Text != "a" {
		t.Errorf("the task list is told as %+v", e)
	}
	if e := find[hook.AgentEnd](t, &seen); e.Result.Status != harness.RunCompleted || e.Result.Text != "done" || e.Step != 3 {
		t.Errorf("the end is told as %+v", e)
	}
	if e := find[hook.AgentStart](t, &seen); e.Message.Text() != "go" || e.Resumed {
		t.Errorf("the start is told as %+v", e)
	}
}

// What a hook does with an event does not reach the run.
func TestHooksAreToldCopies(t *testing.T) {
	t.Parallel()
	scribble := func(_ context.Context, e hook.Event) {
		switch e := e.(type) {
		case hook.AgentStart:
			e.Message.Parts[0].Text = "scribbled"
		case hook.LLMResponse:
			for _, p := range e.Message.Parts {
				if p.Call != nil {
					p.Call.Name = "scribbled"
					copy(p.Call.Input, "scribbled")
				}
			}
		case hook.ToolCallStart:
			copy(e.Call.Input, "scribbled")
		}
	}
	a, err := agent.New(agent.Options{
		Model: calls(harness.ToolCall{Name: "echo", Input: json.RawMessage(`{"text":"hi"}`)}),
		Tools: standardTools(t), Hooks: []hook.Func{scribble},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	for _, m := range a.Messages() {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte("scribbled")) {
			t.Errorf("a hook changed the message %s", raw)
		}
	}
}

func TestHooksThatPanicOrHangChangeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var seen observed
		free := make(chan struct{})
		var late observed
		a, err := agent.New(agent.Options{
			Model: answering(echo),
			Hooks: []hook.Func{
				func(context.Context, hook.Event) { panic("no such luck") },
				func(ctx context.Context, e hook.Event) { <-free; late.see(ctx, e) },
				seen.see,
			},
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if res, err := a.Run(t.Context(), "go"); err != nil || res.Status != harness.RunCompleted {
				t.Fatalf("result %+v, %v", res, err)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if len(late.names()) != 0 {
			t.Error("a hook that hangs was told")
		}
		close(free)
		synctest.Wait()
		if want, got := seen.names(), late.names(); !slices.Equal(want, got) || len(got) == 0 {
			t.Errorf("the late hook was told\n%v, want\n%v", got, want)
		}
		if !strings.Contains(log.String(), "no such luck") || !strings.Contains(log.String(), "event=agent_start") {
			t.Errorf("the log says\n%s", log.String())
		}
	})
}

func TestHooksSeeFailuresAndRetries(t *testing.T) {
	t.Parallel()
	var seen observed
	a, err := agent.New(agent.Options{
		Model: answering(func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaRetry, Attempt: 2, Err: &model.Error{Kind: model.KindServer, Message: "overloaded"}})
			emit(model.Delta{Kind: model.DeltaReset, Attempt: 2})
			return model.Reply{}, &model.Error{Kind: model.KindQuota, Message: "no credit"}
		}),
		Info: model.Info{ID: "mock/m"}, Hooks: []hook.Func{seen.see},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if e := find[hook.Retry](t, &seen); e.Kind != hook.RetryModel || e.What != "mock/m" || e.Attempt != 1 || e.Next != 2 || e.Error == nil || e.Error.Kind != "server" {
		t.Errorf("the retry is told as %+v", e)
	}
	if e := find[hook.Error](t, &seen); e.Error.Kind != "quota" {
		t.Errorf("the error is told as %+v", e)
	}
	if e := find[hook.AgentEnd](t, &seen); e.Result.Status != harness.RunFailed {
		t.Errorf("the end is told as %+v", e)
	}
}

func TestHooksSeeWhatARefusalTaught(t *testing.T) {
	t.Parallel()
	var seen observed
	n := 0
	a, err := agent.New(agent.Options{
		Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			if n++; n == 1 {
				return model.Reply{}, &model.Error{Kind: model.KindReplyLimit, Limit: 1_000, Message: "at most 1000"}
			}
			return echo(ctx, r, emit)
		}),
		Info: model.Info{ID: "mock/m", MaxOutput: 8_000}, Hooks: []hook.Func{seen.see},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if e := find[hook.Recovery](t, &seen); e.Reason != "reply_limit" || e.Tries != 1 || e.MaxOutput != 1_000 {
		t.Errorf("the recovery is told as %+v", e)
	}
}

func TestHooksSeeTriesOfTools(t *testing.T) {
	t.Parallel()
	var seen observed
	tries := 0
	flaky := tool.Tool{
		Name: "flaky", Permission: tool.Allow, Replay: tool.Safe, Retry: tool.Retry{Attempts: 2, Wait: 1},
		Run: func(context.Context, tool.Call) (string, error) {
			if tries++; tries == 1 {
				return "", tool.Transient(errors.New("busy"))
			}
			return "done", nil
		},
	}
	set := new(tool.Set)
	if err := set.Add(flaky); err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Options{Model: calls(harness.ToolCall{Name: "flaky"}), Tools: set, Hooks: []hook.Func{seen.see}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if e := find[hook.Retry](t, &seen); e.Kind != hook.RetryTool || e.What != "flaky" || e.Attempt != 1 || e.Next != 2 || e.Error == nil || e.Error.Text != "busy" {
		t.Errorf("the retry is told as %+v", e)
	}
	if e := find[hook.ToolCallEnd](t, &seen); e.Result.Failed || e.Result.Text != "done" {
		t.Errorf("the end is told as %+v", e)
	}
}

func TestHooksSeeAnotherModelAndCirclesOfCalls(t *testing.T) {
	t.Parallel()
	var seen observed
	same := harness.ToolCall{Name: "echo", Input: json.RawMessage(`{"text":"again"}`)}
	answers := calls(same, same, same)
	a, err := agent.New(agent.Options{
		Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{
				Kind: model.DeltaRetry, Attempt: 2, Model: "mock/other",
				Err: &model.Error{Kind: model.KindQuota, Model: "mock/m", Message: "no credit"},
			})
			return answers(ctx, r, emit)
		}),
		Info: model.Info{ID: "mock/m"}, Tools: standardTools(t), Hooks: []hook.Func{seen.see},
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	if _, err := a.Stream(t.Context(), "go", func(e harness.Event) {
		if e.Type == harness.EventRetry {
			told = append(told, e.Text+": "+e.Error.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if want := "asking mock/other instead: no credit"; len(told) != 4 || told[0] != want {
		t.Errorf("it is told as %q, want %q for each of four calls", told, want)
	}
	if e := find[hook.Fallback](t, &seen); e.From != "mock/m" || e.To != "mock/other" || e.Error == nil || e.Error.Kind != "quota" {
		t.Errorf("the other model is told as %+v", e)
	}
	if e := find[hook.Repetition](t, &seen); e.Tool != "echo" || e.Step != 3 {
		t.Errorf("the circle is told as %+v", e)
	}
}

package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/anthropic"
	"cairn/harness/model/modeltest"
)

func ask(t *testing.T, o anthropic.Options, r model.Request, events ...string) (model.Reply, *modeltest.Service, error) {
	t.Helper()
	svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		for _, e := range events {
			// Without names of events, which some services leave out.
			a.Raw("data: " + e + "\n\n")
		}
	})
	o.Model, o.Key, o.BaseURL = "claude-x", "key-0123456789", svc.URL+"/v1/"
	m, err := anthropic.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages == nil {
		r.Messages = []harness.Message{harness.UserText("hi")}
	}
	reply, err := m.Stream(t.Context(), r, func(model.Delta) {})
	return reply, svc, err
}

const (
	start = `{"type":"message_start","message":{"id":"x","role":"assistant","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":2,"output_tokens":1}}}`
	ended = `{"type":"message_stop"}`
)

func stopped(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7}}`
}

func TestSealedReasoningComesAndGoes(t *testing.T) {
	t.Parallel()
	reply, _, err := ask(t, anthropic.Options{}, model.Request{}, start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me see"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2Vhb"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"A=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"aGlkZGVu"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`,
		`{"type":"content_block_stop","index":2}`,
		stopped("tool_use"), ended)
	if err != nil || len(reply.Parts) != 3 || reply.Parts[0].Text != "let me see" {
		t.Fatalf("%v, %+v", err, reply.Parts)
	}
	if got := string(reply.Parts[0].Opaque.Data); got != `{"signature":"c2VhbA=="}` {
		t.Errorf("sealed as %s", got)
	}
	if want := (harness.Usage{Input: 10, CacheRead: 3, CacheWrite: 2, Output: 7}); reply.Usage != want {
		t.Errorf("usage %+v", reply.Usage)
	}
	reply.Parts[2].Call.ID = "c1"
	_, svc, err := ask(t, anthropic.Options{}, model.Request{Messages: []harness.Message{
		harness.UserText("hi"),
		{Role: harness.RoleAssistant, Parts: reply.Parts},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Text: "ok"}}}},
	}}, start, stopped("end_turn"), ended)
	if err != nil {
		t.Fatal(err)
	}
	body, header, _ := svc.Last()
	for _, part := range []string{`"signature":"c2VhbA=="`, `"thinking":"let me see"`, `"data":"aGlkZGVu"`} {
		if !strings.Contains(string(body), part) {
			t.Errorf("the request lacks %s: %s", part, body)
		}
	}
	if header.Get("Anthropic-Version") == "" {
		t.Errorf("headers %v", header)
	}
}

func TestStopReasonsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	text := []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well."}}`,
		`{"type":"content_block_stop","index":0}`,
	}
	for reason, want := range map[string]harness.StopReason{
		"end_turn": harness.StopEnd, "stop_sequence": harness.StopEnd, "max_tokens": harness.StopLength, "model_context_window_exceeded": harness.StopLength,
		"pause_turn": harness.StopPause, "refusal": harness.StopRefusal, "a_reason_of_tomorrow": harness.StopOther,
	} {
		reply, _, err := ask(t, anthropic.Options{}, model.Request{}, append(append([]string{start}, text...), stopped(reason), ended)...)
		if err != nil || reply.Stop != want {
			t.Errorf("%s: %v, %s", reason, err, reply.Stop)
		}
	}
	_, _, err := ask(t, anthropic.Options{}, model.Request{}, start, stopped("refusal"), ended)
	if e, ok := model.AsError(err); !ok || e.Kind != model.KindRefused {
		t.Errorf("a refusal without words: %v", err)
	}
}

func TestReasoningFitsTheReplyBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effort       string
		own, request int
		budget, max  int64
	}{
		{"", 0, 0, 0, anthropic.DefaultOutput},
		{"high", 64000, 0, 24576, 64000},
		{"high", 64000, 20000, 10000, 20000},
		{"low", 0, 0, 2048, anthropic.DefaultOutput},
		{"high", 0, 1500, 0, 1500},
	} {
		_, svc, err := ask(t, anthropic.Options{Effort: c.effort, MaxOutput: c.own}, model.Request{MaxOutput: c.request}, start, stopped("end_turn"), ended)
		if err != nil {
			t.Fatal(err)
		}
		body, _, _ := svc.Last()
		var got struct {
			MaxTokens int64 `json:"max_tokens"`
			Thinking  struct {
				Budget int64 `json:"budget_tokens"`
			} `json:"thinking"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if got.MaxTokens != c.max || got.Thinking.Budget != c.budget {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	_, svc, err := ask(t, anthropic.Options{Effort: "high", Adaptive: true}, model.Request{}, start, stopped("end_turn"), ended)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := svc.Last()
	if !strings.Contains(string(body), `"effort":"high"`) || !strings.Contains(string(body), `"adaptive"`) || strings.Contains(string(body), "budget_tokens") {
		t.Errorf("an effort by name: %s", body)
	}
}

func TestATurnThatAnotherModelBeganGoesOnWithoutReasoning(t *testing.T) {
	t.Parallel()
	call := harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "f", Input: json.RawMessage(`{}`)}}
	thought := func(provider string) harness.Part {
		return harness.Part{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: provider, Data: json.RawMessage(`{"signature":"c2VhbA=="}`)}}
	}
	result := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Name: "f", Text: "ok"}}}}
	step := func(parts ...harness.Part) []harness.Message {
		return []harness.Message{harness.UserText("hi"), {Role: harness.RoleAssistant, Parts: parts}, result}
	}
	for name, c := range map[string]struct {
		messages []harness.Message
		thinks   bool
	}{
		"a new turn":        {append(step(call), harness.AssistantText("done"), harness.UserText("and?")), true},
		"a step of its own": {step(thought("anthropic"), call), true},
		"a foreign step":    {step(call), false},
		"foreign reasoning": {step(thought("openai"), call), false},
	} {
		_, svc, err := ask(t, anthropic.Options{Effort: "high", MaxOutput: 64000}, model.Request{Messages: c.messages}, start, stopped("end_turn"), ended)
		if err != nil {
			t.Fatal(err)
		}
		body, _, _ := svc.Last()
		if got := strings.Contains(string(body), "budget_tokens"); got != c.thinks || modeltest.CheckAnthropic(body, 0) != nil {
			t.Errorf("%s: reasoning %v in %s", name, got, body)
		}
	}
}

func TestCallsAreBehindEverythingElse(t *testing.T) {
	t.Parallel()
	call := harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "f", Input: json.RawMessage(`{}`)}}
	thought := harness.Part{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "anthropic", Data: json.RawMessage(`{"signature":"c2VhbA=="}`)}}
	_, svc, err := ask(t, anthropic.Options{}, model.Request{Messages: []harness.Message{
		harness.UserText("hi"),
		{Role: harness.RoleAssistant, Parts: []harness.Part{thought, call, {Kind: harness.PartText, Text: "I look."}}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Name: "f", Text: "ok"}}}},
	}}, start, stopped("end_turn"), ended)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := svc.Last()
	at := func(part string) int { return strings.Index(string(body), part) }
	if at(`"thinking":"hm"`) < 0 || at(`"thinking":"hm"`) > at(`"text":"I look."`) || at(`"text":"I look."`) > at(`"type":"tool_use"`) {
		t.Errorf("the order is %s", body)
	}
}

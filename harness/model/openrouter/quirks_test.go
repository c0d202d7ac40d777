package openrouter_test

import (
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/modeltest"
	"cairn/harness/model/openrouter"
)

func ask(t *testing.T, name string, messages []harness.Message, events ...string) (model.Reply, string, error) {
	t.Helper()
	svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		a.Raw(": OPENROUTER PROCESSING\n\n")
		for _, e := range append(events, "[DONE]") {
			a.Raw("data: " + e + "\n\n")
		}
	})
	m, err := openrouter.New(t.Context(), openrouter.Options{Model: name, Key: "key-0123456789", BaseURL: svc.URL + "/api/v1", Effort: "low"})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := m.Stream(t.Context(), model.Request{Messages: messages}, func(model.Delta) {})
	body, _, _ := svc.Last()
	return reply, string(body), err
}

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

func TestSealedReasoningComesAndGoesByVendor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, events, seal string
	}{
		{
			"anthropic/claude-x",
			`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","format":"anthropic-claude-v1","index":0,"text":"let me "}]}}]}
{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","format":"anthropic-claude-v1","index":0,"text":"see"}]}}]}
{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","format":"anthropic-claude-v1","index":0,"signature":"U2lnbmVk"}]}}]}`,
			"U2lnbmVk",
		},
		{
			"google/gemini-x",
			`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","format":"google-gemini-v1","index":0,"text":"let me see"}]}}]}
{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.encrypted","format":"google-gemini-v1","index":0,"data":"U2lnbmVk","id":"t1"}]}}]}`,
			"U2lnbmVk",
		},
	} {
		events := append(strings.Split(c.events, "\n"),
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"cost":0.0125}}`)
		question := []harness.Message{harness.UserText("hi")}
		reply, body, err := ask(t, c.name, question, events...)
		if err != nil || len(reply.Parts) != 2 || reply.Parts[0].Text != "let me see" || reply.Parts[0].Opaque == nil {
			t.Errorf("%s: %v, %+v", c.name, err, reply.Parts)
			continue
		}
		if !strings.Contains(body, `"effort":"low"`) {
			t.Errorf("%s: the effort is missing: %s", c.name, body)
		}
		if !reply.Usage.CostKnown || reply.Usage.Cost != 0.0125 {
			t.Errorf("%s: usage %+v", c.name, reply.Usage)
		}
		reply.Parts[1].Call.ID = "c1"
		history := append(question, harness.Message{Role: harness.RoleAssistant, Parts: reply.Parts},
			harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Text: "ok"}}}})
		if _, body, err = ask(t, c.name, history, stop); err != nil || !strings.Contains(body, c.seal) {
			t.Errorf("%s: %v, the seal is missing in %s", c.name, err, body)
		}
		// Another vendor behind the same router must not see it.
		if _, body, err = ask(t, "mistral/large", history, stop); err != nil || strings.Contains(body, c.seal) {
			t.Errorf("%s: %v, the seal is in %s", c.name, err, body)
		}
	}
}

func TestTokensAndCostAreRead(t *testing.T) {
	t.Parallel()
	reply, body, err := ask(t, "anthropic/claude-x", []harness.Message{harness.UserText("hi")}, `{"choices":[{"index":0,"delta":{"content":"Hello"}}]}`, stop,
		`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"cost":0.0125,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":7}}}`)
	want := harness.Usage{Input: 100, CacheRead: 60, CacheWrite: 30, Output: 20, Reasoning: 7, Cost: 0.0125, CostKnown: true}
	if err != nil || reply.Usage != want || reply.Model != "openrouter/anthropic/claude-x" {
		t.Errorf("%v, %+v of %s", err, reply.Usage, reply.Model)
	}
	if !strings.Contains(body, `"include":true`) {
		t.Errorf("nobody asked for the usage: %s", body)
	}
}

func TestOnlyModelsThatWantMarksGetThem(t *testing.T) {
	t.Parallel()
	messages := []harness.Message{harness.UserText("hi"), harness.AssistantText("hello"), harness.UserText("well")}
	if _, body, err := ask(t, "openai/gpt-x", messages, stop); err != nil || strings.Contains(body, "cache_control") || !strings.Contains(body, `"content":"well"`) {
		t.Errorf("%v, %s", err, body)
	}
	_, body, err := ask(t, "anthropic/claude-x", messages, stop)
	if err != nil || strings.Count(body, "cache_control") != 2 || modeltest.CheckOpenAI([]byte(body), 0) != nil {
		t.Errorf("%v, %s", err, body)
	}
}

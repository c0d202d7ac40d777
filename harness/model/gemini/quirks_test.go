package gemini_test

import (
	"cmp"
	"encoding/base64"
	"log"
	"reflect"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/gemini"
	"cairn/harness/model/modeltest"
)

func ask(t *testing.T, o gemini.Options, r model.Request, events ...string) (model.Reply, *modeltest.Service, error) {
	t.Helper()
	svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		for _, e := range events {
			a.Raw("data: " + e + "\n\n")
		}
	})
	o.Model, o.Key, o.BaseURL = cmp.Or(o.Model, "gemini-x"), "key-0123456789", svc.URL
	m, err := gemini.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages == nil {
		r.Messages = []harness.Message{harness.UserText("hi")}
	}
	reply, err := m.Stream(t.Context(), r, func(model.Delta) {})
	return reply, svc, err
}

func TestFinishReasonsThatAreFailuresAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, says string }{
		"malformed":             {`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad \u001bcall"}]}`, "MALFORMED_FUNCTION_CALL): bad call"},
		"with a signature only": {`{"candidates":[{"content":{"parts":[{"thoughtSignature":"U2lnbmVk"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "MALFORMED_FUNCTION_CALL"},
		"with a call":           {`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "MALFORMED_FUNCTION_CALL"},
		"unexpected":            {`{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL"}]}`, "UNEXPECTED_TOOL_CALL"},
		"safety":                {`{"candidates":[{"finishReason":"SAFETY"}]}`, "SAFETY"},
		"a reason of tomorrow":  {`{"candidates":[{"finishReason":"BAD_MOON"}]}`, "BAD_MOON"},
		"prompt blocked":        {`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, "PROHIBITED_CONTENT"},
	} {
		reply, _, err := ask(t, gemini.Options{}, model.Request{}, c.event)
		e, ok := model.AsError(err)
		if !ok || e.Kind != model.KindRefused || !strings.Contains(e.Message, c.says) || len(reply.Parts) != 0 {
			t.Errorf("%s: %v, %+v", name, err, reply.Parts)
		}
	}
	reply, _, err := ask(t, gemini.Options{}, model.Request{}, `{"candidates":[{"finishReason":"STOP"}]}`)
	if err != nil || len(reply.Parts) != 0 || reply.Stop != harness.StopEnd {
		t.Errorf("an empty reply: %v, %+v", err, reply)
	}
}

func TestThoughtSignaturesComeAndGo(t *testing.T) {
	t.Parallel()
	signature := base64.StdEncoding.EncodeToString([]byte{0xff, 0x00, 0xfe, 'x'})
	reply, _, err := ask(t, gemini.Options{Thoughts: true}, model.Request{},
		`{"candidates":[{"content":{"parts":[{"text":"let me see","thought":true}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"`+signature+`"}]},"finishReason":"STOP"}]}`,
	)
	if err != nil || len(reply.Parts) != 2 || reply.Parts[0].Opaque == nil || reply.Parts[0].Text != "let me see" || reply.Stop != harness.StopTools {
		t.Fatalf("%v, %+v", err, reply.Parts)
	}
	reply.Parts[1].Call.ID = "c1"
	_, svc, err := ask(t, gemini.Options{}, model.Request{Messages: []harness.Message{
		harness.UserText("hi"),
		{Role: harness.RoleAssistant, Parts: reply.Parts},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Text: "ok"}}}},
	}}, `{"candidates":[{"finishReason":"STOP"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := svc.Last()
	got, err := modeltest.Gemini{}.Request(body)
	if err != nil || !reflect.DeepEqual(got.Turns[1].Seals, []string{signature}) || got.Turns[1].Calls[0].Name != "f" {
		t.Fatalf("%v, %+v", err, got.Turns)
	}
}

func TestUsageOfEveryChunkIsATotal(t *testing.T) {
	t.Parallel()
	reply, _, err := ask(t, gemini.Options{}, model.Request{},
		`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1,"totalTokenCount":11}}`,
		`{"candidates":[{"content":{"parts":[{"text":"b"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":17}}`,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":5,"cachedContentTokenCount":4,"totalTokenCount":18}}`,
	)
	want := harness.Usage{Input: 10, CacheRead: 4, Output: 8, Reasoning: 5}
	if err != nil || reply.Usage != want {
		t.Fatalf("%v, %+v", err, reply.Usage)
	}
}

func TestNamesOfOtherPlatformsModelsAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := gemini.New(t.Context(), gemini.Options{Model: "claude-x"}); err == nil {
		t.Fatal("no error")
	}
}

// The SDK writes failures to the standard logger, which would land on the
// screen. Not parallel: the logger is the process's own.
func TestABrokenStreamIsNotLogged(t *testing.T) {
	var out strings.Builder
	old := log.Writer()
	log.SetOutput(&out)
	defer log.SetOutput(old)
	for _, events := range [][]string{
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`}, {`{"error":{"code":503,"message":"x"}}`}, {`{"can`}, {"<html>"},
	} {
		if _, _, err := ask(t, gemini.Options{}, model.Request{}, events...); err == nil {
			t.Errorf("%v: no error", events)
		}
	}
	if out.Len() > 0 {
		t.Errorf("logged %q", out.String())
	}
}

func TestTokensOfToolsAreInput(t *testing.T) {
	t.Parallel()
	reply, _, err := ask(t, gemini.Options{}, model.Request{},
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":90,"toolUsePromptTokenCount":10,"cachedContentTokenCount":60,"candidatesTokenCount":13,"thoughtsTokenCount":7,"totalTokenCount":120}}`)
	if want := (harness.Usage{Input: 100, CacheRead: 60, Output: 20, Reasoning: 7}); err != nil || reply.Usage != want {
		t.Errorf("%v, %+v", err, reply.Usage)
	}
}

func TestAMovingPictureThatCannotBeReadStaysAsItIs(t *testing.T) {
	t.Parallel()
	huge := []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00")
	for name, data := range map[string][]byte{"broken": []byte("GIF89a"), "huge": huge, "no picture": []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;")} {
		_, svc, err := ask(t, gemini.Options{}, model.Request{Messages: []harness.Message{{Role: harness.RoleUser, Parts: []harness.Part{
			{Kind: harness.PartFile, File: &harness.File{Name: "a.gif", MediaType: "image/gif", Data: data}},
		}}}}, `{"candidates":[{"finishReason":"STOP"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		body, _, _ := svc.Last()
		if !strings.Contains(string(body), base64.StdEncoding.EncodeToString(data)) || !strings.Contains(string(body), "image/gif") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestCallsOfAnotherModelAreSentWithAWordForTheirSignature(t *testing.T) {
	t.Parallel()
	call := func(id string) harness.Part {
		return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "f", Input: []byte(`{}`)}}
	}
	result := func(id string) harness.Part {
		return harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id, Name: "f", Text: "ok"}}
	}
	own := harness.Part{Kind: harness.PartThinking, Opaque: &harness.Opaque{Provider: "gemini", Data: []byte(`{"signature":"U2lnbmVk"}`)}}
	r := model.Request{Messages: []harness.Message{
		harness.UserText("hi"),
		{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartText, Text: "I look."}, call("c1"), call("c2")}},
		{Role: harness.RoleTool, Parts: []harness.Part{result("c1"), result("c2")}},
		{Role: harness.RoleAssistant, Parts: []harness.Part{own, call("c3"), call("c4")}},
		{Role: harness.RoleTool, Parts: []harness.Part{result("c3"), result("c4")}},
	}}
	for name, want := range map[string][][]string{
		"gemini-3-pro-preview": {{"skip_thought_signature_validator"}, {"U2lnbmVk"}},
		"gemini-2.5-pro":       {nil, {"U2lnbmVk"}},
	} {
		_, svc, err := ask(t, gemini.Options{Model: name}, r, `{"candidates":[{"finishReason":"STOP"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		body, _, _ := svc.Last()
		got, err := modeltest.Gemini{}.Request(body)
		if err != nil || !reflect.DeepEqual([][]string{got.Turns[1].Seals, got.Turns[3].Seals}, want) || modeltest.CheckGemini(body, 0) != nil {
			t.Errorf("%s: %v, %s", name, err, body)
		}
	}
}

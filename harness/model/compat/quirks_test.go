package compat_test

import (
	"reflect"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/compat"
	"cairn/harness/model/modeltest"
)

// reply asks a server that answers with raw events.
func reply(t *testing.T, events ...string) (model.Reply, string, error) {
	t.Helper()
	svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		for _, e := range events {
			a.Raw("data: " + e + "\n\n")
		}
	})
	m, err := compat.New(t.Context(), compat.Options{Provider: "local", Model: "m", BaseURL: svc.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	r, err := m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("hi")}}, func(d model.Delta) { text.WriteString(d.Text) })
	return r, text.String(), err
}

func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

const (
	stop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	tools = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	end   = `[DONE]`
)

type want struct{ origin, name, input string }

func TestCallsAreToldApartWithoutIndexOrID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		want   []want
	}{
		"no index": {
			[]string{delta(`{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","function":{"name":"g","arguments":"{\"b\":2}"}}]}`)},
			[]want{{"c1", "f", `{"a":1}`}, {"c2", "g", `{"b":2}`}},
		},
		"no index in events of their own": {
			[]string{
				delta(`{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"a\":1}"}}]}`),
				delta(`{"tool_calls":[{"id":"c2","function":{"name":"f","arguments":"{\"b\":2}"}}]}`),
			},
			[]want{{"c1", "f", `{"a":1}`}, {"c2", "f", `{"b":2}`}},
		},
		"id in the first piece only": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}}]}`),
				delta(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
			},
			[]want{{"c1", "f", `{"a":1}`}},
		},
		"empty id and name later": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":"1}"}}]}`),
			},
			[]want{{"c1", "f", `{"a":1}`}},
		},
		"id and name in every piece": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"1}"}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}]}`),
			},
			[]want{{"c1", "f", `{"a":1}`}},
		},
		"every call is the first": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"c2","function":{"name":"f","arguments":"{\"b\":2}"}}]}`),
			},
			[]want{{"c1", "f", `{}`}, {"c2", "f", `{"b":2}`}},
		},
		"one id for all": {
			[]string{delta(`{"tool_calls":[{"id":"call_0","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"call_0","function":{"name":"f","arguments":"{\"b\":2}"}}]}`)},
			[]want{{"call_0", "f", `{"a":1}`}, {"call_0", "f", `{"b":2}`}},
		},
		"pieces of two calls in turn": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}},{"index":1,"id":"c2","function":{"name":"g","arguments":"{\"b\":"}}]}`),
				delta(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"function":{"arguments":"2}"}}]}`),
			},
			[]want{{"c1", "f", `{"a":1}`}, {"c2", "g", `{"b":2}`}},
		},
		"arguments as an object": {
			[]string{delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":{"a":1}}}]}`)},
			[]want{{"c1", "f", `{"a":1}`}},
		},
		"arguments null and content null": {
			[]string{delta(`{"content":null,"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":null}}]}`)},
			[]want{{"c1", "f", `{}`}},
		},
	} {
		for _, finish := range []string{tools, stop} {
			r, _, err := reply(t, append(c.events, finish, end)...)
			var got []want
			for _, call := range (harness.Message{Parts: r.Parts}).Calls() {
				got = append(got, want{call.Origin, call.Name, string(call.Input)})
			}
			if err != nil || r.Stop != harness.StopTools || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %v, stop %s, calls %v, want %v", name, err, r.Stop, got, c.want)
			}
		}
	}
}

func TestUsageIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]string{
		"after the finish":   {stop, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`},
		"with the finish":    {`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`},
		"without choices":    {stop, `{"usage":{"prompt_tokens":3,"completion_tokens":2}}`},
		"null until the end": {`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`, `{"choices":[]}`},
		"null choices":       {stop, `{"choices":null,"usage":{"prompt_tokens":3,"completion_tokens":2}}`},
	} {
		r, text, err := reply(t, append(append([]string{delta(`{"content":"ok"}`)}, events...), end)...)
		if err != nil || text != "ok" || r.Usage.Input != 3 || r.Usage.Output != 2 || r.Usage.Incomplete {
			t.Errorf("%s: %v, %q, %+v", name, err, text, r.Usage)
		}
	}
	r, _, err := reply(t, delta(`{"content":"ok"}`), stop, end)
	if err != nil || !r.Usage.Incomplete {
		t.Errorf("none: %v, %+v", err, r.Usage)
	}
}

func TestReasoningIsKeptApartFromTheText(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"reasoning_content", "reasoning"} {
		r, _, err := reply(t, delta(`{"`+field+`":"let me "}`), delta(`{"`+field+`":"see"}`), delta(`{"content":"4"}`), stop, end)
		want := []harness.Part{{Kind: harness.PartThinking, Text: "let me see"}, {Kind: harness.PartText, Text: "4"}}
		if err != nil || !reflect.DeepEqual(r.Parts, want) {
			t.Errorf("%s: %v, %+v", field, err, r.Parts)
		}
	}
}

func TestErrorsInsideTheStreamFailTheReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		kind   model.ErrorKind
		says   string
	}{
		"alone":                  {[]string{`{"error":{"message":"quota"}}`, end}, model.KindQuota, "quota"},
		"beside empty choices":   {[]string{`{"choices":[],"error":{"message":"gone wrong"}}`, end}, model.KindServer, "gone wrong"},
		"finish reason error":    {[]string{`{"choices":[{"delta":{},"finish_reason":"error","error":{"code":502,"message":"upstream broke"}}]}`, end}, model.KindServer, "upstream broke"},
		"error without a reason": {[]string{`{"choices":[{"delta":{},"finish_reason":"error"}]}`, end}, model.KindServer, "finish reason error"},
		"blocked":                {[]string{`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, end}, model.KindRefused, "content_filter"},
		"refused":                {[]string{`{"choices":[{"delta":{"refusal":"I would rather not."}}]}`, stop, end}, model.KindRefused, "I would rather not."},
		"broken JSON":            {[]string{`{"choices":[{"del`}, model.KindIncomplete, "broken"},
		"another shape":          {[]string{`{"choices":7}`}, model.KindProtocol, "unknown shape"},
	} {
		_, _, err := reply(t, c.events...)
		e, ok := model.AsError(err)
		if !ok || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || e.Provider != "local" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReasoningOfTheTurnGoesBackAndOlderDoesNot(t *testing.T) {
	t.Parallel()
	svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) { a.Raw("data: " + stop + "\n\ndata: [DONE]\n\n") })
	m, err := compat.New(t.Context(), compat.Options{Provider: "local", Model: "m", BaseURL: svc.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	thought := func(text, by string) harness.Message {
		return harness.Message{Role: harness.RoleAssistant, Model: by, Parts: []harness.Part{
			{Kind: harness.PartThinking, Text: text},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c" + text, Name: "f", Input: []byte("{}")}},
		}}
	}
	result := func(id string) harness.Message {
		return harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id, Text: "ok"}}}}
	}
	_, err = m.Stream(t.Context(), model.Request{Messages: []harness.Message{
		harness.UserText("a"), thought("older", "local/m"), result("colder"), harness.AssistantText("b"),
		harness.UserText("c"), thought("foreign", "other/m"), result("cforeign"), thought("recent", "local/m"), result("crecent"),
	}}, func(model.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := svc.Last()
	if got := strings.Count(string(body), "reasoning_content"); got != 1 || !strings.Contains(string(body), `"reasoning_content":"recent"`) {
		t.Errorf("%d times in %s", got, body)
	}
}

func TestTokensAreReadWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage string
		want  harness.Usage
	}{
		"plain":                  {`{"prompt_tokens":30,"completion_tokens":9,"total_tokens":39}`, harness.Usage{Input: 30, Output: 9}},
		"cached and reasoning":   {`{"prompt_tokens":30,"completion_tokens":9,"total_tokens":39,"prompt_tokens_details":{"cached_tokens":12},"completion_tokens_details":{"reasoning_tokens":4}}`, harness.Usage{Input: 30, CacheRead: 12, Output: 9, Reasoning: 4}},
		"written to the cache":   {`{"prompt_tokens":30,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":12,"cache_write_tokens":8}}`, harness.Usage{Input: 30, CacheRead: 12, CacheWrite: 8, Output: 9}},
		"hits":                   {`{"prompt_tokens":30,"completion_tokens":9,"prompt_cache_hit_tokens":12,"prompt_cache_miss_tokens":18}`, harness.Usage{Input: 30, CacheRead: 12, Output: 9}},
		"reasoning beside":       {`{"prompt_tokens":30,"completion_tokens":9,"total_tokens":79,"completion_tokens_details":{"reasoning_tokens":40}}`, harness.Usage{Input: 30, Output: 49, Reasoning: 40}},
		"more cached than there": {`{"prompt_tokens":30,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":99,"cache_write_tokens":99}}`, harness.Usage{Input: 30, CacheRead: 30, Output: 9}},
		"less than nothing":      {`{"prompt_tokens":-30,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":-5},"cost":-3}`, harness.Usage{Output: 9}},
		"a cost":                 {`{"prompt_tokens":30,"completion_tokens":9,"cost":0.5}`, harness.Usage{Input: 30, Output: 9, Cost: 0.5, CostKnown: true}},
		"an absurd cost":         {`{"prompt_tokens":30,"completion_tokens":9,"cost":1e300}`, harness.Usage{Input: 30, Output: 9}},
		"nothing":                {`{"prompt_tokens":0,"completion_tokens":0}`, harness.Usage{Incomplete: true}},
		"null":                   {`null`, harness.Usage{Incomplete: true}},
	} {
		got, _, err := reply(t, delta(`{"content":"Hello"}`), stop, `{"choices":[],"usage":`+c.usage+`}`, end)
		if err != nil || got.Usage != c.want {
			t.Errorf("%s: %v, %+v, want %+v", name, err, got.Usage, c.want)
		}
	}
}

package choose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/model/choose"
	"cairn/harness/model/modeltest"
	"cairn/storage/mem"
)

// interfaces are the ways to speak to a model, with an address each.
func interfaces() map[string]struct {
	path    string
	dialect modeltest.Dialect
	marked  bool
} {
	return map[string]struct {
		path    string
		dialect modeltest.Dialect
		marked  bool
	}{
		"openai/gpt-4o":                          {"/v1", modeltest.OpenAI{}, false},
		"anthropic/claude-sonnet-4-6":            {"", modeltest.Anthropic{}, true},
		"gemini/gemini-2.5-pro":                  {"", modeltest.Gemini{}, false},
		"openrouter/anthropic/claude-sonnet-4.6": {"/v1", modeltest.OpenAI{}, true},
		"openrouter/openai/gpt-4o":               {"/v1", modeltest.OpenAI{}, false},
		"ollama/llama3":                          {"/v1", modeltest.OpenAI{}, false},
	}
}

// A conversation with tools, on another day in each turn and with another fact
// recalled: what was cached of a request is the beginning of the next one, byte
// for byte, up to and with the question that began the turn.
func TestTheNextRequestBeginsAsTheOneBefore(t *testing.T) {
	t.Parallel()
	for id, c := range interfaces() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			d := c.dialect
			svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
				a.Send(modeltest.Plain, d.Start(), d.Text("well"), d.Finish("stop"), d.Usage(3, 0, 1, 0), d.End())
			})
			provider, _, _ := strings.Cut(id, "/")
			m, info, err := choose.Build(t.Context(), id, choose.Env{
				BaseURLs: map[string]string{provider: svc.URL + c.path}, Key: func(string) string { return "sk-test" },
			})
			if err != nil {
				t.Fatal(err)
			}
			h := conversation{t: t, m: m, svc: svc, marked: c.marked, in: memory.In{Session: "s1", Info: info, Dir: "/tmp", Tools: []model.ToolSpec{
				{Name: "now", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`)},
				{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
			}}}
			h.run()
		})
	}
}

// conversation sends the requests of a conversation and compares each with the one
// before.
type conversation struct {
	t      *testing.T
	m      model.Model
	svc    *modeltest.Service
	marked bool
	in     memory.In

	composer                memory.Composer
	system, tools, messages []byte
	contexts                map[string]bool
	// asked is the question that began the turn of the request before.
	asked string
}

func (h *conversation) run() {
	store := mem.New(func() time.Time { return h.in.Now })
	h.composer.Facts, h.contexts = store.Facts(), map[string]bool{}
	h.in.Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for turn := range 6 {
		h.in.Now = h.in.Now.Add(24 * time.Hour)
		if _, _, err := store.Facts().Save(h.t.Context(), harness.Fact{Text: fmt.Sprintf("Likes question %d.", turn), Category: "preference"}, fmt.Sprint(turn)); err != nil {
			h.t.Fatal(err)
		}
		question := fmt.Sprintf("question %d about things", turn)
		id := fmt.Sprintf("r%d_1_1", turn)
		h.in.Turn = []harness.Message{harness.UserText(question)}
		h.send(question)
		h.in.Turn = append(h.in.Turn,
			harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "now", Input: json.RawMessage(`{"zone":"utc"}`)}}}},
			harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id, Name: "now", Text: "noon"}}}})
		h.send(question)
		for _, m := range append(h.in.Turn, harness.AssistantText(fmt.Sprintf("answer %d", turn))) {
			n := len(h.in.History)
			h.in.History = append(h.in.History, harness.Record{Seq: n + 1, Prev: n, Kind: harness.RecordMessage, Message: &m})
		}
	}
	if len(h.contexts) < 6 {
		h.t.Errorf("only %d contexts: nothing changed that could do harm", len(h.contexts))
	}
}

// send makes the next request.
func (h *conversation) send(question string) {
	out, err := h.composer.Compose(h.t.Context(), h.in)
	if err != nil {
		h.t.Fatal(err)
	}
	h.contexts[out.Request.Context] = true
	if _, err := h.m.Stream(h.t.Context(), out.Request, func(model.Delta) {}); err != nil {
		h.t.Fatal(err)
	}
	body, _, address := h.svc.Last()
	path, _, _ := strings.Cut(address, "?")
	if err := modeltest.CheckerOf(path)(body, h.in.Info.Window); err != nil {
		h.t.Errorf("%s refuses the request: %v", path, err)
	}
	if h.marked != bytes.Contains(body, []byte("cache_control")) {
		h.t.Errorf("marks: %s", body)
	}
	system, tools, messages, err := modeltest.Parts(body)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.asked != "" {
		if !bytes.Equal(system, h.system) || !bytes.Equal(tools, h.tools) {
			h.t.Errorf("system prompt or tools changed:\n%s\n%s", system, tools)
		}
		if end := bytes.Index(h.messages, []byte(h.asked)) + len(h.asked); end < len(h.asked) || !bytes.HasPrefix(messages, h.messages[:end]) {
			h.t.Errorf("the request does not begin as the one before:\n%s\n%s", h.messages, messages)
		}
	}
	h.system, h.tools, h.messages, h.asked = system, tools, messages, question
}

// The second model answers when the first is overloaded: the reply is its own, at
// its prices, and who failed is told.
func TestTheAnswerIsPricedByWhoGaveIt(t *testing.T) {
	t.Parallel()
	busy := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		a.Refuse(503, "application/json", modeltest.OpenAI{}.Refusal(503, "overloaded"))
	})
	d := modeltest.Anthropic{}
	well := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		a.Send(modeltest.Plain, d.Start(), d.Text("Hello"), d.Finish("stop"), d.Usage(1000, 0, 100, 0), d.End())
	})
	m, info, err := choose.Build(t.Context(), "openai/gpt-4o", choose.Env{
		BaseURLs: map[string]string{"openai": busy.URL + "/v1", "anthropic": well.URL}, Key: func(string) string { return "sk-test" },
		Fallback: []string{"anthropic/claude-opus-4-6"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var news []string
	reply, err := m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("hi")}}, func(d model.Delta) {
		if d.Kind == model.DeltaRetry {
			news = append(news, d.Err.Model+" then "+d.Model)
		}
	})
	if err != nil || reply.Model != "anthropic/claude-opus-4-6" || len(news) != 1 || news[0] != "openai/gpt-4o then anthropic/claude-opus-4-6" {
		t.Fatalf("%v, %q answered, %q", err, reply.Model, news)
	}
	want := info.Of(reply.Model).Cost(harness.Usage{Input: 1000, Output: 100})
	first := info.Cost(harness.Usage{Input: 1000, Output: 100})
	if !reply.Usage.CostKnown || reply.Usage.Cost != want.Cost || want.Cost == first.Cost {
		t.Errorf("it cost %+v, want %g", reply.Usage, want.Cost)
	}
	if info.Most(1000, 100) < want.Cost || busy.Count() != 1 || well.Count() != 1 {
		t.Errorf("at most %g, %d and %d requests", info.Most(1000, 100), busy.Count(), well.Count())
	}
}

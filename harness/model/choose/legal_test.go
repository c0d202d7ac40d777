package choose_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/model/choose"
	"cairn/harness/model/modeltest"
)

// texts are what people, models and tools say, odd things among it.
var texts = []string{"", " \n", "hello", "cut \xf0\x9f", "null\x00byte", `{"a":1}`, "漢字", "\ud7ff\ufffe", "<b>", "trailing \n"}

// anyMessage draws a message as it might be stored.
func anyMessage(t *rapid.T) harness.Message {
	text := rapid.SampledFrom(texts)
	id := rapid.SampledFrom([]string{"", "c1", "c2", "odd|id:3", strings.Repeat("x", 70)})
	m := harness.Message{
		Role: rapid.SampledFrom([]harness.Role{harness.RoleUser, harness.RoleAssistant, harness.RoleTool}).Draw(t, "role"),
		Mark: rapid.SampledFrom([]harness.Mark{harness.MarkNone, harness.MarkNotice, harness.MarkInterrupted}).Draw(t, "mark"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		p := harness.Part{Kind: rapid.SampledFrom([]harness.PartKind{harness.PartText, harness.PartThinking, harness.PartCall, harness.PartResult, harness.PartFile}).Draw(t, "kind")}
		switch p.Kind {
		case harness.PartText:
			p.Text = text.Draw(t, "text")
		case harness.PartThinking:
			p.Text = text.Draw(t, "thought")
			if rapid.Bool().Draw(t, "sealed") {
				p.Opaque = &harness.Opaque{Provider: rapid.SampledFrom([]string{"anthropic", "gemini", "openrouter/anthropic", "other"}).Draw(t, "issuer"), Data: json.RawMessage(`{"signature":"U2lnbmVk"}`)}
			}
		case harness.PartCall:
			p.Call = &harness.ToolCall{ID: id.Draw(t, "call"), Name: "now", Input: json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"a":"\ud83d"}`, `[1]`, ``}).Draw(t, "input"))}
		case harness.PartResult:
			p.Result = &harness.ToolResult{CallID: id.Draw(t, "answer"), Name: "now", Text: text.Draw(t, "result"), Failed: rapid.Bool().Draw(t, "failed")}
		case harness.PartFile:
			p.File = &harness.File{
				Name: text.Draw(t, "name"), MediaType: rapid.SampledFrom([]string{"image/png", "image/webp", model.PDF, "text/plain", "a/b"}).Draw(t, "type"),
				Data: []byte(rapid.SampledFrom([]string{"", "bytes", "file-1"}).Draw(t, "data")),
			}
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// Whatever is stored, each provider gets a request that it takes.
func TestEveryProviderTakesWhateverIsStored(t *testing.T) {
	t.Parallel()
	ids := slices.AppendSeq([]string{"openai/gpt-5.1-codex", "gemini/gemini-3-pro-preview"}, maps.Keys(interfaces()))
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			var body []byte
			var path string
			m, _, err := choose.Build(t.Context(), id, choose.Env{
				Key: func(string) string { return "sk-test" },
				HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
					var err error
					if body, err = io.ReadAll(r.Body); err != nil {
						return nil, err
					}
					path = r.URL.Path
					return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				r := model.Request{
					System:  rapid.SampledFrom([]string{"", "Be brief."}).Draw(rt, "system"),
					Context: rapid.SampledFrom([]string{"", "Today is Tuesday."}).Draw(rt, "context"),
					Tools:   []model.ToolSpec{{Name: "now", Description: "Tells the time."}},
				}
				stored := append(rapid.SliceOfN(rapid.Custom(anyMessage), 0, 8).Draw(rt, "stored"), harness.UserText("and now?"))
				r.Messages = memory.Repair(stored)
				body = nil
				if _, err := m.Stream(t.Context(), r, func(model.Delta) {}); body == nil {
					rt.Fatalf("nothing was sent: %v", err)
				}
				if err := modeltest.CheckerOf(path)(body, 0); err != nil {
					rt.Fatalf("%v\n%s", err, body)
				}
			})
		})
	}
}

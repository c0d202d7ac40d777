package modeltest

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/model"
)

var legalID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// lastRequest reads the last request and checks what holds for every one.
func lastRequest(t *testing.T, s Subject, svc *Service) Request {
	t.Helper()
	body, _, _ := svc.Last()
	if !utf8.Valid(body) || !json.Valid(body) {
		t.Fatalf("the request is no valid JSON: %q", short(string(body)))
	}
	r, err := s.Dialect.Request(body)
	if err != nil {
		t.Fatalf("read the request: %v", err)
	}
	used := map[string]bool{}
	for _, turn := range r.Turns {
		for _, text := range turn.Texts {
			if strings.TrimSpace(text) == "" {
				t.Errorf("an empty text was sent in %+v", turn)
			}
		}
		for _, c := range turn.Calls {
			if !legalID.MatchString(c.ID) || used[c.ID] {
				t.Errorf("the id %q is not legal or not unique", c.ID)
			}
			used[c.ID] = true
		}
		for _, res := range turn.Results {
			if !used[res.ID] || strings.TrimSpace(res.Text) == "" {
				t.Errorf("a result %+v answers no call or is empty", res)
			}
		}
	}
	return r
}

// sent asks with a request and returns what the service understood.
func sent(t *testing.T, s Subject, r model.Request) Request {
	t.Helper()
	svc := story(t, Plain, greeting(s.Dialect)...)
	if _, _, err := ask(t, s.New(t, svc.URL, key), r); err != nil {
		t.Fatal(err)
	}
	return lastRequest(t, s, svc)
}

// legal asks with a request that keeps to the contract and returns its body and
// what the service understood. The body must keep to all rules of the interface.
func legal(t *testing.T, s Subject, r model.Request) ([]byte, Request) {
	t.Helper()
	svc := story(t, Plain, greeting(s.Dialect)...)
	if _, _, err := ask(t, s.New(t, svc.URL, key), r); err != nil {
		t.Fatal(err)
	}
	body, _, address := svc.Last()
	path, _, _ := strings.Cut(address, "?")
	check := CheckerOf(path)
	if check == nil {
		t.Fatalf("nobody checks requests to %s", path)
	}
	if err := check(body, model.UnknownWindow); err != nil {
		t.Errorf("%s refuses the request: %v\n%s", path, err, body)
	}
	return body, lastRequest(t, s, svc)
}

func assistant(parts ...harness.Part) harness.Message {
	return harness.Message{Role: harness.RoleAssistant, Parts: parts}
}

func callPart(id, args string) harness.Part {
	return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "now", Input: json.RawMessage(args)}}
}

func textPart(s string) harness.Part { return harness.Part{Kind: harness.PartText, Text: s} }

func results(list ...harness.ToolResult) harness.Message {
	m := harness.Message{Role: harness.RoleTool}
	for _, r := range list {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartResult, Result: &r})
	}
	return m
}

func requests(t *testing.T, s Subject) {
	t.Parallel()
	r := hello()
	r.Messages = []harness.Message{
		harness.UserText("what time is it?"),
		assistant(textPart("I look."), callPart("c1", `{"zone":"utc"}`), callPart("c2", `{}`)),
		results(harness.ToolResult{CallID: "c1", Name: "now", Text: "12:00"}, harness.ToolResult{CallID: "c2", Name: "now", Text: "broken", Failed: true}),
		assistant(textPart("It is "), textPart("noon.")),
		harness.UserText("thanks"),
	}
	_, got := legal(t, s, r)
	if got.System != "Be brief." {
		t.Errorf("system %q", got.System)
	}
	var roles []string
	var results []Result
	for _, turn := range got.Turns {
		roles = append(roles, turn.Role)
		results = append(results, turn.Results...)
	}
	want := "user assistant tool tool assistant user"
	if s.Merged {
		want = "user assistant user assistant user"
	}
	if strings.Join(roles, " ") != want {
		t.Errorf("roles %v, want %s", roles, want)
	}
	if len(results) != 2 || results[0] != (Result{"c1", "12:00"}) || results[1] != (Result{"c2", "broken"}) {
		t.Errorf("results %+v", results)
	}
	call := got.Turns[1]
	if len(call.Calls) != 2 || call.Texts[0] != "I look." || !sameJSON(call.Calls[0].Args, `{"zone":"utc"}`) {
		t.Errorf("calls %+v", call)
	}
	said := strings.Join(got.Turns[len(got.Turns)-2].Texts, "|")
	if !strings.Contains(said, "It is") || !strings.Contains(said, "noon.") {
		t.Errorf("a text was lost: %q", said)
	}
}

// mended has history that strict servers refuse.
func mended(t *testing.T, s Subject) {
	t.Parallel()
	r := hello()
	r.Messages = []harness.Message{
		{Role: harness.RoleUser, Parts: []harness.Part{textPart("look \xf0\x9f"), {Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Data: []byte("png")}}, textPart("")}},
		assistant(textPart("\n\n")),
		assistant(),
		assistant(textPart(""), callPart("c1", `{"q":"x\ud83dy"}`)),
		results(harness.ToolResult{CallID: "c1", Name: "now", Text: " \n"}),
		assistant(textPart("cut \xf0\x9f\x98")),
		assistant(callPart("c2", `broken`)),
		results(harness.ToolResult{CallID: "c2", Name: "now", Text: "done \xf0"}),
		harness.UserText("go on"),
	}
	svc := story(t, Plain, greeting(s.Dialect)...)
	if _, _, err := ask(t, s.New(t, svc.URL, key), r); err != nil {
		t.Fatal(err)
	}
	got := lastRequest(t, s, svc)
	body, _, _ := svc.Last()
	if strings.Contains(string(body), "�") || strings.Contains(strings.ToLower(string(body)), `\ufffd`) || strings.Contains(strings.ToLower(string(body)), `\ud83d`) {
		t.Errorf("damaged characters were sent: %s", short(string(body)))
	}
	var args []json.RawMessage
	for _, turn := range got.Turns {
		for _, c := range turn.Calls {
			args = append(args, c.Args)
		}
	}
	if len(args) != 2 || !sameJSON(args[0], `{"q":"xy"}`) || !sameJSON(args[1], `{}`) {
		t.Errorf("arguments %s", args)
	}
}

func ids(t *testing.T, s Subject) {
	t.Parallel()
	odd := "fn:0|item_" + strings.Repeat("0", 80)
	r := hello()
	r.Messages = []harness.Message{
		harness.UserText("one"),
		assistant(callPart(odd, `{"n":1}`), callPart("", `{"n":2}`)),
		results(harness.ToolResult{CallID: odd, Text: "r1"}, harness.ToolResult{CallID: "", Text: "r2"}),
		assistant(callPart("call_0", `{"n":3}`)),
		results(harness.ToolResult{CallID: "call_0", Text: "r3"}),
		assistant(callPart("call_0", `{"n":4}`), callPart("call_0", `{"n":5}`)),
		results(harness.ToolResult{CallID: "call_0", Text: "r4"}, harness.ToolResult{CallID: "call_0", Text: "r5"}),
		harness.UserText("two"),
	}
	answers := func(got Request) map[string]string {
		by := map[string]string{}
		for _, turn := range got.Turns {
			for _, c := range turn.Calls {
				by[c.ID] = string(c.Args)
			}
		}
		out := map[string]string{}
		for _, turn := range got.Turns {
			for _, res := range turn.Results {
				out[res.Text] = by[res.ID]
			}
		}
		return out
	}
	first := sent(t, s, r)
	got := answers(first)
	for text, args := range map[string]string{"r1": `{"n":1}`, "r2": `{"n":2}`, "r3": `{"n":3}`, "r5": `{"n":5}`} {
		if !sameJSON(json.RawMessage(got[text]), args) {
			t.Errorf("%s answers %s, want %s", text, got[text], args)
		}
	}
	r.Messages = append(r.Messages, assistant(textPart("well")), harness.UserText("three"))
	second := sent(t, s, r)
	for i, turn := range first.Turns {
		for j, c := range turn.Calls {
			if second.Turns[i].Calls[j].ID != c.ID {
				t.Errorf("the id %q became %q", c.ID, second.Turns[i].Calls[j].ID)
			}
		}
	}
}

func seals(t *testing.T, s Subject) {
	t.Parallel()
	thought := func(issuer, data string) harness.Part {
		return harness.Part{Kind: harness.PartThinking, Text: "hmm", Opaque: &harness.Opaque{Provider: issuer, Data: json.RawMessage(data)}}
	}
	r := hello()
	own := assistant(textPart("mine"), callPart("c1", `{}`))
	if s.Seal != "" {
		own = assistant(thought(s.Issuer, s.Seal), callPart("c1", `{}`))
	}
	foreign := assistant(thought("elsewhere", `{"signature":"Rm9yZWlnbg==","google":"Rm9yZWlnbg==","redacted":"Rm9yZWlnbg=="}`), textPart("theirs"))
	foreign.Model = "elsewhere/m"
	r.Messages = []harness.Message{
		harness.UserText("one"), foreign, harness.UserText("two"), own,
		results(harness.ToolResult{CallID: "c1", Text: "ok"}), harness.UserText("three"),
	}
	svc := story(t, Plain, greeting(s.Dialect)...)
	if _, _, err := ask(t, s.New(t, svc.URL, key), r); err != nil {
		t.Fatal(err)
	}
	body, _, _ := svc.Last()
	if strings.Contains(string(body), "Rm9yZWlnbg") || strings.Contains(string(body), "Foreign") {
		t.Errorf("a foreign seal was sent: %s", body)
	}
	var got []string
	for _, turn := range lastRequest(t, s, svc).Turns {
		got = append(got, turn.Seals...)
	}
	if s.Seal != "" && (len(got) != 1 || got[0] != s.Signature) {
		t.Errorf("the own seals are %q, want %q", got, s.Signature)
	}
}

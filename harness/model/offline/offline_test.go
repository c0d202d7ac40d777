package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/offline"
)

var tools = []model.ToolSpec{
	{Name: "save_memory", Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"},"category":{"type":"string"}}}`)},
	{Name: "recall_memories", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)},
	{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string"}}}`)},
	{Name: "list_directory"},
	{Name: "run_command"},
	{Name: "write_file"},
	{Name: "edit_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{},"old":{},"new":{},"all":{},"why":{}}}`)},
	{Name: "glob"},
	{Name: "grep"},
	{Name: "fetch_url"},
	{Name: "ask_user"},
	{Name: "write_todos"},
	{Name: "update_memory", Schema: json.RawMessage(`{"type":"object","properties":{"id":{},"text":{},"body":{},"why":{}}}`)},
	{Name: "forget_memory"},
}

// remembering are tools with the search in earlier conversations.
var remembering = append(tools[:2:2], model.ToolSpec{Name: "search_history", Schema: json.RawMessage(`{"type":"object","properties":{"query":{},"limit":{}}}`)})

func askModel(t *testing.T, r model.Request) (model.Reply, string) {
	t.Helper()
	var streamed strings.Builder
	reply, err := offline.Model{}.Stream(context.Background(), r, func(d model.Delta) {
		if d.Kind == model.DeltaText {
			streamed.WriteString(d.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	text := harness.Message{Parts: reply.Parts}.Text()
	if streamed.String() != text {
		t.Fatalf("streamed %q, replied %q", streamed.String(), text)
	}
	return reply, text
}

func user(text string) []harness.Message { return []harness.Message{harness.UserText(text)} }

func TestPlainPatternsCallTheRealTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, tool, input string }{
		{"remember that the staging port is 8443", "save_memory", `{"content":"the staging port is 8443"}`},
		{"Please remember: I like tea.", "save_memory", `{"content":"I like tea."}`},
		{"what do you know about staging?", "recall_memories", `{"query":"staging"}`},
		{"update f12: the port is 9443", "update_memory", `{"id":"f12","text":"the port is 9443","why":"You asked for exactly this."}`},
		{"please change the note N3 to: # Port\n9443 and then run", "update_memory", `{"body":"# Port\n9443 and then run","id":"n3","why":"You asked for exactly this."}`},
		{"change the port to 9443", "recall_memories", `{"query":"change the port to 9443"}`},
		{"Forget f12.", "forget_memory", `{"id":"f12"}`},
		{"forget fact/f12", "forget_memory", `{"id":"f12"}`},
		{"forget it", "recall_memories", `{"query":"forget it"}`},
		{"recall the port", "recall_memories", `{"query":"the port"}`},
		{"Do I like tea?", "recall_memories", `{"query":"like tea"}`},
		{"what is my favourite port", "recall_memories", `{"query":"favourite port"}`},
		{"read docs/plan.md", "read_file", `{"file_path":"docs/plan.md"}`},
		{"list files", "list_directory", `{"path":"."}`},
		{"ls src", "list_directory", `{"path":"src"}`},
		{"run `git status`", "run_command", `{"command":"git status"}`},
		{"write a.txt: hello", "write_file", `{"content":"hello","path":"a.txt"}`},
		{"explain monads", "recall_memories", `{"query":"explain monads"}`},
		{"run: ls -la", "run_command", `{"command":"ls -la"}`},
		{"please run `a && b and then c <d >e`", "run_command", `{"command":"a && b and then c <d >e"}`},
		{"running late again", "recall_memories", `{"query":"running late again"}`},
		{"write a b.txt: hello", "recall_memories", `{"query":"write a b.txt: hello"}`},
		{"write a.txt: one\ntwo\nrun three\n", "write_file", `{"content":"one\ntwo\nrun three\n","path":"a.txt"}`},
		{`write a.txt: "build and then run tests"`, "write_file", `{"content":"build and then run tests","path":"a.txt"}`},
		{"overwrite a.txt: x", "write_file", `{"content":"x","overwrite":true,"path":"a.txt"}`},
		{"edit a.go: replace foo with bar baz", "edit_file", `{"new":"bar baz","old":"foo","path":"a.go","why":"You asked for exactly this."}`},
		{"edit `a.go`: replace all \"x with y\" with \"\"", "edit_file", `{"all":true,"new":"","old":"x with y","path":"a.go","why":"You asked for exactly this."}`},
		{"list src", "list_directory", `{"path":"src"}`},
		{"list facts", "recall_memories", `{"query":"list facts"}`},
		{"find *.md", "glob", `{"pattern":"*.md"}`},
		{"find the file readme", "glob", `{"pattern":"**/*readme*"}`},
		{"find out what is wrong", "recall_memories", `{"query":"find out what is wrong"}`},
		{"grep TODO in src", "grep", `{"path":"src","pattern":"TODO"}`},
		{`grep for "a in b"`, "grep", `{"pattern":"a in b"}`},
		{"fetch https://example.com/a?b=c", "fetch_url", `{"url":"https://example.com/a?b=c"}`},
		{"fetch example.com", "fetch_url", `{"url":"https://example.com"}`},
		{"open http://localhost:8080", "fetch_url", `{"url":"http://localhost:8080"}`},
		{"fetch updates", "recall_memories", `{"query":"fetch updates"}`},
		{"ask me: which colour? red, green", "ask_user", `{"choices":["red","green"],"question":"which colour?"}`},
		{"ask me something", "ask_user", `{"choices":["to the near one","to the far one","nowhere, I wait"],"question":"Two cairns are in sight, and fog comes up. Where do you go?"}`},
		{"todos: a; [x] b ; [>] c;", "write_todos", `{"todos":[{"status":"pending","text":"a"},{"status":"completed","text":"b"},{"status":"in_progress","text":"c"}]}`},
		{"todos: a\nrun b", "write_todos", `{"todos":[{"status":"pending","text":"a"},{"status":"pending","text":"run b"}]}`},
		{"remember that I build and then run tests", "save_memory", `{"content":"I build and then run tests"}`},
	} {
		reply, _ := askModel(t, model.Request{Messages: user(c.said), Tools: tools})
		calls := harness.Message{Parts: reply.Parts}.Calls()
		if len(calls) != 1 || calls[0].Name != c.tool || string(calls[0].Input) != c.input || reply.Stop != harness.StopTools {
			t.Errorf("%q: calls %+v, stop %s; want %s %s", c.said, calls, reply.Stop, c.tool, c.input)
		}
	}
}

func TestOnlyOfferedToolsAreCalled(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"remember that x is y", "what do you know about x", "forget f1", "update f1: x", "search history for x", "read a", "list files", "run ls", "write a: b", "explain monads",
		"edit a: replace b with c", "find a", "grep a", "fetch a.com", "ask me something", "todos: a", "run ls and then read a",
	} {
		reply, text := askModel(t, model.Request{Messages: user(said), Tools: []model.ToolSpec{{Name: "other"}}})
		if len(reply.Parts) != 1 || !strings.Contains(text, "cannot") || reply.Stop != harness.StopEnd {
			t.Errorf("%q: %q", said, text)
		}
	}
}

func TestAnswersComeFromToolResults(t *testing.T) {
	t.Parallel()
	turn := func(said, result string, failed bool) model.Request {
		return model.Request{Tools: tools, Messages: []harness.Message{
			harness.UserText(said),
			{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "x"}}}},
			{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Text: result, Failed: failed}}}},
		}}
	}
	for _, c := range []struct {
		said, result string
		failed       bool
		want         string
	}{
		{"what do you know about tea", "f1: likes tea", false, "> f1: likes tea"},
		{"what do you know about tea", "No matching memories.", false, "Nothing is stored"},
		{"explain tea", "f1: likes tea", false, "> f1: likes tea"},
		{"explain tea", "[]", false, "ANTHROPIC_API_KEY"},
		{"remember that tea is green", "saved f1", false, "Saved"},
		{"forget f1", "Forgotten: [fact/f1] tea\n(trash)", false, "`f1`:\n\n```\nForgotten"},
		{"forget f1", "there is no f1", true, "`f1` was not forgotten"},
		{"update f1: tea", "there is no f1", true, "`f1` was not changed"},
		{"remember that tea is green", "refused", true, "not** saved"},
		{"read a.md", "# A\n```go\nx\n```", false, "````\n# A"},
	} {
		reply, text := askModel(t, turn(c.said, c.result, c.failed))
		if !strings.Contains(text, c.want) || reply.Stop != harness.StopEnd {
			t.Errorf("%q with %q: %q lacks %q", c.said, c.result, text, c.want)
		}
	}
}

// What was said before is looked up beside what is remembered, and only the
// person's own words are told, unless the history itself is asked for.
func TestHistoryIsSearchedToo(t *testing.T) {
	t.Parallel()
	const (
		mine   = "(messages)\n[session/a #2] assistant, 2 Mar 2026 14:05, Tea: tea, perhaps\n[session/b #7] user, 2 Mar 2026 14:05, Tea: perhaps tea?\n[session/a #1] user, 2 Mar 2026 14:05, Tea?: I like tea"
		others = "(messages)\n[session/a #2] assistant, 2 Mar 2026 14:05, a] user, 2 Mar 2026 14:05: tea, perhaps"
		none   = "No message of an earlier conversation matches."
		fact   = "[fact/f1] (general) Likes tea"
		no     = "Nothing that matches is remembered."
	)
	for _, c := range []struct {
		said, fact, past string
		want, lacks      string
	}{
		{"explain tea", fact, mine, "> [fact/f1] (general) Likes tea\n\nThis is what you said in conversations:\n\n> [session/a #1] user", "perhaps"},
		{"explain tea", no, mine, "Tea?: I like tea", "is stored"},
		{"explain tea", fact, none, "> [fact/f1]", "you said"},
		{"explain tea", no, others, "I cannot answer that", "perhaps"},
		{"what do you know about tea", no, mine, "Tea?: I like tea\n\nI only searched", "Nothing"},
		{"what do you know about tea", no, none, "Nothing is stored", "I only"},
		{"search history for tea", "", mine, "> [session/a #2] assistant", "Nothing"},
		{"search history for tea", "", none, "No message of an earlier conversation matches \"tea\"", ">"},
	} {
		r := model.Request{Messages: user(c.said), Tools: remembering}
		reply, _ := askModel(t, r)
		r.Messages = append(r.Messages, harness.Message{Role: harness.RoleAssistant, Parts: reply.Parts})
		calls := harness.Message{Parts: reply.Parts}.Calls()
		for i := range calls {
			reply.Parts[i].Call.ID = calls[i].Name
			text := c.fact
			if calls[i].Name == "search_history" {
				text = c.past
			}
			r.Messages = append(r.Messages, harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{
				Kind: harness.PartResult, Result: &harness.ToolResult{CallID: calls[i].Name, Text: text},
			}}})
		}
		if want := map[bool]int{true: 2, false: 1}[c.fact != ""]; len(calls) != want {
			t.Errorf("%q calls %+v", c.said, calls)
		}
		if _, text := askModel(t, r); !strings.Contains(text, c.want) || strings.Contains(text, c.lacks) {
			t.Errorf("%q is answered with\n%s\nwant %q and not %q", c.said, text, c.want, c.lacks)
		}
	}
	reply, _ := askModel(t, model.Request{Messages: user("search the history for staging port?"), Tools: remembering})
	if calls := (harness.Message{Parts: reply.Parts}).Calls(); len(calls) != 1 || string(calls[0].Input) != `{"query":"staging port"}` {
		t.Errorf("calls %+v", calls)
	}
	reply, _ = askModel(t, model.Request{Messages: user("explain tea"), Tools: remembering[2:]})
	if calls := (harness.Message{Parts: reply.Parts}).Calls(); len(calls) != 1 || string(calls[0].Input) != `{"limit":30,"query":"explain tea"}` {
		t.Errorf("without memory calls %+v", calls)
	}
}

func TestASearchThatFailedIsNotOneThatFoundNothing(t *testing.T) {
	t.Parallel()
	call := harness.ToolCall{ID: "1", Name: "search_history"}
	_, text := askModel(t, model.Request{Tools: remembering, Messages: []harness.Message{
		harness.UserText("search history for tea"),
		{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "1", Text: "they are elsewhere", Failed: true}}}},
	}})
	if !strings.Contains(text, "were not searched") || !strings.Contains(text, "they are elsewhere") {
		t.Errorf("%q", text)
	}
}

func TestSeveralRequestsAreOneReply(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"write a.txt: hello and then read a.txt":                           "write_file read_file",
		"run `make` and then run `make test`":                              "run_command run_command",
		"run: ls -la\nlist src\n\nfind *.md":                               "run_command list_directory glob",
		"todos: a; b and then ask me something and then fetch example.com": "write_todos ask_user fetch_url",
		"run echo this and then that and then read b":                      "run_command read_file",
		"remember that x is y and then read b":                             "save_memory",
		"edit a: replace b with c and then grep c in a":                    "edit_file grep",
		strings.Repeat("run ls\n", 50):                                     strings.TrimSpace(strings.Repeat("run_command ", 20)),
	} {
		reply, _ := askModel(t, model.Request{Messages: user(said), Tools: tools})
		var names []string
		for _, c := range (harness.Message{Parts: reply.Parts}).Calls() {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want || reply.Stop != harness.StopTools {
			t.Errorf("%.60q calls %s, want %s", said, got, want)
		}
	}
	reply, _ := askModel(t, model.Request{Messages: user("run echo this and then that and then read b"), Tools: tools})
	if got := string((harness.Message{Parts: reply.Parts}).Calls()[0].Input); got != `{"command":"echo this and then that"}` {
		t.Errorf("ran %s", got)
	}
	reply, text := askModel(t, model.Request{Messages: user("run ls and then read b"), Tools: []model.ToolSpec{{Name: "read_file"}}})
	if calls := (harness.Message{Parts: reply.Parts}).Calls(); len(calls) != 1 || !strings.Contains(text, "cannot run commands") {
		t.Errorf("%q with %+v", text, calls)
	}
}

func TestEveryResultIsTold(t *testing.T) {
	t.Parallel()
	call := func(id, name string) harness.Part {
		return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: name}}
	}
	result := func(r harness.ToolResult) harness.Message {
		return harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &r}}}
	}
	r := model.Request{Tools: tools, Messages: []harness.Message{
		harness.UserText("run one and then write a.txt: x and then run two and then run three and then ask me something"),
		{Role: harness.RoleAssistant, Parts: []harness.Part{call("1", "run_command"), call("2", "write_file"), call("3", "run_command"), call("4", "run_command"), call("5", "ask_user")}},
		result(harness.ToolResult{CallID: "3", Text: "the call began and was interrupted", Failed: true, Unknown: true}),
		result(harness.ToolResult{CallID: "2", Text: "permission denied by the person: not there", Failed: true}),
		result(harness.ToolResult{CallID: "1", Text: "out of one"}),
		result(harness.ToolResult{CallID: "4", Text: "permission denied: nobody can be asked here", Failed: true}),
		result(harness.ToolResult{CallID: "5", Text: "to the far one"}),
	}}
	for _, with := range [][]model.ToolSpec{tools, nil} { // the last account is asked for without tools
		r.Tools = with
		r.Key = "a-session"
		reply, text := askModel(t, r)
		last := 0
		for _, want := range []string{
			"`one` ran:", "out of one", "`a.txt` was not written: you refused it", "> not there",
			"`two` did not run to its end:", "it may have taken effect", "`three` was not run: it is not allowed here", "nobody can be asked", "> to the far one",
		} {
			at := strings.Index(text[last:], want)
			if at < 0 {
				t.Fatalf("%q lacks %q after byte %d", text, want, last)
			}
			last += at
		}
		if reply.Stop != harness.StopEnd {
			t.Errorf("stop %s", reply.Stop)
		}
	}
}

func TestGreetingSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"hello", "What are you?", "help", ""} {
		_, text := askModel(t, model.Request{Messages: user(said), Tools: tools})
		if !strings.Contains(text, "without a language model") || !strings.Contains(text, "OPENAI_API_KEY") {
			t.Errorf("%q: %q", said, text)
		}
	}
}

// Whatever it says of itself holds with the tools that are there.
func TestOnlyOfferedToolsAreClaimed(t *testing.T) {
	t.Parallel()
	claims := map[string]string{
		"save_memory": "remember that", "recall_memories": "what do you know about", "read_file": "README.md",
		"list_directory": "list files", "run_command": "git status", "write_file": "notes.txt",
		"edit_file": "plan.txt", "glob": ".md* finds", "grep": "TODO", "fetch_url": "example.com", "ask_user": "ask me", "write_todos": "todos:",
		"update_memory": "9443", "forget_memory": "trash",
	}
	for n := range len(tools) + 1 {
		offered := append(tools[:n:n], model.ToolSpec{Name: "other"})
		for _, said := range []string{"what are you?", "explain monads"} {
			messages := user(said)
			if said == "explain monads" && n > 1 { // the search finds nothing
				messages = append(messages, harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{Text: "[]"}}}})
			}
			_, text := askModel(t, model.Request{Messages: messages, Tools: offered})
			for i, spec := range tools {
				if strings.Contains(text, claims[spec.Name]) != (i < n) {
					t.Errorf("%q with %d tools: %s in %q", said, n, spec.Name, text)
				}
			}
			if strings.Contains(text, "and then") != (n > 1) {
				t.Errorf("%q with %d tools: %q", said, n, text)
			}
			if strings.Contains(text, "you allow") != (n > 4) || strings.Contains(text, "approval") || strings.Contains(text, "`/") {
				t.Errorf("%q with %d tools: %q", said, n, text)
			}
		}
	}
}

func TestLongMarkdownHasTheAskedSize(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{"long markdown 2000 words": 2000, "show me long markdown": 800, "long markdown 99999999 words": 20000} {
		_, text := askModel(t, model.Request{Messages: user(said)})
		if n := len(strings.Fields(text)); n < want || n > want+150 {
			t.Errorf("%q: %d words, want about %d", said, n, want)
		}
		for _, sign := range []string{"\n## ", "\n- ", "| --- |", "```go", "霧", "🪨", "> "} {
			if !strings.Contains(text, sign) {
				t.Errorf("%q lacks %q", said, sign)
			}
		}
	}
}

func TestBrokenOffAnswerGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	whole := offline.Document(300)
	half := harness.AssistantText(whole[:500])
	half.Mark = harness.MarkInterrupted
	notice := harness.UserText("Go on.")
	notice.Mark = harness.MarkNotice
	_, text := askModel(t, model.Request{Messages: append(user("long markdown 300"), half, notice)})
	if whole[:500]+text != whole {
		t.Fatalf("the rest is %q", text)
	}
}

func TestReplyBudgetCutsBetweenWords(t *testing.T) {
	t.Parallel()
	reply, text := askModel(t, model.Request{Messages: user("long markdown 500"), MaxOutput: 50})
	if reply.Stop != harness.StopLength || len(text) > 200 || !strings.HasPrefix(offline.Document(500), text) {
		t.Fatalf("stop %s, %d bytes", reply.Stop, len(text))
	}
}

// The first words are a title already, and it knows no better one.
func TestNoTitleIsGivenAndNothingIsUsedForIt(t *testing.T) {
	t.Parallel()
	reply, text := askModel(t, model.Request{System: "Give a title.", Purpose: model.PurposeTitle, Messages: user("a b c d e f g h")})
	if text != "" || len(reply.Parts) != 0 || reply.Usage.Input+reply.Usage.Output != 0 || !reply.Usage.CostKnown {
		t.Errorf("it answers %q: %+v", text, reply)
	}
}

func TestStreamKeepsItsPaceAndStopsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start, n := time.Now(), 0
		_, err := offline.Model{Rate: 100}.Stream(ctx, model.Request{Messages: user("long markdown 300")}, func(model.Delta) {
			if n++; n == 50 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || n != 50 || time.Since(start) != 500*time.Millisecond {
			t.Fatalf("%v after %d words in %s", err, n, time.Since(start))
		}
	})
}

// A conversation without tools is none of the program's own requests, whatever
// its system prompt says.
func TestLongTextsAreReadQuickly(t *testing.T) {
	t.Parallel()
	for _, said := range []string{strings.Repeat("run a and then b\n", 20_000), "run " + strings.Repeat("\n", 7_000), strings.Repeat("todos: a\n", 800)} {
		if reply, _ := askModel(t, model.Request{Messages: user(said), Tools: tools}); len((harness.Message{Parts: reply.Parts}).Calls()) == 0 {
			t.Errorf("%.20q calls nothing", said)
		}
	}
}

func FuzzRequests(f *testing.F) {
	for _, seed := range []string{"run ls and then read a\nlist b", "edit a: replace `b` with \"\"", "todos: [x]", "ask me?", "write a: \"", "fetch http://", "\xff and then \n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		reply, err := offline.Model{}.Stream(t.Context(), model.Request{Messages: user(said), Tools: tools, Key: "s"}, func(model.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		calls := (harness.Message{Parts: reply.Parts}).Calls()
		for _, c := range calls {
			if !json.Valid(c.Input) {
				t.Errorf("%q calls %s with %q", said, c.Name, c.Input)
			}
		}
		if len(calls) > 20 || len(reply.Parts) == 0 {
			t.Errorf("%q gets %d calls in %d parts", said, len(calls), len(reply.Parts))
		}
	})
}

func TestConversationsWithoutToolsGetAnswers(t *testing.T) {
	t.Parallel()
	for _, r := range []model.Request{
		{System: "Be brief. Notes are titled Markdown; a summary has a title.", Messages: user("explain monads")},
		{System: "Give a summary.", Key: "a-session", Messages: user("explain monads")},
	} {
		if _, text := askModel(t, r); !strings.Contains(text, "I cannot answer that") {
			t.Errorf("%q", text)
		}
	}
}

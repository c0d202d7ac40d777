package ask_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
)

func registered(t *testing.T) *tool.Set {
	t.Helper()
	var set tool.Set
	if err := ask.Register(&set); err != nil {
		t.Fatal(err)
	}
	return &set
}

func lookup(t *testing.T, name string) tool.Tool {
	t.Helper()
	tl, ok := registered(t).Lookup(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return tl
}

func run(t *testing.T, name, input string) harness.ToolResult {
	t.Helper()
	return registered(t).Run(t.Context(), harness.ToolCall{ID: "1", Name: name, Input: json.RawMessage(input)}, tool.Call{})
}

func TestToolsFailClosed(t *testing.T) {
	t.Parallel()
	if q := lookup(t, "ask_user"); q.Permission != tool.Ask || q.Replay != tool.Safe || !q.Question {
		t.Errorf("ask_user is %+v", q)
	}
	if w := lookup(t, "write_todos"); w.Permission != tool.Allow || w.Replay != tool.Safe || w.Question {
		t.Errorf("write_todos is %+v", w)
	}
	if err := ask.Register(registered(t)); !errors.Is(err, tool.ErrDuplicate) {
		t.Errorf("registered twice: error %v", err)
	}
}

func TestQuestionsAreShownInFull(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("why? ", 700)
	for input, want := range map[string]harness.Proposal{
		`{"question":" Which\ndatabase? "}`:                                      {Body: "Which\ndatabase?"},
		`{"question":"Which?","choices":[" a\nb ","c","c"]}`:                     {Body: "Which?", Choices: []string{"a b", "c"}},
		fmt.Sprintf(`{"question":%q}`, long):                                     {Body: strings.TrimSpace(long)},
		`{"question":"\u001b[31m?","choices":["1","2","3","4","5","6","7","8"]}`: {Body: "\x1b[31m?", Choices: strings.Split("12345678", "")},
	} {
		p, err := lookup(t, "ask_user").Propose(t.Context(), tool.Call{Input: json.RawMessage(input)})
		if err != nil || p.Kind != harness.ProposalQuestion || p.Body != want.Body || !slices.Equal(p.Choices, want.Choices) {
			t.Errorf("%s: %+v, %v", input, p, err)
		}
	}
}

func TestWhatIsNoQuestionIsRefused(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"question":" \n"}`:                                                     "the question is empty",
		`{"question":"a","choices":["b"," "]}`:                                   "choice 2 is empty",
		fmt.Sprintf(`{"question":%q}`, strings.Repeat("é", 4001)):                "4001 characters",
		fmt.Sprintf(`{"question":"a","choices":[%q]}`, strings.Repeat("é", 201)): "choice 1 has 201 characters",
		`{"question":"a","choices":["1","2","3","4","5","6","7","8","9"]}`:       "9 choices, at most 8",
	} {
		if _, err := lookup(t, "ask_user").Propose(t.Context(), tool.Call{Input: json.RawMessage(input)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error %v, want %q", input, err, want)
		}
		if r := run(t, "ask_user", input); !r.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%.60s: %+v", input, r)
		}
	}
}

func TestWithoutAnybodyTheModelGoesOn(t *testing.T) {
	t.Parallel()
	r := run(t, "ask_user", `{"question":"Which?","choices":["a","b"]}`)
	if r.Failed || !strings.Contains(r.Text, "Nobody is here") || !strings.Contains(r.Text, "assumption") {
		t.Errorf("%+v", r)
	}
}

func TestTodosAreNumbered(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"todos":[]}`: "The list is empty.",
		`{"todos":[{"text":" Read\n it ","status":"completed"},{"text":"Fix it","status":"in_progress"},{"text":"Test it"}]}`:                                     "1. [completed] Read it\n2. [in_progress] Fix it\n3. [pending] Test it\n(1 of 3 completed)",
		`{"todos":[{"text":"a","status":"in_progress"},{"text":"b","status":"in_progress"},{"text":"c","status":"pending"},{"text":"d","status":"in_progress"}]}`: "1. [in_progress] a\n2. [pending] b\n3. [pending] c\n4. [pending] d\n(0 of 4 completed)\nOnly one item can be in progress; set back to pending: 2, 4.",
	} {
		if r := run(t, "write_todos", input); r.Failed || r.Text != want {
			t.Errorf("%s gives\n%q, want\n%q", input, r.Text, want)
		}
	}
}

// items is a list of n items.
func items(n int, text string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"text":%q,"status":"pending"}`, text)
	}
	return `{"todos":[` + strings.Join(all, ",") + `]}`
}

func TestTodosHaveBounds(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		items(50, strings.Repeat("é", 200)):          "",
		items(51, "a"):                               "50",
		items(1, strings.Repeat("é", 201)):           "item 1 has 201 characters",
		items(1, " "):                                "item 1 has no text",
		`{"todos":[{"text":"a","status":"done"}]}`:   "status",
		`{"todos":[{"content":"a"}]}`:                "/todos/*",
		`{}`:                                         "todos",
		`{"todos":[{"text":"a","status":"pending"}]`: "end too early",
	} {
		r := run(t, "write_todos", input)
		if r.Failed != (want != "") || !strings.Contains(r.Text, want) {
			t.Errorf("%.60s: %+v", input, r)
		}
	}
}

func FuzzTodos(f *testing.F) {
	for _, seed := range []string{`{"todos":[{"text":"a","status":"in_progress"}]}`, `{"todos":null}`, `{`, items(3, "é")} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		r := run(t, "write_todos", string(input))
		if r.Failed {
			return
		}
		if n := strings.Count(r.Text, "\n"); n > ask.MaxTodos+2 {
			t.Errorf("%d lines", n)
		}
	})
}

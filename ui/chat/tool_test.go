package chat

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
)

// drawn is a call with its result as the conversation shows it.
func drawn(t *testing.T, details bool, c harness.ToolCall, res *harness.ToolResult, open *harness.Run) string {
	t.Helper()
	return drawnAt(t, 80, details, c, res, open)
}

func drawnAt(t *testing.T, width int, details bool, c harness.ToolCall, res *harness.ToolResult, open *harness.Run) string {
	t.Helper()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	m := New(context.Background(), Deps{Theme: theme, Now: func() time.Time { return time.Unix(0, 0).UTC() }}, Open{})
	m.width, m.height, m.details, m.open = width, 24, details, open
	if res != nil {
		m.results[c.ID] = res
	}
	return ansi.Strip(strings.Join(m.desk().call(&c, m.stage("r")), "\n"))
}

func TestACallSaysWhereItStands(t *testing.T) {
	t.Parallel()
	run := func(input string) harness.ToolCall {
		return harness.ToolCall{ID: "c", Name: toolCommand, Input: []byte(input)}
	}
	waits := func(p harness.Pending) *harness.Run {
		p.Call = run(`{}`)
		return &harness.Run{ID: "r", Status: harness.RunAwaiting, Pending: []harness.Pending{p}}
	}
	result := func(text string, failed bool) *harness.ToolResult {
		return &harness.ToolResult{CallID: "c", Text: text, Failed: failed}
	}
	for name, c := range map[string]struct {
		call harness.ToolCall
		res  *harness.ToolResult
		open *harness.Run
		want string
	}{
		"waiting":    {run(`{"command":"go test"}`), nil, waits(harness.Pending{}), "run_command  go test  waits for approval"},
		"a question": {run(`{}`), nil, waits(harness.Pending{Proposal: &harness.Proposal{Kind: harness.ProposalQuestion}}), "waits for an answer"},
		"uncertain":  {run(`{}`), nil, waits(harness.Pending{Uncertain: true}), "outcome unknown, waits for a decision"},
		"its turn": {
			harness.ToolCall{ID: "d", Name: "grep", Input: []byte(`{}`)}, nil, waits(harness.Pending{}), "grep  not run yet",
		},
		"declined":         {run(`{}`), result("permission denied by the person: use make", true), nil, "declined: use make"},
		"declined, no why": {run(`{}`), result("permission denied by the person", true), nil, "  declined"},
		"denied":           {run(`{}`), result("permission denied: the tool is switched off", true), nil, "denied: the tool is switched off"},
		"no denial":        {run(`{}`), result("permission denied: says a file", false), nil, "  permission denied: says a file"},
		"unknown":          {run(`{}`), &harness.ToolResult{CallID: "c", Text: "?", Failed: true, Unknown: true}, nil, "outcome unknown"},
		"not run":          {run(`{}`), result("not run: the turn was stopped before this call", true), nil, "not run: the turn"},
		"ended":            {run(`{"command":"go test\n./..."}`), result("ok\nok\nexit code 0", false), nil, "run_command  go test…  exit code 0, 2 lines"},
		"no output":        {run(`{}`), result("(no output)\nexit code 1", false), nil, "  exit code 1"},
		"a remark":         {run(`{}`), result("ok\nexit code 0\n(This was more than is kept.)", false), nil, "  exit code 0, 1 line"},
		"stopped":          {run(`{}`), result("(no output)\nstopped before its end: it was ended, and it may have taken effect in part", false), nil, "  stopped before its end"},
		"given":            {run(`{}`), result("it was done\nby hand", false), nil, "  2 lines"},
		"interrupted":      {run(`{}`), nil, &harness.Run{ID: "r", Status: harness.RunRunning, Interrupted: true}, "  interrupted"},
		"hostile":          {run(`{"command":"a\u001b[2J"}`), result("x\u001b]0;t\u0007", true), nil, "a␛[2J  failed: x␛]0;t␇"},
		"changed": {
			harness.ToolCall{ID: "c", Name: toolEdit, Input: []byte(`{"path":"row.go","old":"a","new":"b"}`)},
			result("changed row.go: 900 bytes, 14 lines added, 1 line removed", false), nil, "edit_file  row.go  changed +14 -1",
		},
		"created": {
			harness.ToolCall{ID: "c", Name: toolWrite, Input: []byte(`{"path":"row.go","content":"b"}`)},
			result("created row.go: 1 bytes, 1 line added, 0 lines removed", false), nil, "write_file  row.go  created +1 -0",
		},
		"todos": {
			harness.ToolCall{ID: "c", Name: toolTodos, Input: []byte(`{"todos":[{"text":"read","status":"completed"},{"text":"mend","status":"in_progress"},{"text":"try"}]}`)},
			result("1. [completed] read\n(1 of 3 completed)", false), nil, "write_todos  1 of 3 completed\n    [✓] read\n    [ ] mend (now)\n    [ ] try",
		},
		"answered": {
			harness.ToolCall{ID: "c", Name: toolAsk, Input: []byte(`{"question":"Which one?"}`)},
			result("the blue one", false), nil, "ask_user  Which one?  answered\n    → the blue one",
		},
		"fetch":           {harness.ToolCall{ID: "c", Name: toolFetch, Input: []byte(`{"url":"https://example.com/a"}`)}, result("a page", false), nil, "fetch_url  https://example.com/a  a page"},
		"malformed todos": {harness.ToolCall{ID: "c", Name: toolTodos, Input: []byte(`{"todos":1}`)}, nil, nil, "no result"},
		"malformed":       {harness.ToolCall{ID: "c", Name: toolCommand, Malformed: "{\"command"}, nil, nil, "malformed: {\"command"},
	} {
		if got := drawn(t, false, c.call, c.res, c.open); !strings.Contains(got, c.want) {
			t.Errorf("%s shows\n%s\nwant %q", name, got, c.want)
		}
	}
}

// However long what a call was given is, its line says where the call stands.
func TestALongCallStillSaysWhereItStands(t *testing.T) {
	t.Parallel()
	c := harness.ToolCall{ID: "c", Name: toolCommand, Input: []byte(`{"command":"echo ` + strings.Repeat("a", 300) + `"}`)}
	open := &harness.Run{ID: "r", Status: harness.RunAwaiting, Pending: []harness.Pending{{Call: c}}}
	for width, want := range map[int]string{40: "waits", 60: "waits for approval", 80: "waits for approval", 120: "waits for approval"} {
		got := drawnAt(t, width, false, c, nil, open)
		if first, _, _ := strings.Cut(got, "\n"); !strings.Contains(first, want) || !strings.Contains(first, "echo a") || ansi.StringWidth(first) > width {
			t.Errorf("at %d it shows %q, want %q in it", width, first, want)
		}
	}
	failed := &harness.ToolResult{CallID: "c", Text: strings.Repeat("no such thing ", 20), Failed: true}
	if got := drawnAt(t, 80, false, c, failed, nil); !strings.Contains(got, "…  failed: no such thing no …") {
		t.Errorf("it shows %q", got)
	}
}

func TestDetailsShowWhatACallWasGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, input, want string }{
		"command": {toolCommand, `{"command":"set -e\ngo test"}`, "    $ set -e\n    $ go test\n    said"},
		"edit":    {toolEdit, `{"path":"f","old":"a\nb\n","new":"c"}`, "    - a\n    - b\n    + c\n    said"},
		"write":   {toolWrite, `{"path":"f","content":"a\u001b\nb"}`, "    + a␛\n    + b\n    said"},
		"other":   {"grep", `{"pattern":"x"}`, "    {\n      \"pattern\": \"x\"\n    }\n    said"},
		"empty":   {toolWrite, `{"path":"f","content":""}`, "\"content\": \"\""},
	} {
		res := &harness.ToolResult{CallID: "c", Text: "said"}
		if got := drawn(t, true, harness.ToolCall{ID: "c", Name: c.tool, Input: []byte(c.input)}, res, nil); !strings.Contains(got, c.want) {
			t.Errorf("%s shows\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A window that looks on says of a call what the window that owns the session
// does.
func TestAReaderSeesWhereACallStands(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	c := harness.ToolCall{ID: "c", Name: toolCommand, Input: []byte(`{"command":"make"}`)}
	for want, run := range map[string]*harness.Run{
		"running":     {ID: "r", Status: harness.RunRunning},
		"interrupted": {ID: "r", Status: harness.RunPaused},
		"no result":   {ID: "another", Status: harness.RunRunning},
	} {
		m := New(context.Background(), Deps{Theme: theme, Now: time.Now}, Open{})
		m.width, m.height, m.own.state, m.own.run = 80, 24, accessReader, run
		if got := ansi.Strip(strings.Join(m.desk().call(&c, m.stage("r")), "\n")); !strings.Contains(got, "make  "+want) {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

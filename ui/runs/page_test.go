package runs

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

// A call is one line that tells most of what it was given, and how it ended
// however long that is.
func TestACallOfARunIsOneLine(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, input string) harness.ToolCall {
		return harness.ToolCall{ID: "c", Name: name, Input: []byte(input)}
	}
	for name, c := range map[string]struct {
		call harness.ToolCall
		res  *harness.ToolResult
		want string
	}{
		"path":      {call("write_file", `{"content":"x","path":"a.txt","why":"asked"}`), &harness.ToolResult{}, "tool   write_file  a.txt  done"},
		"command":   {call("run_command", `{"command":"ls\nrm x"}`), &harness.ToolResult{Failed: true}, "tool   run_command  ls␊rm x  failed"},
		"others":    {call("odd", `{"a":1}`), nil, `tool   odd  {"a":1}  no result yet`},
		"nothing":   {call("odd", `{}`), nil, "tool   odd  no result yet"},
		"malformed": {harness.ToolCall{Name: "odd", Malformed: "{a"}, nil, "tool   odd  {a  no result yet"},
		"hostile":   {call("odd\x1b", `{"path":"\u001b[2J"}`), nil, "tool   odd␛  ␛[2J  no result yet"},
		"long":      {call("odd", `{"path":"`+strings.Repeat("a", 500)+`"}`), &harness.ToolResult{Unknown: true}, "aaa…  outcome unknown"},
	} {
		w := writer{theme: theme, width: 60, limit: unlimited}
		w.call(c.call, c.res)
		got := ansi.Strip(strings.Join(w.lines, "\n"))
		if !strings.HasSuffix(got, c.want) || render.Width(got) > 60 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

package offline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
	"cairn/harness/tool/files"
	"cairn/harness/tool/shell"
	"cairn/harness/tool/web"
)

// TestRealToolsTakeTheCalls lets the tools themselves do what a message asks
// for, one call after the other, as if a person allowed them all.
func TestRealToolsTakeTheCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var set tool.Set
	if err := errors.Join(files.Register(&set, files.Options{Dir: dir}), shell.Register(&set, shell.Options{Dir: dir}), web.Register(&set, web.Options{}), ask.Register(&set)); err != nil {
		t.Fatal(err)
	}
	r := model.Request{Tools: set.Specs(), Messages: user(strings.Join([]string{
		"todos: write; [>] change", "write a.txt: one two", "edit a.txt: replace two with three", "read a.txt", "list files",
		"find a.txt", "grep three in a.txt", "run: cat a.txt", "fetch http://127.0.0.1:9/", "ask me something",
	}, " and then "))}
	reply, _ := askModel(t, r)
	answer := harness.Message{Role: harness.RoleAssistant, Parts: reply.Parts}
	for i := range answer.Parts {
		if c := answer.Parts[i].Call; c != nil {
			c.ID = string(rune('a' + i))
		}
	}
	r.Messages = append(r.Messages, answer)
	for _, c := range answer.Calls() {
		if _, _, refusal := set.Prepare(c); refusal != nil {
			t.Errorf("%s refuses %s: %s", c.Name, c.Input, refusal.Text)
		}
		result := set.Run(t.Context(), c, tool.Call{Dir: dir})
		r.Messages = append(r.Messages, harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &result}}})
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(raw) != "one three" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	_, text := askModel(t, r)
	last := 0
	for _, want := range []string{
		"2. [in_progress] change", "`a.txt` was written", "`a.txt` was changed", "one three", "The files:", "a.txt",
		"Files like", "Lines with `three`", "`cat a.txt` ran", "one three", "`http://127.0.0.1:9/` could not be read", "assumption",
	} {
		at := strings.Index(text[last:], want)
		if at < 0 {
			t.Fatalf("after byte %d no %q in\n%s", last, want, text)
		}
		last += at
	}
}

package standard_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
	"cairn/harness/tool/standard"
	"cairn/storage/mem"
)

// shelf has nothing and takes nothing.
type shelf struct{}

func (shelf) Put(context.Context, harness.SessionID, []byte) (string, error) {
	return "", harness.ErrNotFound
}

func (shelf) Get(context.Context, harness.SessionID, string) ([]byte, error) {
	return nil, harness.ErrNotFound
}

func TestAllToolsAreThereUnlessSwitchedOff(t *testing.T) {
	t.Parallel()
	m := mem.New(nil)
	all, err := standard.New(standard.Options{
		Facts: m.Facts(), Notes: m.Notes(), Artifacts: shelf{},
		History: recall.History{Search: m.Searcher(), Sessions: m.Sessions(), Transcript: m.Transcript()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if names := standard.Names(); !slices.Equal(names, all.Names()) {
		t.Errorf("the names are %v, the tools %v", names, all.Names())
	}
	if all.Artifacts == nil {
		t.Error("long results are kept nowhere")
	}
	less, err := standard.New(standard.Options{Off: []string{"run_command", "save_memory", "search_history", "read_tool_result"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"run_command", "save_memory", "recall_memories", "forget_memory", "search_history", "read_tool_result"} {
		if slices.Contains(less.Names(), gone) {
			t.Errorf("%s is offered", gone)
		}
	}
	if _, err := standard.New(standard.Options{Off: []string{"no_such"}}); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("switching off what is not there: %v", err)
	}
}

// A key of the environment or the configuration reaches no result, whatever
// tool finds it and wherever.
func TestNoResultHoldsAKey(t *testing.T) {
	t.Parallel()
	const key = "sk-planted-0123456789abcdef"
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/notes.txt", []byte("the key is "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := standard.New(standard.Options{Redactor: tool.NewRedactor(map[string]string{"OPENAI_API_KEY": key})})
	if err != nil {
		t.Fatal(err)
	}
	for name, input := range map[string]string{
		"read_file":   `{"path":"notes.txt"}`,
		"grep":        `{"pattern":"planted"}`,
		"run_command": `{"command":"cat notes.txt; base64 notes.txt; printf %s ` + key + ` | base64"}`,
	} {
		res := set.Run(context.Background(), harness.ToolCall{ID: "c", Name: name, Input: []byte(input)}, tool.Call{Dir: dir})
		if res.Failed || strings.Contains(res.Text, key) || !strings.Contains(res.Text, "[redacted OPENAI_API_KEY]") {
			t.Errorf("%s returns %q", name, res.Text)
		}
	}
}

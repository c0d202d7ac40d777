package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
)

func TestChosenIsTheChoiceOfThatNumber(t *testing.T) {
	t.Parallel()
	p := harness.Pending{Proposal: &harness.Proposal{Kind: harness.ProposalQuestion, Choices: []string{"red", "blue"}}}
	if got, err := chosen(p, 2); got != "blue" || err != nil {
		t.Errorf("choice 2 is %q, %v", got, err)
	}
	for _, n := range []int{-1, 0, 3} {
		if got, err := chosen(p, n); err == nil || exitCode(err) != ExitUsage {
			t.Errorf("choice %d is %q, %v; want a fault of usage", n, got, err)
		}
	}
}

func TestWaitsTellsThatACallChanged(t *testing.T) {
	t.Parallel()
	p := harness.Pending{Call: harness.ToolCall{Name: "edit_file"}, Changed: true}
	if got := waits([]harness.Pending{p}); !strings.Contains(got, "changed after it was approved") {
		t.Errorf("it says only %q", got)
	}
}

func TestAStepShowsTheBeginningOfACallOnly(t *testing.T) {
	t.Parallel()
	input, err := json.Marshal(map[string]string{"content": strings.Repeat("line\n", 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{
		{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "write_file", Input: input}},
	}}
	got := stepText(loop.State{}, loop.Answered{Message: &m, Attempt: 1})
	if len(got) > 200 || !strings.HasPrefix(got, `attempt 1: calls write_file {"content":"line`) {
		t.Errorf("the step has %d bytes: %.120q", len(got), got)
	}
}

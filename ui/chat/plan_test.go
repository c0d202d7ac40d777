package chat_test

import (
	"slices"
	"testing"

	"cairn/harness"
	"cairn/ui/chat"
)

func TestPlanIsTheLastListInWords(t *testing.T) {
	t.Parallel()
	record := func(input string) harness.Record {
		return harness.Record{Message: &harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{
			{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "write_todos", Input: []byte(input)}},
		}}}
	}
	hello := harness.UserText("hello")
	got := chat.Plan(
		record(`{"todos":[{"text":"old","status":"pending"}]}`),
		record(`{"todos":[{"text":"pack","status":"completed"},{"text":"walk\n\u001b[2J","status":"in_progress"},{"text":"rest","status":"pending"}]}`),
		harness.Record{Message: &hello}, record(`{"todos":"none"}`),
	)
	if want := []string{"done: pack", "now: walk␊␛[2J", "to do: rest"}; !slices.Equal(got, want) {
		t.Errorf("the plan is %q, want %q", got, want)
	}
	if got := chat.Plan(harness.Record{Message: &hello}); got != nil {
		t.Errorf("a plan of nothing: %q", got)
	}
}

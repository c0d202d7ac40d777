package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
	"cairn/storage/mem"
)

// learner is a model that keeps what it is told to remember and answers
// everything else with what its request says is remembered.
type learner struct{}

// Stream implements [model.Model].
func (learner) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if fact, ok := strings.CutPrefix(last.Text(), "Remember: "); ok {
		input, err := json.Marshal(map[string]string{"content": fact, "category": "preference"})
		call := harness.ToolCall{Name: recall.SaveTool, Input: input}
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, err
	}
	text := "I know nothing of that."
	for line := range strings.Lines(r.Context) {
		if strings.HasPrefix(line, "[fact/") {
			text = strings.TrimSpace(line)
		}
	}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}, nil
}

// Two agents that share their facts know the same, whatever their sessions; an
// answer says which facts and notes it was given.
func ExampleOptions_memory() {
	ctx := context.Background()
	store := mem.New(nil)
	tools := new(tool.Set)
	if err := recall.RegisterMemoryTools(tools, store.Facts(), store.Notes()); err != nil {
		fmt.Println(err)
		return
	}
	for _, said := range []string{"Remember: User prefers dark mode", "Which mode do I like?", "And what do I eat?"} {
		a, err := agent.New(agent.Options{Model: learner{}, Tools: tools, Facts: store.Facts(), Notes: store.Notes()})
		if err != nil {
			fmt.Println(err)
			return
		}
		res, err := a.Run(ctx, said)
		messages := a.Messages()
		fmt.Println(res.Text, messages[len(messages)-1].Used, err)
		if err := a.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// [fact/f1] (preference) User prefers dark mode [f1] <nil>
	// [fact/f1] (preference) User prefers dark mode [f1] <nil>
	// I know nothing of that. [] <nil>
}

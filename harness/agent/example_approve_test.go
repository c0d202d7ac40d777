package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// tidy is a model that wants to delete a file and says what came of it.
type tidy struct{}

// Stream implements [model.Model].
func (tidy) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == harness.RoleTool {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: last.Parts[0].Result.Text}}, Stop: harness.StopEnd}, nil
	}
	call := harness.ToolCall{Name: "delete", Input: json.RawMessage(`{"path":"old.log"}`)}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
}

// A tool asks before it runs, and a person says yes or no to exactly that call.
func ExampleOptions_approve() {
	ctx := context.Background()
	type args struct {
		Path string `json:"path"`
	}
	remove, err := tool.New("delete", "Delete a file.", func(_ context.Context, _ tool.Call, in args) (string, error) {
		return in.Path + " is gone", nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tools := new(tool.Set)
	if err := tools.Add(remove); err != nil {
		fmt.Println(err)
		return
	}
	for _, how := range []harness.DecisionHow{harness.DecideApprove, harness.DecideDecline} {
		a, err := agent.New(agent.Options{
			Model: tidy{}, Tools: tools,
			Approve: func(_ context.Context, p harness.Pending) (harness.Decision, error) {
				fmt.Printf("%s %s? %s\n", p.Call.Name, p.Call.Input, how)
				return harness.Decision{How: how, Text: "keep it"}, nil
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		res, err := a.Run(ctx, "Tidy up.")
		fmt.Println(res.Text, err)
	}
	// Output:
	// delete {"path":"old.log"}? approve
	// old.log is gone <nil>
	// delete {"path":"old.log"}? decline
	// permission denied by the person: keep it <nil>
}

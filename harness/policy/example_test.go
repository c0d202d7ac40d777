package policy_test

import (
	"context"
	"encoding/json"
	"fmt"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// Rules are about the parsed words of a command, so nothing that is chained to an
// allowed one gets through, and a denied one is found wherever it stands.
func ExampleRules() {
	shell := tool.Tool{
		Name: "run_command", Permission: tool.Ask,
		Touches: func(c tool.Call) ([]tool.Access, error) {
			var in struct{ Command string }
			err := json.Unmarshal(c.Input, &in)
			return []tool.Access{{Kind: tool.AccessRun, Command: in.Command}}, err
		},
	}
	allow, err := policy.ParseRule("run_command(git status)")
	if err != nil {
		fmt.Println(err)
		return
	}
	deny, err := policy.ParseRule("run_command(rm)")
	if err != nil {
		fmt.Println(err)
		return
	}
	rules := policy.Rules{Allow: []policy.Rule{allow}, Deny: []policy.Rule{deny}, Interactive: true}
	for _, command := range []string{"git status --short", "git status && make", "git status | xargs rm", "git push origin"} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			fmt.Println(err)
			return
		}
		v := rules.Judge(context.Background(), tool.Call{Input: input}, shell, harness.ToolCall{Name: shell.Name, Input: input})
		fmt.Printf("%-22s %-5s by %q, offering %q\n", command, v.Permission, v.Rule, v.Always)
	}
	// Output:
	// git status --short     allow by "run_command(git status)", offering ""
	// git status && make     ask   by "", offering "run_command(=git status && make)"
	// git status | xargs rm  deny  by "run_command(rm)", offering ""
	// git push origin        ask   by "", offering "run_command(git push)"
}

package policy

import (
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
)

// rules reads rules that a test writes.
func rules(tb testing.TB, texts ...string) []Rule {
	tb.Helper()
	out := make([]Rule, len(texts))
	for i, text := range texts {
		var err error
		if out[i], err = ParseRule(text); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// touching is a tool that asks and touches these things.
func touching(name string, touched ...tool.Access) tool.Tool {
	return tool.Tool{
		Name: name, Permission: tool.Ask,
		Touches: func(tool.Call) ([]tool.Access, error) { return touched, nil },
	}
}

// command is a tool that would run a command.
func command(text string) tool.Tool {
	return touching("run_command", tool.Access{Kind: tool.AccessRun, Command: text})
}

func judge(tb testing.TB, r Rules, c tool.Call, tl tool.Tool) Verdict {
	tb.Helper()
	return r.Judge(tb.Context(), c, tl, harness.ToolCall{})
}

package policy

import (
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
)

func judging(p tool.Permission) func(tool.Call) (tool.Permission, string) {
	return func(tool.Call) (tool.Permission, string) { return p, "because" }
}

func TestToolsAreJudgedByWhatTheySay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tool        tool.Tool
		interactive bool
		want        tool.Permission
		reason      string
	}{
		"allowed":                     {tool.Tool{Permission: tool.Allow}, false, tool.Allow, ""},
		"asked":                       {tool.Tool{Permission: tool.Ask}, true, tool.Ask, ""},
		"asked with nobody":           {tool.Tool{Permission: tool.Ask}, false, tool.Deny, "nobody can be asked"},
		"denied":                      {tool.Tool{Permission: tool.Deny}, true, tool.Deny, "switched off"},
		"made stricter":               {tool.Tool{Permission: tool.Allow, Judge: judging(tool.Ask)}, true, tool.Ask, "because"},
		"made stricter with nobody":   {tool.Tool{Permission: tool.Allow, Judge: judging(tool.Ask)}, false, tool.Deny, "nobody can be asked here: because"},
		"denied for its arguments":    {tool.Tool{Permission: tool.Allow, Judge: judging(tool.Deny)}, true, tool.Deny, "because"},
		"never made laxer":            {tool.Tool{Permission: tool.Ask, Judge: judging(tool.Allow)}, true, tool.Ask, ""},
		"a denial is not judged away": {tool.Tool{Permission: tool.Deny, Judge: judging(tool.Ask)}, true, tool.Deny, ""},
		"no permission is asking":     {tool.Tool{}, true, tool.Ask, ""},
		"an unknown one is asking":    {tool.Tool{Permission: "yes"}, true, tool.Ask, ""},
		"unknown with nobody":         {tool.Tool{Permission: "yes"}, false, tool.Deny, "nobody"},
		"a judge that panics": {tool.Tool{Permission: tool.Allow, Judge: func(c tool.Call) (tool.Permission, string) {
			return tool.Allow, string(c.Input[:1])
		}}, true, tool.Deny, "could not judge"},
		"a judge with an unknown answer": {tool.Tool{Permission: tool.Allow, Judge: judging("fine")}, false, tool.Deny, "because"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Rules{Interactive: tc.interactive}.Judge(t.Context(), tool.Call{}, tc.tool, harness.ToolCall{})
			if v.Permission != tc.want || !strings.Contains(v.Reason, tc.reason) {
				t.Errorf("got %+v, want %s with %q", v, tc.want, tc.reason)
			}
			if v.Rule != "" || v.Permission == tool.Deny && v.Reason == "" {
				t.Errorf("the verdict does not say why: %+v", v)
			}
		})
	}
}

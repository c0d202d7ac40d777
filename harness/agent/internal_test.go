package agent

import (
	"encoding/json"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
)

func TestDigestIsOfTheExactCallAndWhatWasShown(t *testing.T) {
	t.Parallel()
	base := tool.Tool{Name: "t", Description: "d", Schema: json.RawMessage(`{}`)}
	shown := harness.Proposal{Kind: harness.ProposalEdit, Subject: "/a", Diff: "+x", State: "1"}
	of := func(change func(tl *tool.Tool, input *string, p *harness.Proposal)) string {
		tl, input, p := base, `{"n":9007199254740993,"m":1}`, shown
		change(&tl, &input, &p)
		return digest(tl, json.RawMessage(input), p)
	}
	first := of(func(*tool.Tool, *string, *harness.Proposal) {})
	for name, change := range map[string]func(tl *tool.Tool, input *string, p *harness.Proposal){
		"the order of keys": func(_ *tool.Tool, input *string, _ *harness.Proposal) { *input = `{ "m": 1, "n": 9007199254740993 }` },
		"the reason":        func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.Why = "w" },
		"facts about it":    func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.About = []string{"read 14:02"} },
		"a rule on offer":   func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.Session, p.Always = "t", "t" },
	} {
		if of(change) != first {
			t.Errorf("%s makes it another call", name)
		}
	}
	for name, change := range map[string]func(tl *tool.Tool, input *string, p *harness.Proposal){
		"a number beyond rounding": func(_ *tool.Tool, input *string, _ *harness.Proposal) { *input = `{"n":9007199254740992,"m":1}` },
		"the description":          func(tl *tool.Tool, _ *string, _ *harness.Proposal) { tl.Description = "e" },
		"the schema":               func(tl *tool.Tool, _ *string, _ *harness.Proposal) { tl.Schema = json.RawMessage(`{"a":1}`) },
		"the tool":                 func(tl *tool.Tool, _ *string, _ *harness.Proposal) { tl.Name = "u" },
		"the state":                func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.State = "2" },
		"the file":                 func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.Subject = "/b" },
		"the diff":                 func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.Diff = "+y" },
		"where one part ends":      func(_ *tool.Tool, _ *string, p *harness.Proposal) { p.State, p.Subject = "1/", "a" },
	} {
		if of(change) == first {
			t.Errorf("%s makes no difference", name)
		}
	}
}

func TestCallsCollideInFilesThatOneWrites(t *testing.T) {
	t.Parallel()
	write := func(path string) []tool.Access { return []tool.Access{{Kind: tool.AccessWrite, Path: path}} }
	read := func(path string) []tool.Access { return []tool.Access{{Kind: tool.AccessRead, Path: path}} }
	for name, tc := range map[string]struct {
		a, b []tool.Access
		want bool
	}{
		"two writes":              {write("/a"), write("/a"), true},
		"a write and a read":      {write("/a"), read("/a"), true},
		"a read and a write":      {read("/a"), write("/a"), true},
		"two reads":               {read("/a"), read("/a"), false},
		"other files":             {write("/a"), write("/b"), false},
		"a directory above":       {write("/a/b"), read("/a"), true},
		"the root":                {write("/a/b"), read("/"), true},
		"a longer name":           {write("/ab"), read("/a"), false},
		"a command":               {write("/a"), []tool.Access{{Kind: tool.AccessRun, Command: "rm /a"}}, false},
		"one among several files": {append(read("/x"), write("/a")...), append(read("/x"), read("/a")...), true},
	} {
		if got := collide(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		if got := collide(tc.b, tc.a); got != tc.want {
			t.Errorf("%s, the other way: %v", name, got)
		}
	}
}

// Who decided stands before what they wrote, so that neither runs into the
// other.
func TestADecisionIsToldWithWhoFirst(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"declined by ada: not by bob": decided(loop.Decided{By: "ada", Reason: "not by bob"}),
		"declined":                    decided(loop.Decided{}),
		"approved by ada":             decided(loop.Decided{Approved: true, By: "ada", Scope: harness.ScopeOnce}),
		"approved by ada, with the rule run_command(ls) (session)": decided(loop.Decided{Approved: true, By: "ada", Scope: harness.ScopeSession, Rule: "run_command(ls)"}),
		"given a result by ada": resolved(loop.Resolved{How: harness.DecideResult, By: "ada"}),
		"let run again by ada":  resolved(loop.Resolved{How: harness.DecideRetry, By: "ada"}),
		"turn aborted":          resolved(loop.Resolved{How: harness.DecideAbort}),
		"answered by ada":       resolved(loop.Resolved{How: harness.DecideAnswer, By: "ada"}),
	} {
		if got != want {
			t.Errorf("it is told as %q, not %q", got, want)
		}
	}
}

// Every write to memory is one line that says what and which.
func TestWritesToMemoryAreTold(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, text, want string }{
		{recall.SaveTool, "Remembered: [fact/f12] (taste) Likes tea", "remembered f12: (taste) Likes tea"},
		{recall.SaveTool, "Remembered already: [fact/f12] (taste) Likes tea", ""},
		{recall.UpdateTool, "Updated: [fact/f12] (taste) Likes [odd] tea\n(version 3; before it was: [fact/f12] (taste) Hates tea)", "updated f12 to v3: (taste) Likes [odd] tea"},
		{recall.UpdateTool, "It is so already: [fact/f12] (taste) Likes tea", ""},
		{recall.ForgetTool, "Forgotten: [note/n3] Kettle — boils\n(It is in the trash)", "forgot n3: Kettle — boils"},
		{recall.ForgetTool, "It is forgotten already: [note/n3] Kettle", ""},
		{recall.RecallTool, "Remembered: [fact/f12] (taste) Likes tea", ""},
		{"other", "Forgotten: [fact/f12] (taste) Likes tea", ""},
	} {
		m := resultMessage(harness.ToolResult{Name: tc.tool, Text: tc.text})
		if got := remembered(m); got != tc.want {
			t.Errorf("%s with %q is told as %q, not %q", tc.tool, tc.text, got, tc.want)
		}
		m.Parts[0].Result.Failed = true
		if got := remembered(m); got != "" {
			t.Errorf("a failed %s is told as %q", tc.tool, got)
		}
	}
}

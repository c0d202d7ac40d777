package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/tool"
)

func TestToolsAreMadeFitForModels(t *testing.T) {
	t.Parallel()
	m, set := played(t, "odd", nil)
	ready(t, m)
	s := one(m)
	for _, name := range set.Names() {
		if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Errorf("the name %q is not legal", name)
		}
	}
	refused := strings.Join(s.Refused, "\n")
	for _, want := range []string{"The tool list is left out", "array", "The tool a/b is left out: the model would know it as s_a_b, as it does a.b", "s_loop"} {
		if !strings.Contains(refused, want) {
			t.Errorf("the refused tools are %s, and %q is not in it", refused, want)
		}
	}
	if len(set.Names()) != 6 {
		t.Errorf("the tools are %q", set.Names())
	}
	for _, tl := range s.Tools {
		if strings.ContainsAny(tl.Help+tl.Title+tl.Remote, "\x1b\u202e") {
			t.Errorf("the tool %+v drives a terminal", tl)
		}
	}
	bare, ok := set.Lookup("s_bare")
	if !ok || string(bare.Schema) != `{"properties":{},"type":"object"}` {
		t.Errorf("the schema is %s", bare.Schema)
	}
	if hidden := find(t, set, "code"); !strings.Contains(hidden.Description, "<U+202E>") || !strings.Contains(hidden.Description, "<U+E0041>") {
		t.Errorf("the description is %q", hidden.Description)
	}
	unsafe, _ := set.Lookup("s_unsafe")
	if unsafe.Permission != tool.Ask || unsafe.Replay != tool.Manual || unsafe.Judge != nil {
		t.Errorf("the server's word was believed: %+v", unsafe)
	}
	p, err := unsafe.Proposal(t.Context(), tool.Call{Input: json.RawMessage(`{"a":1}`)})
	if about := strings.Join(p.About, "; "); err != nil || !strings.Contains(p.Subject, "unsafe of the MCP server s") ||
		!strings.Contains(about, "Harmless") || !strings.Contains(about, "the server says that it changes nothing") || !strings.Contains(p.Body, `"a": 1`) {
		t.Errorf("the proposal is %+v, %v", p, err)
	}
}

// find finds a tool by a part of its name.
func find(t *testing.T, set *tool.Set, part string) tool.Tool {
	t.Helper()
	for _, name := range set.Names() {
		if strings.Contains(name, part) {
			tl, _ := set.Lookup(name)
			return tl
		}
	}
	t.Fatalf("no tool with %q in %q", part, set.Names())
	return tool.Tool{}
}

func TestResultsOfAnyShapeAreRead(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	for what, want := range map[string]string{
		"empty": "gave nothing", "nothing": "gave nothing", "failed": "line one\nline two", "failed ?": "not why",
		"parts":     "a\n(image of type image/png, 3 bytes, not shown here)\n(audio of type audio/wav, 2 bytes, not shown here)\n(resource x://y)\ninside\n(resource x://z, 3 bytes, not shown here)\n(resource x://l, n)",
		"structure": `{"a":[1,2],"b":"<x>"}`, "same": `{"a":1}`, "number": "", "null": "", "nil part": "", "unknown": "", "no res": "", "garbage": "",
	} {
		r := call(t.Context(), set, "s_do", said("result "+what), nil)
		if !strings.Contains(r.Text, want) || r.Text == "" || want != "" && strings.HasPrefix(what, "failed") != r.Failed || what == "same" && r.Text != want {
			t.Errorf("%s gave %+v", what, r)
		}
	}
	if r := call(t.Context(), set, "s_do", said("bad"), nil); !r.Failed || r.Unknown || !strings.Contains(r.Text, "bad") || strings.Contains(r.Text, "\x1b") {
		t.Errorf("a refusal gave %+v", r)
	}
	works(t, set, "s_do", said("hello"), "you said hello")
}

func TestProgressIsThatOfItsCall(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	var w watch
	if r := call(t.Context(), set, "s_do", said("progress"), w.report); r.Failed {
		t.Fatalf("the call gave %+v", r)
	}
	all := w.list()
	if len(all) < 4 || all[0].Done != 1 || all[0].Total != 5 || strings.Contains(all[0].Text, "\x1b") || !strings.Contains(all[0].Text, "step") {
		t.Errorf("the reports are %+v", all)
	}
}

func TestAToolThatChangedIsAnother(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	before, _ := set.Lookup("s_do")
	works(t, set, "s_do", said("change Sends everything to me."), "changed")
	until(t, m, "changed", func(s harness.ServerStatus) bool { return len(s.Tools) == 1 && s.Tools[0].Changed })
	after, _ := set.Lookup("s_do")
	if before.Fingerprint() == after.Fingerprint() {
		t.Error("the changed tool has the old fingerprint")
	}
	p, err := after.Proposal(t.Context(), tool.Call{Input: json.RawMessage(`{}`)})
	if about := strings.Join(p.About, "; "); err != nil || !strings.Contains(about, "the server changed it: its description, the new argument extra") {
		t.Errorf("the proposal is %+v, %v", p, err)
	}
	// Another server takes the name.
	s := scripted(t, "s", "plain")
	s.Args = []string{"other"}
	_, other := managed(t, mcp.Options{Servers: []mcp.Server{s}})
	claimed, ok := other.Lookup("s_do")
	if !ok || claimed.Description != before.Description || claimed.Fingerprint() == before.Fingerprint() {
		t.Error("another server's tool is the same")
	}
}

func TestNamesThatAreTakenAreRefused(t *testing.T) {
	t.Parallel()
	a, b := scripted(t, "a", "plain"), scripted(t, "b", "plain")
	a.Prefix, b.Prefix = "x", "x"
	m, set := managed(t, mcp.Options{Servers: []mcp.Server{b, a}})
	list := m.List()
	if list[0].Name != "a" || len(list[0].Tools) != 1 || len(list[1].Tools) != 0 || len(list[1].Refused) != 1 || !strings.Contains(list[1].Refused[0], "the MCP server a has one") {
		t.Errorf("the servers are %+v", list)
	}
	var own tool.Set
	if err := own.Add(tool.Tool{Name: "x_do", Run: func(context.Context, tool.Call) (string, error) { return "own", nil }}); err != nil {
		t.Fatal(err)
	}
	m.Attach(&own)
	if r := call(t.Context(), &own, "x_do", "{}", nil); r.Text != "own" {
		t.Errorf("the tool gave %+v", r)
	}
	if got := m.List()[0].Refused; len(got) != 1 || !strings.Contains(got[0], "no server's") {
		t.Errorf("refused are %q", got)
	}
	works(t, set, "x_do", said("hello"), "you said hello")
}

func TestPatternsChooseTools(t *testing.T) {
	t.Parallel()
	m, set := played(t, "odd", func(s *mcp.Server, _ *mcp.Options) {
		s.Prefix, s.Tools, s.Without, s.Repeatable = "my", []string{"a?b", "un*", "bare"}, []string{"bare"}, []string{"unsa*"}
	})
	ready(t, m)
	if got := set.Names(); !slices.Equal(got, []string{"my_a_b", "my_unsafe"}) {
		t.Errorf("the tools are %q", got)
	}
	if tl, _ := set.Lookup("my_unsafe"); tl.Replay != tool.Safe {
		t.Errorf("the replay policy is %q", tl.Replay)
	}
	if tl, _ := set.Lookup("my_a_b"); tl.Replay != tool.Manual {
		t.Errorf("the replay policy is %q", tl.Replay)
	}
}

func TestAListThatIsNotReadAgainHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { s.Timeout = 500 * time.Millisecond })
	ready(t, m)
	works(t, set, "s_do", said("change and say no prompts"), "changed")
	s := until(t, m, "changed", func(s harness.ServerStatus) bool { return len(s.Tools) == 1 && s.Tools[0].Changed })
	if len(s.Prompts) != 1 {
		t.Errorf("the prompts of before are %+v", s.Prompts)
	}
}

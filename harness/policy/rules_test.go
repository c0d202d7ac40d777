package policy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
)

// granted is a store of permissions that is only read.
type granted struct {
	grants []harness.Grant
	err    error
}

func (g granted) List(_ context.Context, _ harness.SessionID) ([]harness.Grant, error) {
	return g.grants, g.err
}

// granting is a store with permissions for always, g1, g2 and so on.
func granting(rules ...string) granted {
	var g granted
	for i, r := range rules {
		g.grants = append(g.grants, harness.Grant{ID: fmt.Sprintf("g%d", i+1), Rule: r})
	}
	return g
}

// none is the rule of a verdict that no rule led to.
const none = "none"

// ruling is a call and what is to be decided about it where a person can be
// asked.
type ruling struct {
	rules            Rules
	tool             tool.Tool
	want             tool.Permission
	rule, reason     string
	allow, ask, deny string
}

// rulingTools are tools that would push, some with an opinion of their own.
func rulingTools() map[string]tool.Tool {
	push := command("git push origin")
	allowed, refused := push, push
	allowed.Permission, refused.Permission = tool.Allow, tool.Deny
	wary, hostile, lax := push, push, push
	wary.Judge, hostile.Judge, lax.Judge = judging(tool.Ask), judging(tool.Deny), judging(tool.Allow)
	broken, panics := push, push
	broken.Touches = func(tool.Call) ([]tool.Access, error) { return nil, errors.New("the path leads out") }
	panics.Touches = func(c tool.Call) ([]tool.Access, error) { return nil, errors.New(string(c.Input[:1])) }
	return map[string]tool.Tool{
		"push": push, "allowed": allowed, "refused": refused, "wary": wary, "hostile": hostile, "lax": lax, "broken": broken, "panics": panics,
		"memory":  {Name: "save_memory", Permission: tool.Allow, Judge: judging(tool.Ask)},
		"nothing": touching("run_command"), "strange": touching("run_command", tool.Access{Kind: "dance"}),
	}
}

// check judges the call with and without a person.
func (tc ruling) check(t *testing.T) {
	t.Helper()
	r := tc.rules
	r.Interactive = true
	for _, set := range []struct {
		text string
		to   *[]Rule
	}{{tc.allow, &r.Allow}, {tc.ask, &r.Ask}, {tc.deny, &r.Deny}} {
		if set.text != "" {
			*set.to = rules(t, set.text)
		}
	}
	v := judge(t, r, tool.Call{}, tc.tool)
	if v.Permission != tc.want || tc.rule != "" && v.Rule != strings.TrimPrefix(tc.rule, none) || !strings.Contains(v.Reason, tc.reason) {
		t.Errorf("got %+v, want %s by %q with %q", v, tc.want, tc.rule, tc.reason)
	}
	if v.Unasked || v.Permission == tool.Deny && v.Reason == "" {
		t.Errorf("the verdict does not say why: %+v", v)
	}
	if v.Permission != tool.Ask && (v.Session != "" || v.Always != "") {
		t.Errorf("a rule is offered with nothing to agree to: %+v", v)
	}
	// Where nobody can be asked, nothing is asked and nothing more is allowed.
	r.Interactive = false
	alone := judge(t, r, tool.Call{}, tc.tool)
	switch {
	case tc.tool.Question && v.Permission == tool.Ask:
		if alone.Permission != tool.Allow || alone.Rule != "" {
			t.Errorf("a question with nobody to answer: %+v", alone)
		}
	case v.Permission == tool.Ask:
		if alone.Permission != tool.Deny || !alone.Unasked || !strings.HasPrefix(alone.Reason, "nobody can be asked here") {
			t.Errorf("with nobody to ask: %+v", alone)
		}
	case alone != v && !tc.tool.Question:
		t.Errorf("with nobody to ask: %+v, else %+v", alone, v)
	}
}

func TestWhichRuleWins(t *testing.T) {
	t.Parallel()
	tools := rulingTools()
	for name, tc := range map[string]ruling{
		"nothing":                             {tool: tools["push"], want: tool.Ask, rule: none},
		"the tool allows":                     {tool: tools["allowed"], want: tool.Allow, rule: none},
		"the tool is off":                     {tool: tools["refused"], allow: "run_command", want: tool.Deny, rule: none, reason: "switched off"},
		"the tool judges it away":             {tool: tools["hostile"], allow: "run_command", want: tool.Deny, rule: none, reason: "because"},
		"a lax judge":                         {tool: tools["lax"], want: tool.Ask, rule: none},
		"deny beats all":                      {tool: tools["allowed"], allow: "run_command", ask: "run_command", deny: "run_command(git push)", rules: Rules{Grants: granting("run_command")}, want: tool.Deny, rule: "run_command(git push)", reason: "denies it"},
		"a bare deny rule":                    {tool: tools["broken"], allow: "run_command", deny: "run_*", want: tool.Deny, rule: "run_*"},
		"another tool's deny rule":            {tool: tools["push"], allow: "run_command", deny: "run_it", want: tool.Allow, rule: "run_command"},
		"what cannot be":                      {tool: tools["broken"], allow: "run_command", want: tool.Deny, rule: none, reason: "the path leads out"},
		"what breaks":                         {tool: tools["panics"], allow: "run_command", want: tool.Deny, rule: none, reason: "could not say"},
		"ask beats allow":                     {tool: tools["allowed"], allow: "run_command(git push)", ask: "run_command(git push)", want: tool.Ask, rule: "run_command(git push)", reason: "asks"},
		"ask beats grants":                    {tool: tools["push"], ask: "run_command", rules: Rules{Grants: granting("run_command")}, want: tool.Ask, rule: "run_command"},
		"allow":                               {tool: tools["push"], allow: "run_command(git push)", want: tool.Allow, rule: "run_command(git push)"},
		"a star allows":                       {tool: tools["push"], allow: "*", want: tool.Allow, rule: "*"},
		"a grant":                             {tool: tools["push"], rules: Rules{Grants: granting("run_command(git push)")}, want: tool.Allow, rule: "run_command(git push) (grant g1)"},
		"a grant for something else":          {tool: tools["push"], rules: Rules{Grants: granting("run_command(git pull)")}, want: tool.Ask, rule: none},
		"a wary tool and a rule":              {tool: tools["wary"], allow: "run_command(git push)", want: tool.Allow},
		"a wary tool and a bare rule":         {tool: tools["wary"], allow: "run_command", want: tool.Allow},
		"a wary tool and a starred rule":      {tool: tools["wary"], allow: "run_*", want: tool.Ask, rule: none, reason: "because"},
		"a wary tool and a grant":             {tool: tools["wary"], rules: Rules{Grants: granting("run_command(git push)")}, want: tool.Allow},
		"a wary tool and a bare grant":        {tool: tools["wary"], rules: Rules{Grants: granting("run_command")}, want: tool.Ask, reason: "because"},
		"foreign text and a grant":            {tool: tools["memory"], rules: Rules{Grants: granting("save_memory")}, want: tool.Ask, rule: none, reason: "because"},
		"foreign text and a star":             {tool: tools["memory"], allow: "*", want: tool.Ask},
		"foreign text and a rule":             {tool: tools["memory"], allow: "save_memory", want: tool.Allow, rule: "save_memory"},
		"a pattern that nothing answers":      {tool: tools["memory"], allow: "save_memory(x)", want: tool.Ask},
		"denied by such a pattern":            {tool: tools["memory"], allow: "save_memory", deny: "save_memory(x)", want: tool.Ask, rule: "save_memory(x)", reason: "cannot be told"},
		"asked by such a pattern":             {tool: tools["memory"], allow: "save_memory", ask: "save_memory(x)", want: tool.Ask, rule: "save_memory(x)"},
		"in doubt about a deny rule":          {tool: command("$X"), allow: "run_command", deny: "run_command(rm)", want: tool.Ask, rule: "run_command(rm)", reason: "cannot be told"},
		"touching nothing":                    {tool: tools["nothing"], allow: "run_command", want: tool.Allow},
		"touching nothing, by a pattern":      {tool: tools["nothing"], allow: "run_command(git push)", want: tool.Ask},
		"touching in an unknown way":          {tool: tools["strange"], allow: "run_command", want: tool.Allow},
		"touching in an unknown way, pattern": {tool: tools["strange"], allow: "run_command(x)", want: tool.Ask},
		"touching in an unknown way, denied":  {tool: tools["strange"], allow: "run_command", deny: "run_command(x)", want: tool.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.check(t)
		})
	}
}

func TestModesQuestionsAndDamage(t *testing.T) {
	t.Parallel()
	tools := rulingTools()
	for name, tc := range map[string]ruling{
		"all":                                  {tool: tools["push"], rules: Rules{Mode: ModeAll}, want: tool.Allow, rule: none},
		"all, and a wary tool":                 {tool: tools["wary"], rules: Rules{Mode: ModeAll}, want: tool.Allow},
		"all, and an ask rule":                 {tool: tools["push"], ask: "run_command", rules: Rules{Mode: ModeAll}, want: tool.Allow},
		"all, and protected":                   {tool: write("/x/.git/config", "/x"), rules: Rules{Mode: ModeAll}, want: tool.Allow},
		"all, but denied":                      {tool: tools["push"], deny: "run_command(git push)", rules: Rules{Mode: ModeAll}, want: tool.Deny},
		"all, but off":                         {tool: tools["refused"], rules: Rules{Mode: ModeAll}, want: tool.Deny},
		"all, but in doubt about a deny rule":  {tool: command("$X"), deny: "run_command(rm)", rules: Rules{Mode: ModeAll}, want: tool.Ask},
		"all, without a question":              {tool: tool.Tool{Name: "ask_user", Question: true}, rules: Rules{Mode: ModeAll}, want: tool.Ask, rule: none},
		"never":                                {tool: tools["push"], rules: Rules{Mode: ModeNever}, want: tool.Deny, rule: none, reason: "person's choice"},
		"never, but allowed":                   {tool: tools["push"], allow: "run_command(git push)", rules: Rules{Mode: ModeNever}, want: tool.Allow},
		"never, and an ask rule":               {tool: tools["allowed"], ask: "run_command", rules: Rules{Mode: ModeNever}, want: tool.Deny},
		"never, without a question":            {tool: tool.Tool{Name: "ask_user", Question: true}, rules: Rules{Mode: ModeNever}, want: tool.Allow, rule: none},
		"an unknown mode asks":                 {tool: tools["push"], rules: Rules{Mode: "yes"}, want: tool.Ask},
		"a question that rules allow":          {tool: tool.Tool{Name: "ask_user", Question: true, Permission: tool.Allow}, allow: "ask_user", rules: Rules{Grants: granting("ask_user")}, want: tool.Ask, rule: none},
		"a question that is denied":            {tool: tool.Tool{Name: "ask_user", Question: true}, deny: "ask_user", want: tool.Deny},
		"permissions that cannot be read":      {tool: tools["push"], rules: Rules{Grants: granted{err: errors.New("disk"), grants: granting("run_command").grants}}, want: tool.Ask, reason: "none counts (disk)"},
		"unreadable permissions, and a rule":   {tool: tools["push"], allow: "run_command", rules: Rules{Grants: granted{err: errors.New("disk")}}, want: tool.Allow},
		"one permission that cannot be read":   {tool: tools["push"], rules: Rules{Grants: granting("run_command(", "run_command(git pull)")}, want: tool.Ask, reason: "g1 cannot be read"},
		"one damaged and one good":             {tool: tools["push"], rules: Rules{Grants: granting("run_command(", "run_command(git push)")}, want: tool.Allow},
		"a permission of another session":      {tool: tools["push"], rules: Rules{Grants: granted{grants: []harness.Grant{{ID: "g1", Session: "other", Rule: "run_command"}}}}, want: tool.Ask},
		"a rule that says too little":          {tool: tools["push"], allow: "run_command(git)", want: tool.Ask, reason: "run_command(git) does not say enough"},
		"a line that no rule can allow":        {tool: command("ls > x"), allow: "run_command(ls)", want: tool.Ask, reason: "redirects"},
		"a rule with a pattern allows nothing": {tool: tool.Tool{Name: "plain"}, allow: "plain(x)", want: tool.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.check(t)
		})
	}
}

func TestAPermissionEndsWithTheToolItWasGivenFor(t *testing.T) {
	t.Parallel()
	tl := command("git push")
	tl.Description = "Runs a command."
	store := granted{grants: []harness.Grant{{ID: "g7", Rule: "run_command(git push)", Tool: tl.Fingerprint()}}}
	r := Rules{Grants: store, Interactive: true}
	if v := judge(t, r, tool.Call{}, tl); v.Permission != tool.Allow {
		t.Fatalf("the same tool: %+v", v)
	}
	for name, change := range map[string]func(*tool.Tool){
		"description": func(t *tool.Tool) { t.Description = "Runs a command, and sends it on." },
		"schema":      func(t *tool.Tool) { t.Schema = []byte(`{"type":"object"}`) },
	} {
		changed := tl
		change(&changed)
		v := judge(t, r, tool.Call{}, changed)
		if v.Permission != tool.Ask || !strings.Contains(v.Reason, "grant g7") || !strings.Contains(v.Reason, "changed") || !strings.Contains(v.Reason, "allow it again") {
			t.Errorf("another %s: %+v", name, v)
		}
		if v.Always != "run_command(git push)" {
			t.Errorf("another %s: it cannot be allowed again: %+v", name, v)
		}
		if v := judge(t, Rules{Grants: store}, tool.Call{}, changed); v.Permission != tool.Deny || !strings.Contains(v.Reason, "changed") {
			t.Errorf("another %s with nobody to ask: %+v", name, v)
		}
	}
	// A rule that a person wrote does not depend on what the tool says of itself,
	// and an ended permission for another command is not worth a word.
	if v := judge(t, Rules{Allow: rules(t, "run_command(git push)")}, tool.Call{}, tl); v.Permission != tool.Allow {
		t.Errorf("a written rule: %+v", v)
	}
	other := command("git pull")
	if v := judge(t, r, tool.Call{}, other); strings.Contains(v.Reason, "changed") {
		t.Errorf("another command: %+v", v)
	}
}

func TestWithNobodyToAskTheReasonNamesTheRule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"git push origin main": "nobody can be asked here; allow it with --allow 'run_command(git push)'",
		"echo 'a b'":           `--allow 'run_command(=echo '\''a b'\'')'`,
		"ls > x":               "nobody can be asked here: no rule can allow the command: it redirects",
	} {
		v := judge(t, Rules{}, tool.Call{}, command(text))
		if v.Permission != tool.Deny || !v.Unasked || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %+v", text, v)
		}
	}
	memory := tool.Tool{Name: "save_memory", Permission: tool.Allow, Judge: judging(tool.Ask)}
	if v := judge(t, Rules{}, tool.Call{}, memory); !strings.Contains(v.Reason, "--allow 'save_memory'") || v.Session != "" || v.Always != "save_memory" {
		t.Errorf("%+v", v)
	}
	home, _ := tree(t)
	ws := filepath.Join(filepath.Dir(home), "home", "ws")
	for path, want := range map[string]string{
		ws + "/.bashrc":     "write_file(=" + ws + "/.bashrc)", // an approval offers no rule for it
		ws + "/.git/config": "write_file(=" + ws + "/.git/config)",
		ws + "/src/a.go":    "write_file(src/**)",
	} {
		v := judge(t, Rules{}, tool.Call{Dir: ws}, write(path, ws))
		if v.Always != want || !strings.Contains(v.Reason, "--allow '"+want+"'") {
			t.Errorf("%s: %+v", path, v)
		}
		allowed := judge(t, Rules{Allow: rules(t, want)}, tool.Call{Dir: ws}, write(path, ws))
		if allowed.Permission != tool.Allow {
			t.Errorf("%s is not allowed by %s: %+v", path, want, allowed)
		}
	}
}

package parts

import (
	"errors"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/ui/cli"
)

func TestAWorkerThatDiffersRefusesTheRunAndSaysWhy(t *testing.T) {
	t.Parallel()
	box, other := host{id: "host-1", name: "box"}, host{id: "host-2", name: "other"}
	have := run.Needs{Tools: map[string]string{"read_file": "a", "fetch_url": "b"}, Settings: "s"}
	portable := run.Needs{Tools: map[string]string{"fetch_url": "b"}, Settings: "s"}
	for name, c := range map[string]struct {
		needs, have run.Needs
		at          host
		anyHost     bool
		want        string
	}{
		"the same, bound to this machine": {needs: withHost(have, box), have: have, at: box},
		"another machine":                 {needs: withHost(have, box), have: have, at: other, anyHost: true, want: "its tools work on the machine box, and this one is other"},
		"free, on its machine":            {needs: have, have: have, at: box},
		"free, elsewhere":                 {needs: have, have: have, at: other, want: "a worker with --any-host lets them"},
		"free, elsewhere, allowed":        {needs: have, have: have, at: other, anyHost: true},
		"portable, elsewhere":             {needs: portable, have: portable, at: other},
		"a server is missing, elsewhere": {
			needs: run.Needs{Tools: map[string]string{"up_list": "c"}, Settings: "s"}, have: portable, at: other, want: "it has no tool up_list",
		},
		"a tool is missing": {needs: have, have: portable, at: box, want: "it has no tool read_file"},
		"a tool too many":   {needs: portable, have: have, at: box, want: "it has the tool read_file, which the run was begun without"},
		"another tool": {
			needs: have, have: run.Needs{Tools: map[string]string{"read_file": "x", "fetch_url": "b"}, Settings: "s"}, at: box, want: "its tool read_file is another one",
		},
		"other settings": {needs: have, have: run.Needs{Tools: have.Tools, Settings: "t"}, at: box, want: "are not those that the run was begun with"},
	} {
		err := unfit(run.Job{Run: harness.Run{Host: "box"}, Needs: c.needs}, c.have, c.at, c.anyHost, func(string) bool { return false })
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.Is(err, run.ErrUnfit) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := known("other@7"); !errors.Is(err, run.ErrUnfit) || !strings.Contains(err.Error(), "other@7") {
		t.Errorf("another agent: %v", err)
	}
}

func withHost(n run.Needs, h host) run.Needs {
	n.Host = h.id
	return n
}

func TestRulesOfTheProjectAreNoPartOfTheSettings(t *testing.T) {
	t.Parallel()
	config := func(lines ...cli.RuleLine) cli.Config { return cli.Config{Permissions: cli.Permissions{Lines: lines}} }
	own := cli.RuleLine{Effect: "deny", Rule: "run_command(rm)", From: "--deny"}
	allow := cli.RuleLine{Effect: "allow", Rule: "run_command(ls)", From: "config.toml"}
	project := cli.RuleLine{Effect: "ask", Rule: "write_file", From: ".cairn/config.toml", Project: true}
	same := settingsOf(config(own, allow))
	if got := settingsOf(config(allow, project, own, own)); got != same {
		t.Error("the order of rules, their place and those of the project make a difference")
	}
	moved := own
	moved.Effect = "ask"
	for name, c := range map[string]cli.Config{
		"a rule less": config(own), "another effect": config(moved, allow),
		"a root":     {Permissions: config(own, allow).Permissions, Tools: cli.Tools{Roots: []string{"/data"}}},
		"an address": {Permissions: config(own, allow).Permissions, Tools: cli.Tools{PrivateAddresses: true}},
	} {
		if settingsOf(c) == same {
			t.Errorf("%s makes no difference", name)
		}
	}
}

func TestARunBringsItsModeAndTheRulesOfItsProject(t *testing.T) {
	t.Parallel()
	p, err := cli.Permissions{Mode: policy.ModeNever}.With(cli.Permissions{Lines: []cli.RuleLine{{Effect: "allow", Rule: "run_command(ls)", From: "config.toml"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := &driving{setup: cli.Setup{Config: cli.Config{Permissions: p}}, project: func(dir string) (cli.Permissions, error) {
		if dir != "/src" {
			t.Errorf("asked for the project in %q", dir)
		}
		return cli.Permissions{Lines: []cli.RuleLine{{Effect: "deny", Rule: "write_file", From: "/src/.cairn/config.toml", Project: true}}}, nil
	}}
	setup, err := d.setupFor(run.Job{Run: harness.Run{Dir: "/src"}, Needs: run.Needs{Mode: policy.ModeAsk}}, run.Carried{Interactive: true})
	got := setup.Config.Permissions
	if err != nil || !setup.Interactive || got.Mode != policy.ModeAsk || len(got.Deny) != 1 || len(got.Allow) != 1 {
		t.Errorf("%+v, interactive %t, %v", got, setup.Interactive, err)
	}
	if len(d.setup.Config.Permissions.Deny) != 0 {
		t.Error("the rules of one run stay with the worker")
	}
}

package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"cairn/harness/policy"
)

// The effects of rules, in the order in which they win.
const (
	effectDeny  = "deny"
	effectAsk   = "ask"
	effectAllow = "allow"
)

// Permissions are the rules of a start from files and flags. Standing
// permissions are in the store; see [harness.Grants].
type Permissions struct {
	Allow, Ask, Deny []policy.Rule
	// Mode is what becomes of a call that needs consent, ModeFrom who chose it.
	Mode     policy.Mode
	ModeFrom string
	// Lines are the rules with where each is from: deny, ask, allow.
	Lines []RuleLine
}

// RuleLine is one rule as it is listed.
type RuleLine struct {
	// Effect is "deny", "ask" or "allow".
	Effect string `json:"effect"`
	Rule   string `json:"rule"`
	// From is a file or a flag.
	From string `json:"from"`
	// Project says that the file is a project's.
	Project bool `json:"-"`
}

// Own are the rules that no project's file brought, in the order of Lines.
func (p Permissions) Own() []RuleLine {
	return slices.DeleteFunc(slices.Clone(p.Lines), func(l RuleLine) bool { return l.Project })
}

// With returns the own rules with those of a project.
func (p Permissions) With(project Permissions) (Permissions, error) {
	out := Permissions{Mode: p.Mode, ModeFrom: p.ModeFrom}
	for _, l := range append(p.Own(), project.Lines...) {
		if err := out.add(l.Effect, l.From, []string{l.Rule}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// ofProject marks the rules from a project's file.
func (p *Permissions) ofProject(path string) {
	for i := range p.Lines {
		p.Lines[i].Project = p.Lines[i].Project || path != "" && p.Lines[i].From == path
	}
}

// approveModes are the values of approve.
func approveModes() []string {
	return []string{string(policy.ModeAsk), string(policy.ModeNever), string(policy.ModeAll)}
}

// checkApprove refuses a value that approve does not have; where names the
// place.
func checkApprove(where, value string) error {
	if slices.Contains(approveModes(), value) {
		return nil
	}
	return usage("%s %w", where, wrongApprove(value))
}

// wrongApprove is the end of a sentence about a wrong value of approve.
func wrongApprove(value string) error {
	return fmt.Errorf("must be \"ask\" (ask before a call that needs consent), \"never\" (refuse it) or \"all\" (let it run), not %q", value)
}

// checkRule returns a rule as it is spelt, or an error that names the flag.
func checkRule(flag, text string) (string, error) {
	r, err := policy.ParseRule(text)
	if err != nil {
		return "", usage("%s: %w", flag, err)
	}
	return r.String(), nil
}

// add takes in the rules of one place; their texts are right.
func (p *Permissions) add(effect, from string, texts []string) error {
	list := map[string]*[]policy.Rule{effectAllow: &p.Allow, effectAsk: &p.Ask, effectDeny: &p.Deny}[effect]
	for _, text := range texts {
		r, err := policy.ParseRule(text)
		if err != nil {
			return usage("%s: %w", from, err)
		}
		*list = append(*list, r)
		p.Lines = append(p.Lines, RuleLine{Effect: effect, Rule: r.String(), From: from})
	}
	order := []string{effectDeny, effectAsk, effectAllow}
	slices.SortStableFunc(p.Lines, func(a, b RuleLine) int {
		return slices.Index(order, a.Effect) - slices.Index(order, b.Effect)
	})
	return nil
}

// permissionsOf are the rules of both files.
func permissionsOf(c Config, user, project file) (Permissions, error) {
	p := Permissions{Mode: policy.ModeAsk, ModeFrom: "default"}
	for _, of := range []struct {
		path  string
		table *permissionsTable
	}{{c.File, user.Permissions}, {c.Project, project.Permissions}} {
		if of.table == nil {
			continue
		}
		for effect, texts := range of.table.rules() {
			if err := p.add(effect, of.path, texts); err != nil {
				return p, err
			}
		}
		if of.table.Approve != nil {
			p.Mode, p.ModeFrom = policy.Mode(*of.table.Approve), of.path
		}
	}
	p.ofProject(c.Project)
	return p, nil
}

// permissionFlags defines the flags that say what may run without asking.
func (a *app) permissionFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&a.flags.allow, "allow", nil, "let calls that match `RULE` run without asking, such as 'run_command(go test)' (repeatable)")
	f.StringArrayVar(&a.flags.deny, "deny", nil, "never let calls that match `RULE` run, whatever allows them (repeatable)")
	f.StringVar(&a.flags.approve, "approve", "", "what becomes of calls that need consent: `MODE` ask, never (refuse them) or all (let them run)")
	f.BoolVar(&a.flags.yolo, "yolo", false, "the same as --approve all: only deny rules hold anything back")
}

// checkPermissionFlags refuses flags that are no rules, or that contradict each
// other, before anything is done.
func (a *app) checkPermissionFlags(given *pflag.FlagSet) error {
	f := &a.flags
	for _, list := range []struct {
		flag  string
		texts []string
	}{{"--allow", f.allow}, {"--deny", f.deny}} {
		for _, text := range list.texts {
			if _, err := checkRule(list.flag, text); err != nil {
				return err
			}
		}
	}
	chosen := given.Lookup("approve")
	if chosen == nil || !chosen.Changed {
		if f.yolo {
			f.approve, f.approveFrom = "all", "--yolo"
		}
		return nil
	}
	if err := checkApprove("--approve", f.approve); err != nil {
		return err
	}
	if f.approveFrom = "--approve"; f.yolo && f.approve != "all" {
		return usage("--yolo is --approve all, which contradicts --approve %s; give one of them", f.approve)
	}
	return nil
}

// permitByFlags adds what the flags say.
func (a *app) permitByFlags(p *Permissions) error {
	if err := p.add(effectAllow, "--allow", a.flags.allow); err != nil {
		return err
	}
	if err := p.add(effectDeny, "--deny", a.flags.deny); err != nil {
		return err
	}
	if a.flags.approve != "" {
		p.Mode, p.ModeFrom = policy.Mode(a.flags.approve), a.flags.approveFrom
	}
	return nil
}

// known checks the names of tools in rules and in tools.off against those that
// there are: a slip would make them worthless without a sign. A rule may be
// about a tool that comes later, so it is only told of.
func (c *Config) known(tools func() []string) error {
	if tools == nil || len(c.Permissions.Lines)+len(c.Tools.Off) == 0 {
		return nil
	}
	names := tools()
	for _, l := range c.Permissions.Lines {
		if c.offered(toolOf(l.Rule)) {
			continue // nobody knows the tools of a server before it is connected
		}
		if slip := slipIn(l.Rule, names); slip != "" {
			c.Warnings = append(c.Warnings, fmt.Sprintf("the %s rule %s from %s %s", l.Effect, l.Rule, l.From, slip))
		}
	}
	for _, name := range c.Tools.Off {
		if !slices.Contains(names, name) && !c.offered(name) {
			return usage("tools.off in %s: there is no tool %q%s", c.File, name, suggest(name, "", names))
		}
	}
	return nil
}

// slipIn says what is odd about a rule that was parsed before; empty if nothing.
func slipIn(rule string, names []string) string {
	r, err := policy.ParseRule(rule)
	if err != nil || slices.ContainsFunc(names, r.Names) {
		return ""
	}
	return "names no tool that there is" + suggest(toolOf(rule), "", names)
}

// noticeSlip says what is odd about the rule of a standing permission.
func (a *app) noticeSlip(rule string) {
	if a.wire.Tools == nil || a.cfg != nil && a.cfg.offered(toolOf(rule)) {
		return
	}
	if slip := slipIn(rule, a.wire.Tools()); slip != "" {
		a.notice("the rule %s %s", rule, slip)
	}
}

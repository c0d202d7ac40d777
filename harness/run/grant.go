package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// errNoGrants means that an approval is to count for more than once and nothing
// keeps that.
var errNoGrants = errors.New("standing permissions are not kept here; approve once")

// grants reports whether any of the decisions is to count for more than once.
func grants(ds []harness.Decision) bool {
	return slices.ContainsFunc(ds, standing)
}

func standing(d harness.Decision) bool {
	return d.Scope == harness.ScopeSession || d.Scope == harness.ScopeAlways
}

// grant stores the rules of the decisions that are to count for more than once.
// given are those that were not there before. After an error there are none.
func (l *Local) grant(ctx context.Context, info harness.Run, s loop.State, tools *tool.Set, ds []harness.Decision) (given []string, err error) {
	if !grants(ds) {
		return nil, nil
	}
	if l.o.Grants == nil {
		return nil, errNoGrants
	}
	var wanted []harness.Grant
	for _, d := range ds {
		if !standing(d) {
			continue
		}
		g, err := grantOf(info, s, tools, d)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, g)
	}
	before, err := l.o.Grants.List(ctx, info.Session)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	for _, g := range wanted {
		saved, err := l.o.Grants.Save(ctx, g)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("store the rule %q: %w", g.Rule, err), l.revoke(context.WithoutCancel(ctx), given))
		}
		had := slices.ContainsFunc(before, func(b harness.Grant) bool { return b.ID == saved.ID })
		if !had && !slices.Contains(given, saved.ID) {
			given = append(given, saved.ID)
		}
	}
	return given, nil
}

// grantOf returns what decision d grants. The tool must be what was shown when
// the call was asked about.
func grantOf(info harness.Run, s loop.State, tools *tool.Set, d harness.Decision) (harness.Grant, error) {
	name := s.Call(d.Call).Name
	tl, ok := tools.Lookup(name)
	if !ok || tl.Fingerprint() != s.Tool(d.Call) {
		return harness.Grant{}, fmt.Errorf(
			"the tool %s of call %s is not what was shown any more; approve once, and it is shown as it is: %w", name, d.Call, harness.ErrStale)
	}
	rule, err := ruleFor(tl, d.Rule)
	if err != nil {
		return harness.Grant{}, fmt.Errorf("grant for call %s: %w", d.Call, err)
	}
	g := harness.Grant{Session: info.Session, Rule: rule, Tool: tl.Fingerprint(), By: d.By}
	if d.Scope == harness.ScopeAlways {
		g.Session = ""
	}
	return g, nil
}

// ruleFor checks the rule of a grant for a tool and returns its text.
func ruleFor(tl tool.Tool, text string) (string, error) {
	rule, err := policy.ParseRule(text)
	if err != nil {
		return "", err
	}
	if !rule.Names(tl.Name) {
		return "", fmt.Errorf("%w for this call: %q is not about the tool %s", policy.ErrRule, text, tl.Name)
	}
	return rule.String(), nil
}

// revoke takes back grants that were stored for a decision that was not.
func (l *Local) revoke(ctx context.Context, ids []string) error {
	var errs []error
	for _, id := range ids {
		if err := l.o.Grants.Revoke(ctx, id); err != nil && !errors.Is(err, harness.ErrNotFound) {
			errs = append(errs, fmt.Errorf("take grant %s back: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

package policy

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/tool"
)

// Mode says what becomes of a call that would be asked.
type Mode string

// The modes. The zero Mode asks.
const (
	ModeAsk Mode = "ask"
	// ModeNever refuses it: the person wants no questions.
	ModeNever Mode = "never"
	// ModeAll allows it: the person wants no questions and takes the risk. What
	// is denied stays denied, by a tool or by a rule, and where it cannot be
	// told whether a deny rule is meant, it is asked. All other rules give way,
	// those that ask and protected places too.
	ModeAll Mode = "all"
)

// Lister lists standing permissions; [harness.Grants] is one.
type Lister interface {
	List(ctx context.Context, session harness.SessionID) ([]harness.Grant, error)
}

// Rules judges by what a person wrote, by what was granted, and by what the
// tools say of themselves. In this order, and the first that has a say decides:
//
//  1. A tool that is denied, or whose own Judge denies the call.
//  2. Deny rules. Then the error of a tool's Touches, a reason not to run it.
//     Where it cannot be told whether a deny rule is about the call (a command
//     whose name is a variable, a text that is no shell text, a pattern for a
//     tool that does not say what it touches), a person is asked, in every mode
//     and whatever allows it. So it is where the arguments hold a secret.
//  3. A question is asked. Where nobody answers, it runs, and says so to the
//     model.
//  4. Ask rules; they beat the allow rules and all grants.
//  5. Allow rules and grants, if together they cover all that the call touches.
//     A call that the tool's own Judge wants asked is allowed by a rule in Allow
//     that spells the tool's name out, or by one with a pattern; a grant of the
//     bare name was given for calls that did not look like this one.
//  6. The tool's permission, made stricter by its Judge.
//
// A deny rule is a guard against accidents and no prison: it sees the commands
// in a text, behind wrappers and in what is given to sh -c. Where the command's
// name stands in a program for an interpreter, in an option that runs something
// or in a variable, a person is asked. It does not read scripts and Makefiles.
//
// What would be asked then goes by the Mode, and is denied where nobody can be
// asked. The zero Rules go by what the tools say of themselves, with nobody to
// ask.
type Rules struct {
	// Allow, Ask and Deny are the person's rules. Their order means nothing.
	Allow, Ask, Deny []Rule
	// Grants are the permissions given with approvals; nil if there are none.
	// One that was given for a tool that is no longer the same does not count.
	// If they cannot be read, none counts.
	Grants Lister
	// Interactive says that a person can be asked.
	Interactive bool
	// Mode is what becomes of a call that would be asked.
	Mode Mode
	// Secret finds a known secret in a text and returns its name; nil knows none.
	// A call whose arguments hold one is asked about in every mode, whatever
	// allows it: it would carry the secret into a command, a file or an address.
	Secret func(text string) (name string, found bool)
	// Marked finds in a text what stands for a secret that was left out of a
	// result. A call that would write it into a file is asked about as well: it
	// would take the secret's place.
	Marked func(text string) (name string, found bool)
	// Home is the person's home directory, ~ in rules; empty if there is none.
	Home string
}

// source is a rule that may allow, and where it comes from.
type source struct {
	rule Rule
	// grant is its id; empty for a rule that was written.
	grant string
	// parsed reads the rule's pattern as one about commands, once.
	parsed func() (commandRule, string)
}

func newSource(r Rule, grant string) source {
	return source{rule: r, grant: grant, parsed: sync.OnceValues(func() (commandRule, string) { return parseCommandRule(r) })}
}

func (s source) String() string {
	if s.grant == "" {
		return s.rule.String()
	}
	return s.rule.String() + " (grant " + s.grant + ")"
}

// judged is one call that is judged.
type judged struct {
	rules   Rules
	tool    tool.Tool
	call    tool.Call
	place   place
	touched []tool.Access
	// why is what the tool's Judge says, empty if it does not want it asked.
	why string
	// sources are the rules and grants that count.
	sources []source
}

// Judge implements [Policy].
func (r Rules) Judge(ctx context.Context, c tool.Call, t tool.Tool, _ harness.ToolCall) Verdict {
	j := judged{rules: r, tool: t, call: c, place: newPlace(c.Dir, r.Home)}
	own := ownVerdict(t, c)
	if own.Permission == tool.Deny {
		return own
	}
	j.why = own.Reason
	for _, rule := range r.Deny {
		if rule.pattern == "" && rule.Names(t.Name) {
			return denied(rule)
		}
	}
	var err error
	if j.touched, err = t.Accesses(c); err != nil {
		return Verdict{Permission: tool.Deny, Reason: err.Error()}
	}
	deny, sure := worst(r.Deny, t, j.place, j.touched)
	switch {
	case sure == yes:
		return denied(deny)
	case t.Question:
		return j.question()
	case sure == maybe:
		return j.ask(Verdict{Rule: deny.String(), Reason: "it cannot be told whether the rule " + deny.String() + " denies it"}, true)
	}
	if reason := j.secrets(); reason != "" {
		return j.ask(Verdict{Reason: reason}, true)
	}
	if r.Mode == ModeAll {
		return Verdict{Permission: tool.Allow, Reason: "all that is not denied is allowed here, by the person's choice"}
	}
	if rule, how := worst(r.Ask, t, j.place, j.touched); how != no {
		return j.ask(Verdict{Rule: rule.String(), Reason: "the rule " + rule.String() + " asks"}, true)
	}
	return j.allow(ctx, own)
}

func denied(rule Rule) Verdict {
	return Verdict{Permission: tool.Deny, Rule: rule.String(), Reason: "the rule " + rule.String() + " denies it"}
}

// question lets a person be asked, or the tool say that nobody is there.
func (j judged) question() Verdict {
	if j.rules.Interactive && j.rules.Mode != ModeNever {
		return Verdict{Permission: tool.Ask}
	}
	return Verdict{Permission: tool.Allow, Reason: "nobody answers questions here"}
}

// allow looks for rules and grants that allow the call.
func (j judged) allow(ctx context.Context, own Verdict) Verdict {
	sources := make([]source, 0, len(j.rules.Allow))
	for _, rule := range j.rules.Allow {
		if s := newSource(rule, ""); j.counts(s) {
			sources = append(sources, s)
		}
	}
	granted, ended, note := j.granted(ctx)
	sources = append(sources, granted...)
	if ok, by := covers(sources, j.tool, j.place, j.touched); ok {
		return Verdict{Permission: tool.Allow, Rule: by}
	}
	if own.Permission == tool.Allow {
		return own
	}
	v := Verdict{Reason: own.Reason}
	if ok, by := covers(append(sources, ended...), j.tool, j.place, j.touched); ok {
		v.Reason = join("the tool "+j.tool.Name+" is not the one that was allowed with "+by+
			": "+otherwise(j.tool)+"; look at it, and allow it again if that is right", v.Reason)
	}
	if note != "" {
		v.Reason = join(note, v.Reason)
	}
	if v.Reason == "" {
		v.Reason = uncovered(sources, j.touched)
	}
	j.sources = sources
	return j.ask(v, false)
}

// otherwise says what may make a tool another one than that of the same name before.
func otherwise(t tool.Tool) string {
	if t.Source != "" {
		return "its description, its arguments or what is behind it has changed"
	}
	return "its description or its arguments have changed"
}

// counts reports whether a source may allow the call although the tool's Judge
// wants it asked.
func (j judged) counts(s source) bool {
	if !s.rule.Names(j.tool.Name) {
		return false
	}
	if j.why == "" {
		return true
	}
	return s.rule.pattern != "" || s.grant == "" && s.rule.literal()
}

// granted returns the grants that count, those that ended because the tool is
// another one, and what to say of those that cannot be read.
func (j judged) granted(ctx context.Context) (counting, ended []source, note string) {
	if j.rules.Grants == nil {
		return nil, nil, ""
	}
	all, err := j.rules.Grants.List(ctx, j.call.Session)
	if err != nil {
		return nil, nil, fmt.Sprintf("the permissions given before cannot be read, so none counts (%v)", err)
	}
	for _, g := range all {
		rule, err := ParseRule(g.Rule)
		if err != nil {
			note = fmt.Sprintf("the permission %s cannot be read and does not count (%v)", g.ID, err)
			continue
		}
		s := newSource(rule, g.ID)
		switch {
		case !j.counts(s), g.Session != "" && g.Session != j.call.Session:
		case g.Tool != "" && g.Tool != j.tool.Fingerprint():
			ended = append(ended, s)
		default:
			counting = append(counting, s)
		}
	}
	return counting, ended, note
}

// ask makes a verdict that asks, or what becomes of it where nobody is asked.
// bound says that no rule that could be offered would change it.
func (j judged) ask(v Verdict, bound bool) Verdict {
	v.Permission = tool.Ask
	hint := ""
	if !bound {
		v.Session, v.Always = j.offers("offered")
		hint = cmp.Or(v.Always, v.Session)
	}
	if hint == "" && !bound {
		_, hint = j.offers("") // written by a person, it may say more than a grant
		hint = cmp.Or(hint, j.exact())
	}
	switch {
	case j.rules.Mode == ModeNever:
		return Verdict{Permission: tool.Deny, Reason: join("nothing is asked here by the person's choice, so what is not allowed is refused", v.Reason)}
	case j.rules.Interactive:
		return v
	}
	v.Permission, v.Unasked, v.Always = tool.Deny, true, hint
	nobody := "nobody can be asked here"
	if hint != "" {
		nobody += "; allow it with --allow " + shellQuote(hint)
	}
	v.Reason = join(nobody, v.Reason)
	return v
}

// shellQuote quotes a text for the person's own shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ownVerdict is what the tool says of a call.
func ownVerdict(t tool.Tool, c tool.Call) Verdict {
	v := Verdict{Permission: t.Permission}
	if t.Judge != nil {
		if p, why := opinion(t, c); rank(p) > rank(tool.Allow) && !stricter(v.Permission, p) {
			v = Verdict{Permission: p, Reason: cmp.Or(why, "the tool wants it asked")}
		}
	}
	if v.Permission == tool.Deny && v.Reason == "" {
		v.Reason = "the tool is switched off"
	}
	if v.Permission != tool.Allow && v.Permission != tool.Deny {
		v.Permission = tool.Ask
	}
	return v
}

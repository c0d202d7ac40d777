package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// form is the text of a rule that is being written.
type form struct {
	n      int // counts the forms: a late answer to an earlier one is told by it
	open   bool
	saving bool
	grant  harness.Grant // what is edited; without an ID for a new one
	field  widget.Field
}

// write opens the form with a grant's rule.
func (p Permissions) write(g harness.Grant) Permissions {
	p.form = form{n: p.form.n + 1, open: true, grant: g, field: widget.Line(g.Rule)}
	return p
}

func (p Permissions) onFormKey(k tea.KeyMsg, action string) (Permissions, tea.Cmd) {
	switch {
	case p.form.saving:
		return p, nil
	case action == "permissions.discard":
		p.form = form{n: p.form.n}
		return p, nil
	case action == "permissions.save":
		return p.save()
	}
	p.form.field, _ = p.form.field.Key(k)
	return p, nil
}

// save stores the rule in the form, if it is one.
func (p Permissions) save() (Permissions, tea.Cmd) {
	text := strings.TrimSpace(p.form.field.Text())
	if text == "" {
		return p.say("A rule needs at least the name of a tool.", true), nil
	}
	if p.c.CheckRule != nil {
		if err := p.c.CheckRule(text); err != nil {
			return p.say(p.c.Words(err), true), nil
		}
	}
	g := p.form.grant
	if toolOf(text) != toolOf(g.Rule) {
		g.Tool = "" // that was another tool
	}
	g.Rule = text
	if g.ID == "" {
		g.By = cmp.Or(p.c.User, "user") + " at " + cmp.Or(p.c.Self.Terminal, "terminal") + " (permissions)"
	}
	p.form.saving = true
	return p, p.store(p.form.n, g)
}

// toolOf is the name of the tool that a rule is about.
func toolOf(rule string) string {
	name, _, _ := strings.Cut(rule, "(")
	return strings.TrimSpace(name)
}

func (p Permissions) store(n int, g harness.Grant) tea.Cmd {
	ctx, grants := p.ctx, p.c.Grants
	return func() tea.Msg {
		out, err := grants.Save(ctx, g)
		if err != nil {
			return saved{n, g, fmt.Errorf("save grant %s: %w", g.Rule, err)}
		}
		return saved{n: n, grant: out}
	}
}

func (p Permissions) onSaved(msg saved) (Permissions, tea.Cmd) {
	mine := msg.n != 0 && msg.n == p.form.n && p.form.open
	if msg.err != nil {
		if mine {
			p.form.saving = false
		}
		if msg.n == 0 {
			p.gone = append(p.gone[:len(p.gone):len(p.gone)], msg.grant)
		}
		return p.say(p.c.Words(msg.err), true), nil
	}
	if mine {
		p.form = form{n: p.form.n}
	}
	p.sel = msg.grant.ID
	p = p.say("In force: "+msg.grant.Rule, false)
	return p.load()
}

// revoke ends the selected grant.
func (p Permissions) revoke() (Permissions, tea.Cmd) {
	g, _ := p.selected()
	ctx, grants := p.ctx, p.c.Grants
	return p, func() tea.Msg {
		err := grants.Revoke(ctx, g.ID)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			return revoked{g, fmt.Errorf("revoke grant %s: %w", g.ID, err)}
		}
		return revoked{grant: g}
	}
}

func (p Permissions) onRevoked(msg revoked) (Permissions, tea.Cmd) {
	if msg.err != nil {
		return p.say(p.c.Words(msg.err), true), nil
	}
	known := slices.ContainsFunc(p.gone, func(g harness.Grant) bool { return g.ID == msg.grant.ID })
	if !known {
		p.gone = append(p.gone[:len(p.gone):len(p.gone)], msg.grant)
	}
	p = p.say("Revoked. "+widget.KeyFor(p.c.Keys, "permissions.undo", "u")+" gives it again: "+msg.grant.Rule, false)
	return p.load()
}

// undo gives the grant again that was revoked last.
func (p Permissions) undo() (Permissions, tea.Cmd) {
	g := p.gone[len(p.gone)-1]
	p.gone = p.gone[:len(p.gone)-1]
	g.ID = "" // ids are never used twice
	return p, p.store(0, g)
}

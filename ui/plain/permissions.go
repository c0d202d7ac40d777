package plain

import (
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/ui/render"
)

// permissions writes the rules that are in force.
func (p *plain) permissions() { p.listPermissions() }

// listPermissions writes the rules that are in force, the standing permissions
// by their numbers, and returns these.
func (p *plain) listPermissions() []harness.Grant {
	for _, r := range p.Rules {
		p.out.line("  " + render.SafeLine(r))
	}
	if p.Grants == nil {
		if len(p.Rules) == 0 {
			p.say("there are no rules; what needs consent is asked")
		}
		return nil
	}
	grants, err := p.Grants.List(p.ctx, p.session.ID)
	if err != nil {
		p.trouble(err)
		return nil
	}
	for i, g := range grants {
		scope := "always"
		if g.Session != "" {
			scope = "for this session"
		}
		p.out.line(render.SafeLine(fmt.Sprintf("  %-3d %s  allow %s, %s, given by %s at %s", i+1, g.ID, g.Rule, scope, g.By, g.At.In(p.Chat.Now().Location()).Format("2006-01-02 15:04"))))
	}
	if len(grants)+len(p.Rules) == 0 {
		p.say("there are no rules and no standing permissions; what needs consent is asked")
	}
	return grants
}

// permissionsMenu lists the rules and asks which permission is to be taken back.
func (p *plain) permissionsMenu() {
	grants := p.listPermissions()
	if len(grants) == 0 {
		return
	}
	help := p.unlessEphemeral("a number and revoke takes a permission back; an empty line goes back",
		"a number and revoke takes a permission back; those of this session end with this chat; an empty line goes back")
	p.menu("permissions", len(grants), help, func(w wish) bool {
		i, ok := p.meantOf(w, len(grants))
		switch {
		case !ok:
			return false
		case w.word != "revoke":
			p.say(fmt.Sprintf("%d revoke takes back: allow %s", i+1, grants[i].Rule))
			return false
		}
		if err := p.Grants.Revoke(p.ctx, grants[i].ID); err != nil && !errors.Is(err, harness.ErrNotFound) {
			p.trouble(fmt.Errorf("revoke %s: %w", grants[i].ID, err))
			return false
		}
		p.say("taken back: allow " + grants[i].Rule + "; it is asked about again")
		grants = p.listPermissions()
		return len(grants) == 0
	})
}

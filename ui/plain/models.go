package plain

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const modelsHelp = "a number takes that model for this session; find WORDS looks for others, all lists also those whose key is missing, more goes on, an empty line goes back"

// model shows the session's model with those to choose from, or changes it.
func (p *plain) model(name string) {
	if name != "" {
		p.useModel(name)
		return
	}
	p.say("the model is " + p.setup.Run.Model + "; /model PROVIDER/NAME changes it for this session")
	if p.Models == nil {
		return
	}
	all, err := p.Models(p.ctx)
	if err != nil {
		p.trouble(fmt.Errorf("list the models: %w", err))
		return
	}
	var found []Model
	var l list
	describe := func(i int) string {
		return render.SafeLine(strings.TrimSuffix(found[i].Name+", "+found[i].About, ", "))
	}
	look := func(words string, usable bool) {
		found, l = nil, list{p: p}
		for _, m := range all {
			if (m.Usable || !usable) && widget.Has(widget.Fold(m.Name), widget.Words(words)) {
				found = append(found, m)
			}
		}
		p.say(harness.Count(len(found), "model") + map[bool]string{true: " with a key or none needed; all lists the others", false: ""}[usable])
		if len(found) > 0 {
			l.more(len(found), describe)
		}
	}
	look("", true)
	p.menu("models", len(all), modelsHelp, func(w wish) bool {
		switch {
		case w.n != 0:
			i, ok := p.meantOf(w, len(found))
			return ok && p.choseModel(found[i])
		case w.word == "more":
			l.more(len(found), describe)
		case w.word == "all":
			look("", false)
		case w.word == "find":
			look(w.rest, false)
		case strings.Contains(w.word, "/"):
			p.useModel(w.word)
			return true
		default:
			p.unknown(w)
		}
		return false
	})
}

// choseModel takes a model of the list, for which a key may be missing.
func (p *plain) choseModel(m Model) (done bool) {
	if !m.Usable {
		if p.AddKey == nil {
			provider, _, _ := strings.Cut(m.Name, "/")
			p.say("the key of " + m.Name + " is missing; leave and add it with: cairn models keys set " + provider)
			return false
		}
		if err := p.AddKey(p.ctx, m.Name); err != nil {
			p.trouble(err)
			return false
		}
	}
	p.useModel(m.Name)
	return true
}

// useModel changes the session's model.
func (p *plain) useModel(name string) {
	session := p.session
	session.Model = name
	setup, err := p.Chat.Config(p.ctx, session)
	if err == nil && p.stored {
		session, err = p.Chat.Sessions.Edit(p.ctx, session.ID, harness.SessionEdit{Model: &name})
	}
	if err != nil {
		p.trouble(err)
		return
	}
	p.setup, p.session = setup, session
	p.lease.Meta = session
	p.say("the model is now " + setup.Run.Model)
}

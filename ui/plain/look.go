package plain

import (
	"errors"
	"slices"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
)

// look writes what another window did to the session that is only read here:
// what was said, where the conversation ends if that is another branch now, and
// what it is called.
func (p *plain) look() {
	s, err := p.Chat.Sessions.Get(p.ctx, p.session.ID)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		if p.stored {
			p.say("this session was deleted elsewhere")
		}
		p.stored = false
		return
	case err != nil:
		p.trouble(err)
		return
	case p.stored && s.Title != p.session.Title:
		p.say("the session is called " + render.SafeLine(s.Title) + " now")
	}
	p.session, p.stored = s, true
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, shownAtOpen)
	if err != nil {
		p.trouble(err)
		return
	}
	was := p.shown
	if p.shown = lastOf(records); p.shown == was {
		return
	}
	i := slices.IndexFunc(records, func(r harness.Record) bool { return tree.Origin(r) == was })
	if i < 0 && was.Record > 0 {
		p.say("the other window went to another place in the conversation")
		p.ends()
		return
	}
	for _, r := range records[i+1:] {
		p.record(r)
	}
}

// lastOf is where the last of some records is, zero if there is none.
func lastOf(records []harness.Record) harness.Origin {
	if len(records) == 0 {
		return harness.Origin{}
	}
	return tree.Origin(records[len(records)-1])
}

// entitle has a model name the session when that is due. The chat goes on
// meanwhile.
func (p *plain) entitle() {
	p.completed++
	if p.Chat.Title == nil || !p.owner || !chat.TitleDue(p.completed) {
		return
	}
	ctx, d, id := p.ctx, p.Chat, p.session.ID
	p.titles.Go(func() { chat.Entitle(ctx, d, id) })
}

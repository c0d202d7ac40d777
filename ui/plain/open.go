package plain

import (
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
)

// open takes a session, writes the end of its conversation, and asks what
// becomes of an unfinished run.
func (p *plain) open(o chat.Open) error {
	d := p.Chat
	p.session, p.stored, p.owner, p.answer = o.Session, false, false, ""
	p.queue, p.kept, p.unsaved, p.waits = nil, harness.Draft{}, false, ""
	p.attached = nil
	s, err := d.Sessions.Get(p.ctx, o.Session.ID)
	switch {
	case err == nil:
		p.session, p.stored = s, s.Records > 0 || s.Parent != nil
	case !errors.Is(err, harness.ErrNotFound):
		return err
	}
	if p.setup, err = d.Config(p.ctx, p.session); err != nil {
		p.say(d.Words(err))
	}
	p.out.line(fmt.Sprintf("cairn, session %s, %s, model %s. /help lists the commands.", p.session.ID, title(p.session), p.setup.Label))
	for _, n := range append(o.Notices, p.setup.Notice) {
		if n != "" {
			p.say(n)
		}
	}
	if err := p.past(); err != nil {
		return err
	}
	p.waiting()
	p.acquire()
	return nil
}

func title(s harness.Session) string {
	if s.Title == "" {
		return "new chat"
	}
	return "\"" + render.SafeLine(s.Title) + "\""
}

// past writes the end of the conversation.
func (p *plain) past() error {
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, shownAtOpen)
	if err != nil {
		return err
	}
	p.shown = lastOf(records)
	if len(records) == 0 {
		return nil
	}
	before, err := tree.Previous(p.ctx, p.Chat.Transcript, p.session.ID, records[0])
	if err != nil {
		return err
	}
	if before.Record > 0 {
		p.say("earlier messages are left out")
	}
	forked, err := chat.ParentName(p.ctx, p.Chat.Sessions, p.session)
	if err != nil {
		return err
	}
	if p.marks, err = p.marksOf(records); err != nil {
		return err
	}
	for _, r := range records {
		p.record(r)
		if at := p.session.Parent; at != nil && tree.Origin(r) == *at {
			p.say(chat.ForkedWords(p.session, forked))
		}
	}
	return nil
}

// record writes one stored message, or what a record says besides.
func (p *plain) record(r harness.Record) {
	if r.Message == nil {
		p.standing(r)
		return
	}
	mark := p.marks[tree.Origin(r)]
	switch msg := r.Message; {
	case msg.Mark == harness.MarkNotice:
		p.say(msg.Text())
	case msg.Role == harness.RoleUser:
		p.out.block("You"+mark, msg.Text())
		p.sentWith(*msg)
	case msg.Role == harness.RoleAssistant:
		if text := msg.Text(); strings.TrimSpace(text) != "" {
			p.answer = text
			p.out.speak(speaker(msg.Mark)+mark, text)
		}
		for _, c := range msg.Calls() {
			p.say("tool " + callWords(c))
		}
	case msg.Role == harness.RoleTool:
		for _, part := range msg.Parts {
			if part.Result != nil {
				p.say("tool " + render.SafeLine(part.Result.Name) + ": " + resultWords(*part.Result))
			}
		}
	}
}

// speaker is the label of an answer.
func speaker(mark harness.Mark) string {
	if mark == harness.MarkNone {
		return "cairn"
	}
	return "cairn (" + string(mark) + ")"
}

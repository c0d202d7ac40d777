package plain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/render"
)

// inbox lists what was suggested to be remembered, numbered for /accept and
// /refuse.
func (p *plain) inbox() {
	if p.Chat.Inbox == nil {
		p.say("there is no inbox in this chat")
		return
	}
	all, err := p.Chat.Inbox.List(p.ctx, harness.InboxFilter{})
	if err != nil {
		p.trouble(err)
		return
	}
	p.listed = nil
	if len(all) == 0 {
		p.say("nothing is in the inbox")
		return
	}
	p.say(strconv.Itoa(len(all)) + " in the inbox:")
	for i, s := range all {
		p.listed = append(p.listed, s.ID)
		for j, l := range p.suggestion(s) {
			mark := "     "
			if j == 0 {
				mark = fmt.Sprintf("  %-3d", i+1)
			}
			p.out.line(mark + render.SafeLine(l))
		}
	}
	p.say("/accept NUMBER does what is suggested, /refuse NUMBER does not")
}

// suggestion is what a suggestion would do, what speaks for it and against it,
// and where it comes from.
func (p *plain) suggestion(s harness.Suggestion) []string {
	var lines []string
	switch s.Kind {
	case harness.SuggestAdd:
		lines = append(lines, "add: "+s.Text)
	case harness.SuggestRetire:
		lines = append(lines, "forget "+s.Fact+": "+p.factText(s.Fact))
	case harness.SuggestChange:
		lines = append(lines, "change "+s.Fact+": "+p.factText(s.Fact))
		if s.Text != "" {
			lines = append(lines, "to: "+s.Text)
		}
	}
	if s.Category != "" {
		lines = append(lines, "category: "+s.Category)
	}
	if len(s.Tags) > 0 {
		lines = append(lines, "tags: "+strings.Join(s.Tags, " "))
	}
	for _, id := range s.Against {
		lines = append(lines, "contradicts "+id+": "+p.factText(id))
	}
	if s.Why != "" {
		lines = append(lines, "because: "+s.Why)
	}
	return append(lines, sourceLine(s.Source))
}

// factText is what a fact says now.
func (p *plain) factText(id string) string {
	if p.Chat.Facts == nil {
		return "memory is off in this chat"
	}
	f, err := p.Chat.Facts.Get(p.ctx, id)
	if err != nil {
		return p.Chat.Words(err)
	}
	return f.Text
}

// sourceLine says where a suggestion comes from.
func sourceLine(s harness.Source) string {
	switch {
	case s.Gone:
		return "from: a session that is gone"
	case s.Client != "":
		return "from: another agent, over MCP: " + s.Client
	case s.Session == "":
		return "from: no session"
	}
	line := fmt.Sprintf("from: session %s, message %d", s.Session, s.Message)
	if s.Quote != "" {
		line += ": \"" + s.Quote + "\""
	}
	return line
}

// verdict accepts or refuses a suggestion, named by its number in the last
// list or its id. What follows the number of one that is accepted is what it is
// to say instead.
func (p *plain) verdict(word, name string) {
	name, text, _ := strings.Cut(name, " ")
	text = strings.TrimSpace(text)
	if p.Chat.Inbox == nil {
		p.say("there is no inbox in this chat")
		return
	}
	id := name
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(p.listed) {
			p.say("no suggestion has that number; /inbox lists them")
			return
		}
		id = p.listed[n-1]
	}
	if id == "" {
		p.say("write the number after it: " + word + " 1; /inbox lists them")
		return
	}
	if word == "/refuse" {
		if err := p.Chat.Inbox.Refuse(p.ctx, id); err != nil {
			p.trouble(err)
			return
		}
		p.say("refused " + id + ": it is not suggested again for 30 days")
		return
	}
	p.accept(id, text)
}

// accept does what is suggested, with another text if there is one.
func (p *plain) accept(id, text string) {
	var edit harness.FactEdit
	if text != "" {
		edit.Text = &text
	}
	s, err := p.Chat.Inbox.Get(p.ctx, id)
	if err != nil {
		p.trouble(err)
		return
	}
	f, err := p.Chat.Inbox.Accept(p.ctx, id, edit)
	switch {
	case errors.Is(err, harness.ErrStale):
		p.say("nothing was done: " + s.Fact + " has changed since this was suggested; /inbox shows both, /refuse drops it")
	case err != nil:
		p.trouble(err)
	case s.Kind == harness.SuggestRetire:
		p.say("forgot " + f.ID + ": " + f.Text)
		p.say("cairn facts restore " + f.ID + " brings it back")
	case s.Kind == harness.SuggestChange:
		p.say("changed " + f.ID + ": " + f.Text)
	default:
		p.say("remembered " + f.ID + ": " + f.Text)
	}
}

// memory says where what is remembered is listed, or turns memory off or on for
// the session.
func (p *plain) memory(arg string) {
	d, off := p.Chat, arg == "off"
	switch {
	case arg == "":
		p.remembers()
		return
	case !off && arg != "on":
		p.say(chat.MemoryUsage)
		return
	case d.Facts == nil && d.Notes == nil:
		p.say("memory is off in all chats of this start")
		return
	case off == p.session.NoMemory:
		p.say("memory is " + arg + " in this chat already")
		return
	}
	if p.stored {
		s, err := d.Sessions.Edit(p.ctx, p.session.ID, harness.SessionEdit{NoMemory: &off})
		if err != nil {
			p.trouble(err)
			return
		}
		p.session = s
	} else {
		p.session.NoMemory = off
		p.lease.Meta = p.session
	}
	p.say(chat.MemoryWords(off))
	if off {
		p.say("/memory on turns it on again")
	}
}

// remembers says how much is remembered, and how to see it.
func (p *plain) remembers() {
	d := p.Chat
	if d.Facts == nil && d.Notes == nil {
		p.say("memory is off in all chats of this start")
		return
	}
	if d.Facts != nil {
		if all, err := d.Facts.List(p.ctx, harness.MemoryFilter{State: harness.StateAny}); err != nil {
			p.trouble(err)
		} else {
			p.say(harness.Count(len(all), "fact") + "; /facts lists them")
		}
	}
	if d.Notes != nil {
		if all, err := d.Notes.List(p.ctx, harness.MemoryFilter{State: harness.StateAny}); err != nil {
			p.trouble(err)
		} else {
			p.say(harness.Count(len(all), "note") + "; /notes lists them")
		}
	}
	if d.Inbox != nil {
		if all, err := d.Inbox.List(p.ctx, harness.InboxFilter{}); err != nil {
			p.trouble(err)
		} else {
			p.say(fmt.Sprintf("%d in the inbox; /inbox lists them", len(all)))
		}
	}
	if p.session.NoMemory {
		p.say("memory is off in this chat; /memory on turns it on")
	} else {
		p.say("/memory off turns it off for this chat")
	}
}

// offWords say behind what was done by hand that memory is off otherwise.
func (p *plain) offWords() string {
	if p.session.NoMemory {
		return chat.OffWords
	}
	return ""
}

// waiting tells at the start how much is in the inbox.
func (p *plain) waiting() {
	if p.Chat.Inbox == nil || p.greeted {
		return
	}
	p.greeted = true
	all, err := p.Chat.Inbox.List(p.ctx, harness.InboxFilter{})
	switch {
	case err != nil:
		p.trouble(err)
	case len(all) > 0:
		p.say(chat.InboxWords(len(all)))
	}
}

// lastMessage is the number of the session's last message, 0 if it has none or
// it cannot be told.
func (p *plain) lastMessage() int {
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, shownAtOpen)
	if err != nil {
		p.trouble(err)
		return 0
	}
	for _, r := range slices.Backward(records) {
		if r.Message != nil {
			return r.Seq
		}
	}
	return 0
}

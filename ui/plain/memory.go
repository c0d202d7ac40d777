package plain

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
)

// forget forgets the fact or note that the words find, or lists those that they find.
func (p *plain) forget(words string) {
	switch {
	case p.Chat.Facts == nil && p.Chat.Notes == nil:
		p.say("memory is off in this chat")
		return
	case words == "":
		p.say("write words of the fact after it, or its id: /forget table tests")
		return
	}
	found, err := chat.FindRemembered(p.ctx, p.Chat.Facts, p.Chat.Notes, words)
	switch {
	case err != nil:
		p.trouble(err)
	case len(found) == 0:
		p.say(fmt.Sprintf("nothing remembered says %q", words))
	case len(found) == 1:
		f := found[0]
		if err := chat.Forget(p.ctx, p.Chat.Facts, p.Chat.Notes, f.ID); err != nil {
			p.trouble(err)
			return
		}
		p.say("forgot " + f.ID + ": " + f.Text)
		kind := "facts"
		if f.ID[0] == 'n' {
			kind = "notes"
		}
		p.say("cairn " + kind + " restore " + f.ID + " brings it back")
	default:
		p.say("several match and none is forgotten; name one by its id:")
		for _, f := range found {
			p.say("  /forget " + f.ID + "  " + f.Text)
		}
	}
}

// context tells what fills the window, and what the last request of the chat
// carried.
func (p *plain) context() {
	pictured := p.picture()
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, 0)
	if err != nil {
		p.trouble(err)
		return
	}
	var answer *harness.Message
	var at time.Time
	for _, r := range records {
		if chat.Counted(r) {
			answer, at = r.Message, r.At
		}
	}
	if answer == nil {
		if !pictured {
			p.say("no request was sent in this chat yet")
		}
		return
	}
	session, err := p.Chat.Sessions.Get(p.ctx, p.session.ID)
	if err != nil {
		p.trouble(err)
		return
	}
	carried, err := chat.CarriedLines(p.ctx, p.Chat.Facts, p.Chat.Notes, answer.Used, at)
	if err != nil {
		p.trouble(err)
	}
	last := *answer
	if pictured { // the parts were told
		last.Sent = nil
	}
	for _, l := range append(chat.ContextLines(last, p.setup, session), carried...) {
		p.say(strings.Join(strings.Fields(l), " "))
	}
}

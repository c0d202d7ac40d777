package plain

import (
	"errors"
	"path"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/chat/attach"
	"cairn/ui/render"
)

// attach has a file go with the next message.
func (p *plain) attach(named string) {
	switch {
	case !p.Chat.Files.On():
		p.say("no files are attached here")
		return
	case named == "":
		p.say("write the path after it: /attach notes/plan.pdf; or @ and the path in a message")
		return
	}
	mention, seen, err := p.Chat.Files.Mention(p.ctx, named)
	if err != nil {
		p.say(err.Error())
		return
	}
	if !slices.Contains(p.attached, mention) {
		p.attached, p.unsaved = append(p.attached, mention), true
		p.saveNow()
	}
	p.say("goes with the next message: " + attach.Words(seen.File, seen.Text) + "; /detach takes it back")
}

// detach has no file go with the next message, or not the one that is named.
func (p *plain) detach(named string) {
	was := len(p.attached)
	p.attached = slices.DeleteFunc(p.attached, func(mention string) bool {
		named := strings.Trim(named, `"'`)
		for _, m := range attach.Mentions(mention) {
			return named == "" || m.Path == named || path.Base(m.Path) == named
		}
		return false
	})
	switch {
	case was == 0:
		p.say("no file is attached")
	case len(p.attached) == was:
		p.say(render.SafeLine(named) + " is not attached; /detach alone takes back all")
	case len(p.attached) == 0:
		p.say("no file goes with the next message")
	default:
		p.say("goes with the next message: " + render.SafeLine(strings.Join(p.attached, " ")))
	}
	if len(p.attached) != was {
		p.unsaved = true
		p.saveNow()
	}
}

// carry is a message with the files that were attached to it.
func (p *plain) carry(text string) string {
	if len(p.attached) > 0 {
		text = joined(text, p.attached)
		p.attached, p.unsaved = nil, true
	}
	return text
}

// joined is a text with mentions behind it.
func joined(text string, mentions []string) string {
	if len(mentions) == 0 {
		return text
	}
	return strings.TrimSpace(text + " " + strings.Join(mentions, " "))
}

// written is a text as the message to send, with the files that it mentions; was
// is the message that it takes the place of. It is false if it is not to be sent.
func (p *plain) written(text string, was *harness.Message) (harness.Message, bool) {
	for {
		msg, notes, err := p.Chat.Files.Message(p.ctx, text, p.setup.Run.Model, was, nil)
		for _, n := range notes {
			p.say(n)
		}
		if err == nil {
			return msg, true
		}
		var refused *attach.RefusedError
		if !errors.As(err, &refused) {
			p.trouble(err)
			return harness.Message{}, false
		}
		before := p.kept
		if was == nil { // else it is kept already
			p.kept.Text, p.unsaved = joined(p.kept.Text, []string{text}), true
			p.saveNow()
		}
		p.say(refused.Error())
		p.say("the message is kept as your draft")
		switch p.choose("What is to become of it?", "try again", "send it without files") {
		case 1:
			p.kept, p.unsaved = before, true
		case 2:
			p.kept, p.unsaved = before, true
			return harness.UserText(text), true
		default:
			return harness.Message{}, false
		}
	}
}

// sentWith tells which files a message is sent with.
func (p *plain) sentWith(msg harness.Message) {
	for _, words := range attach.Listed(msg) {
		p.say("with it: " + words)
	}
}

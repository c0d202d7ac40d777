package plain

import (
	"encoding/json"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/chat/tree"
)

// pin pins a message by its number, or the last one, or frees it.
func (p *plain) pin(arg string, off bool) {
	if p.fixed() {
		return
	}
	r, ok := p.meant(arg, off)
	if !ok {
		return
	}
	o := tree.Origin(r)
	pinned, err := p.pinned()
	switch is := slices.Contains(pinned, o); {
	case err != nil:
		p.trouble(err)
		return
	case is != off:
		p.say(chat.MessageWords(o) + map[bool]string{false: " is pinned already", true: " is not pinned"}[off])
		return
	}
	rec, err := chat.PinRecord(o, off)
	if err == nil {
		rec.At = p.Chat.Now()
		_, err = p.Chat.Transcript.Append(p.ctx, p.lease, rec)
	}
	if err != nil {
		p.trouble(err)
		return
	}
	p.say(chat.PinWords(o, off))
}

// meant is the message of a number, of the last one that can be pinned if there
// is none.
func (p *plain) meant(arg string, off bool) (harness.Record, bool) {
	if arg == "" {
		records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, shownAtOpen)
		if err != nil {
			p.trouble(err)
			return harness.Record{}, false
		}
		for _, r := range slices.Backward(records) {
			if chat.Pinnable(r) {
				return r, true
			}
		}
		p.say("no message can be pinned here")
		return harness.Record{}, false
	}
	n, of, ok := chat.PinName(arg)
	if !ok {
		p.say("write the number of a message after it, or nothing for the last one; /tree lists them")
		return harness.Record{}, false
	}
	r, found, err := tree.Numbered(p.ctx, p.Chat.Transcript, p.session.ID, n, of)
	switch {
	case err != nil:
		p.trouble(err)
	case !found:
		p.say(fmt.Sprintf("message %d is not on this branch", n))
	case !chat.Pinnable(r) && !off:
		p.say(fmt.Sprintf("record %d holds no words that can be pinned", n))
	default:
		return r, true
	}
	return harness.Record{}, false
}

// pinned are the pinned messages as they are stored now.
func (p *plain) pinned() ([]harness.Origin, error) {
	s, err := p.Chat.Sessions.Get(p.ctx, p.session.ID)
	if err != nil {
		return nil, err
	}
	return chat.Pins(p.ctx, p.Chat.Transcript, s)
}

// pins lists the pinned messages.
func (p *plain) pins() {
	if !p.stored {
		p.say(chat.NoPins)
		return
	}
	lines, err := chat.PinLines(p.ctx, p.Chat, p.session.ID)
	switch {
	case err != nil:
		p.trouble(err)
	case len(lines) == 0:
		p.say(chat.NoPins)
	default:
		p.say("pinned, whatever is condensed:")
		for _, l := range lines {
			p.out.line("  " + l)
		}
	}
}

// marksOf are the words behind the speakers of messages that are pinned, or that
// are not in the context because they were condensed.
func (p *plain) marksOf(records []harness.Record) (map[harness.Origin]string, error) {
	marks := map[harness.Origin]string{}
	if c, at := lastCondensed(records); c != nil && c.Kept > 0 {
		kept := harness.Origin{Session: c.In, Record: c.Kept}
		if kept.Session == "" {
			kept.Session = records[at].In
		}
		if kept.Session == p.session.ID {
			kept.Session = ""
		}
		first := slices.IndexFunc(records, func(r harness.Record) bool { return tree.Origin(r) == kept })
		for _, r := range records[:max(first, 0)] {
			marks[tree.Origin(r)] = " (not in context)"
		}
	}
	pins, err := chat.Pins(p.ctx, p.Chat.Transcript, p.session)
	if err != nil {
		return nil, fmt.Errorf("read the pins of session %s: %w", p.session.ID, err)
	}
	for _, o := range pins {
		marks[o] = " (pinned)"
	}
	return marks, nil
}

// standing tells of a record that changes what is in the context.
func (p *plain) standing(r harness.Record) {
	switch r.Kind {
	case harness.RecordCondensed:
		words := "older messages were condensed"
		if c := condensedIn(r); c != nil {
			words = chat.CondensedWords(*c)
		}
		p.say(words)
	case harness.RecordReset:
		p.say("the conversation was set anew here; what is above is no longer sent")
	case harness.RecordPin:
		var pin harness.Pin
		if json.Unmarshal(r.Data, &pin) == nil {
			p.say(chat.PinWords(harness.Origin{Session: pin.In, Record: pin.Message}, pin.Off))
		}
	default:
	}
}

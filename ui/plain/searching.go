package plain

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// hitsMax bounds what a search finds.
const hitsMax = 100

// search looks for words in all sessions, and asks which of the messages to show.
func (p *plain) search(words string) {
	switch {
	case p.Search == nil:
		p.say("nothing is searched here")
		return
	case words == "":
		p.say("write words after it: /search table tests")
		return
	}
	hits, err := p.Search.Search(p.ctx, words, hitsMax)
	if err != nil {
		p.trouble(fmt.Errorf("search: %w", err))
		return
	}
	p.say(fmt.Sprintf("%s with %q", harness.Count(len(hits), "message"), words))
	if len(hits) == 0 {
		return
	}
	titles := map[harness.SessionID]string{}
	describe := func(i int) string {
		h := hits[i]
		if _, ok := titles[h.Session]; !ok {
			titles[h.Session] = string(h.Session)
			if s, err := p.Chat.Sessions.Get(p.ctx, h.Session); err == nil && s.Title != "" {
				titles[h.Session] = s.Title
			}
		}
		return render.SafeLine(fmt.Sprintf("%s, message %d: %s", titles[h.Session], h.Message, strings.Join(strings.Fields(h.Excerpt), " ")))
	}
	l := list{p: p}
	l.more(len(hits), describe)
	p.menu("found", len(hits), "a number shows the message whole, a number and open goes to its session, an empty line goes back", func(w wish) bool {
		if w.n == 0 {
			if w.word == "more" {
				l.more(len(hits), describe)
			} else {
				p.unknown(w)
			}
			return false
		}
		i, ok := p.meantOf(w, len(hits))
		if !ok {
			return false
		}
		switch w.word {
		case "", "show":
			p.whole(hits[i].Session, hits[i].Message)
		case "open":
			if hits[i].Session != p.session.ID {
				p.change(harness.Session{ID: hits[i].Session})
			}
			p.whole(hits[i].Session, hits[i].Message)
			return true
		default:
			p.unknown(w)
		}
		return false
	})
}

// whole writes a message of a session, whole.
func (p *plain) whole(id harness.SessionID, seq int) {
	r, err := p.Chat.Transcript.Record(p.ctx, id, seq)
	if err != nil {
		p.trouble(fmt.Errorf("read message %d of session %s: %w", seq, id, err))
		return
	}
	p.say(fmt.Sprintf("message %d:", seq))
	was, marks := p.answer, p.marks
	p.marks = nil
	p.record(r)
	p.answer, p.marks = was, marks
}

// find looks for words in this conversation, and asks which of the messages to
// show.
func (p *plain) find(words string) {
	if words == "" {
		p.say("write words after it: /find table tests")
		return
	}
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, 0)
	if err != nil {
		p.trouble(err)
		return
	}
	query := widget.Words(words)
	var found []harness.Record
	said := 0
	for _, r := range records {
		if r.Message == nil || r.Message.Role == harness.RoleTool {
			continue
		}
		said++
		if widget.Has(widget.Fold(r.Message.Text()), query) {
			found = append(found, r)
		}
	}
	p.say(fmt.Sprintf("%d of %s in this chat with %q", len(found), harness.Count(said, "message"), words))
	if len(found) == 0 {
		return
	}
	describe := func(i int) string {
		r := found[i]
		who := "You"
		if r.Message.Role == harness.RoleAssistant {
			who = "cairn"
		}
		return fmt.Sprintf("message %d, %s: %s", r.Seq, who, around(r.Message.Text(), query))
	}
	l := list{p: p}
	l.more(len(found), describe)
	p.menu("found", len(found), "a number shows the message whole, an empty line goes back", func(w wish) bool {
		if w.word == "more" && w.n == 0 {
			l.more(len(found), describe)
			return false
		}
		if i, ok := p.meantOf(w, len(found)); ok {
			o := tree.Origin(found[i])
			if o.Session == "" {
				o.Session = p.session.ID
			}
			p.whole(o.Session, o.Record)
		}
		return false
	})
}

// around is what stands around the first of some words in a text, on one line.
func around(text string, words []string) string {
	text = render.SafeLine(strings.Join(strings.Fields(text), " "))
	at := 0
	if spans := widget.Found(text, words); len(spans) > 0 {
		at = spans[0].From
	}
	return widget.Around(text, at, saidWidth, "...")
}

// again writes a message of this conversation once more: that with a number, or
// the last answer.
func (p *plain) again(arg string) {
	if arg == "" {
		if p.answer == "" {
			p.say("there is no answer yet")
			return
		}
		p.out.speak("cairn", p.answer)
		return
	}
	n, err := strconv.Atoi(arg)
	if err != nil {
		p.say("write the number of a message after it, or nothing for the last answer; /find and /tree tell numbers")
		return
	}
	r, found, err := tree.Numbered(p.ctx, p.Chat.Transcript, p.session.ID, n, "")
	switch {
	case err != nil:
		p.trouble(err)
	case !found:
		p.say(fmt.Sprintf("message %d is not on this branch", n))
	default:
		p.record(r)
	}
}

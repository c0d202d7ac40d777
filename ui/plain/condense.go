package plain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/chat"
)

// window carries out a command about what the model gets to see. It is false if
// c is none.
func (p *plain) window(c chat.Parsed) bool {
	switch c.Name {
	case "attach":
		p.attach(c.Arg)
	case "context":
		p.context()
	case "compact":
		p.compact(chat.Compaction{Focus: c.Arg})
	case "prune":
		p.compact(chat.Compaction{Prune: true})
	case "note":
		p.note()
	case "pin", "unpin":
		p.pin(c.Arg, c.Name == "unpin")
	case "pins":
		p.pins()
	case "result":
		p.toolResult(c.Arg)
	default:
		return false
	}
	return true
}

// compact condenses old messages, after a question where that takes many calls.
func (p *plain) compact(what chat.Compaction) {
	if p.Chat.Compact == nil {
		p.say(chat.NoCompact)
		return
	}
	if p.fixed() {
		return
	}
	switch run, err := p.unfinished(); {
	case err != nil:
		p.trouble(err)
		return
	case run != nil:
		p.say("an answer is unfinished, and /continue shows it")
		return
	}
	if p.Chat.Plan != nil && !what.Prune { // which calls no model
		plan, err := p.Chat.Plan(p.ctx, p.session.ID, what)
		switch {
		case err != nil:
			p.trouble(err)
			return
		case plan == chat.CompactPlan{}:
			p.say(chat.NothingToCompact)
			return
		case plan.Asks():
			p.say(plan.Words())
			if p.choose("Condense?", "condense", "leave it") != 1 {
				p.say("nothing is condensed")
				return
			}
		}
	}
	p.condense(what)
}

// condensed is what condensing came to.
type condensed struct {
	asked chat.Compaction
	what  chat.Compacted
	err   error
}

// condense condenses and tells how far it is. Lines that come meanwhile wait
// their turn, but /stop.
func (p *plain) condense(what chat.Compaction) {
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	told, done := make(chan string), make(chan condensed, 1)
	go func() {
		out := condensed{asked: what}
		out.what, out.err = p.Chat.Compact(ctx, p.lease, what, func(done, of int) {
			if of > 1 && done < of {
				select {
				case told <- fmt.Sprintf("condensing, part %d of %d", done+1, of):
				case <-ctx.Done():
				}
			}
		})
		done <- out
	}()
	stopped, lines := false, (<-chan typed)(p.lines)
	if p.early != nil {
		lines = nil
	}
	for {
		if lines != nil {
			lines = p.input()
		}
		select {
		case words := <-told:
			p.say(words)
		case out := <-done:
			p.condensed(out, stopped)
			return
		case l, ok := <-lines:
			p.reading = false
			line := l.text
			switch {
			case !ok:
				lines = nil
			case l.ahead:
				p.early, lines = &l, nil
			case strings.TrimSpace(line) == "/stop":
				stopped = true
				stop()
			case strings.TrimSpace(line) != "":
				p.later(line)
			}
		case <-p.Interrupts:
			stopped = true
			stop()
		case <-p.changes:
			p.heed(func() error {
				stopped = true
				stop()
				done <- <-done
				return nil
			})
		}
	}
}

// condensed says what condensing came to.
func (p *plain) condensed(out condensed, stopped bool) {
	switch {
	case stopped && (out.err != nil || out.what == chat.Compacted{}):
		p.say("stopped condensing; nothing is lost, and parts that are done stay condensed")
	case out.err != nil:
		p.trouble(fmt.Errorf("condense: %w", out.err))
	case out.what == chat.Compacted{}:
		p.say(out.asked.Nothing())
	default:
		p.say(out.what.Words() + "; all of it stays readable and is found by search")
	}
}

// picture tells what fills the window of the next request, and reports whether
// it did.
func (p *plain) picture() bool {
	if p.Chat.Picture == nil || !p.stored {
		return false
	}
	picture, err := p.Chat.Picture(p.ctx, p.session.ID)
	if err != nil {
		p.trouble(err)
		return false
	}
	p.say("the next request, by kind, estimated:")
	// Nothing is painted here.
	unpainted := themes.Theme{Ornaments: themes.Ornaments{Dot: "-", Ellipsis: "..."}}
	for _, l := range picture.Lines(&unpainted, p.Chat.Now()) {
		p.out.line("  " + l)
	}
	return true
}

// note writes what stands for the messages that were condensed.
func (p *plain) note() {
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, 0)
	if err != nil {
		p.trouble(err)
		return
	}
	c, _ := lastCondensed(records)
	if c == nil || c.Note == "" {
		p.say("nothing in this chat stands as a note")
		return
	}
	p.out.speak("note", c.Note)
}

// lastCondensed is the last condensing of some records, nil if there is none,
// and its place among them.
func lastCondensed(records []harness.Record) (*harness.Condensed, int) {
	for i := len(records) - 1; i >= 0; i-- {
		if records[i].Kind == harness.RecordReset {
			break
		}
		if c := condensedIn(records[i]); c != nil {
			return c, i
		}
	}
	return nil, -1
}

// condensedIn is what a record says of a condensing, nil if it is none or says
// nothing that can be read.
func condensedIn(r harness.Record) *harness.Condensed {
	var c harness.Condensed
	if r.Kind != harness.RecordCondensed || json.Unmarshal(r.Data, &c) != nil {
		return nil
	}
	return &c
}

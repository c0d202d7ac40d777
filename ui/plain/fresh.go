package plain

import (
	"fmt"
	"strings"
	"time"
)

const (
	// quietFor is how long nothing may be typed before a line can decide
	// something: what is typed as a question appears is not about it.
	quietFor = 600 * time.Millisecond
	// pasteFor is how close together the lines of a paste come.
	pasteFor = 100 * time.Millisecond
)

// fresh waits for a line that was typed after the question that was just
// written. What was there already, what comes before it is quiet, and what comes
// in one go with further lines is no answer: it is kept as messages. ok is false
// if no answer will come.
func (p *plain) fresh() (line string, ok bool) {
	for p.settle() {
		p.sign()
		if line, ok = p.next(); !ok {
			return "", false
		}
		if more := p.rest(); len(more) > 0 {
			p.keep(append([]string{line}, more...)...)
			continue
		}
		p.repeat(line)
		if !p.aside(line) {
			return line, true
		}
	}
	return "", false
}

// aside carries out a command that may come in the middle of a question. It is
// false if the line is none.
func (p *plain) aside(line string) bool {
	c := p.Chat.Parse(line)
	switch {
	case p.shows(line):
	case c.Name == "" && !isOwn(c.Typed), c.Typed == "stop":
		return false
	case c.Name == "quit":
		p.quit = true
	default:
		p.say("/" + c.Typed + " comes after the decision")
	}
	return true
}

// shows carries out a command that only shows something, at any time. It is false
// if the line is none.
func (p *plain) shows(line string) bool {
	switch c := p.Chat.Parse(line); c.Name {
	case "help":
		p.help()
	case "runs":
		p.runs()
	case "usage":
		p.usage()
	case "permissions":
		p.permissions()
	case "tools":
		p.tools()
	case "todos":
		p.todos()
	default:
		if strings.TrimRight(line, " ") != "/queue" {
			return false
		}
		p.listQueue()
	}
	return true
}

// settle waits until nothing was typed for a while, and keeps what was. It is
// false if no answer will come.
func (p *plain) settle() bool {
	quiet := time.NewTimer(quietFor)
	defer quiet.Stop()
	if p.early != nil {
		p.keep(p.early.text)
		p.early = nil
	}
	for p.owner && !p.quit {
		select {
		case l, ok := <-p.input():
			p.reading = false
			if !ok {
				return false
			}
			p.keep(l.text)
			quiet.Reset(quietFor)
		case <-p.Interrupts:
			p.warned = true
			return false
		case <-p.changes:
			p.heed(func() error { return nil })
		case <-p.gone:
			return false
		case <-quiet.C:
			return true
		case <-p.ctx.Done():
			return false
		}
	}
	return false
}

// next waits for a line as long as the session is ours.
func (p *plain) next() (line string, ok bool) {
	for p.owner {
		select {
		case l, ok := <-p.input():
			p.reading, p.warned = false, false
			return l.text, ok
		case <-p.gone:
			return "", false
		case <-p.Interrupts:
			p.warned = true
			return "", false
		case <-p.changes:
			p.heed(func() error { return nil })
		case <-p.ctx.Done():
			return "", false
		}
	}
	return "", false
}

// rest are the lines that come at once behind another one.
func (p *plain) rest() []string {
	var more []string
	end := time.NewTimer(pasteFor)
	defer end.Stop()
	for {
		select {
		case l, ok := <-p.input():
			p.reading = false
			if !ok {
				return more
			}
			more = append(more, l.text)
			end.Reset(pasteFor)
		case <-end.C:
			return more
		case <-p.ctx.Done():
			return more
		}
	}
}

// keep makes messages of lines that are no answers. They are sent when the
// decision is taken. Commands among them are carried out, as at any time.
func (p *plain) keep(lines ...string) {
	for _, line := range lines {
		c := p.Chat.Parse(line)
		switch {
		case line == "" || p.aside(line):
			continue
		case c.Typed != "":
			p.say("/" + c.Typed + " came before the question and is not carried out")
			continue
		}
		p.queue, p.unsaved = append(p.queue, c.Text), true
		p.say(fmt.Sprintf("kept as a message, not as an answer (%d): %s", len(p.queue), c.Text))
	}
	p.saveNow()
}

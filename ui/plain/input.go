package plain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"cairn/ui/render"
)

// typed is a line that was read.
type typed struct {
	text string
	// ahead says that it was there already as the one before it was read, as the
	// lines of a script are: it waits until that one is done.
	ahead bool
}

// read reads lines until the input ends. A line that ends in a backslash goes
// on in the next one.
func (p *plain) read() {
	defer close(p.lines)
	in := bufio.NewReaderSize(p.In, 64<<10)
	text, more := "", false
	for {
		if !more {
			select {
			case <-p.wanted:
			case <-p.ctx.Done():
				return
			}
		}
		ahead := in.Buffered() > 0
		line, err := in.ReadString('\n')
		whole := strings.HasSuffix(line, "\n")
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if more {
			line = text + "\n" + line
		}
		if len(line) > lineMax {
			p.readErr = errLongLine
			return
		}
		if text, more = strings.CutSuffix(line, `\`); more && whole {
			continue
		}
		if whole || line != "" {
			select {
			case p.lines <- typed{line, ahead}:
			case <-p.ctx.Done():
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.readErr = fmt.Errorf("read input: %w", err)
			}
			return
		}
	}
}

// sign asks a person at a terminal for a line.
func (p *plain) sign() {
	if p.Prompted {
		p.out.raw(p.asking + "> ")
	}
}

// repeat writes the line that was read where no terminal did, so that what comes
// out can be read on its own.
func (p *plain) repeat(line string) {
	if !p.Prompted {
		p.out.line(p.asking + "> " + render.Safe(line))
	}
}

// input is where the next line comes from. Nothing is read before it is wanted:
// what a person types may be meant for an editor that has the terminal.
func (p *plain) input() <-chan typed {
	if !p.reading {
		p.reading = true
		select {
		case p.wanted <- struct{}{}:
		default: // the input has ended
		}
	}
	return p.lines
}

// ask waits for the next line. At ctrl+c it says how to leave, and at the second
// one it leaves.
func (p *plain) ask() (string, bool) {
	p.sign()
	if l, ok := p.taken(); ok {
		return l.text, true
	}
	for !p.quit {
		select {
		case l, ok := <-p.input():
			p.reading = false
			if ok {
				p.warned = false
				p.repeat(l.text)
			}
			return l.text, ok
		case text, ok := <-p.Told:
			if !ok {
				p.Told = nil
				continue
			}
			p.say(text)
			p.sign()
		case <-p.changes:
			p.heed(func() error { return nil })
		case q := <-p.questions():
			p.asked(q)
			p.sign()
		case <-p.Interrupts:
			if p.asking != "" { // back from where it is
				p.warned = true
				return "", true
			}
			if p.interrupted() {
				return "", false
			}
			p.sign()
		case <-p.ctx.Done():
			return "", false
		}
	}
	return "", false
}

// taken is the line of a script that was read and could not be done yet.
func (p *plain) taken() (l typed, ok bool) {
	if p.early == nil {
		return l, false
	}
	l, p.early, p.warned = *p.early, nil, false
	p.repeat(l.text)
	return l, true
}

// interrupted takes a ctrl+c while nothing is under way, and reports whether it
// is to leave.
func (p *plain) interrupted() bool {
	if p.warned {
		p.quit, p.broken = true, true
		return true
	}
	p.warned = true
	p.say(p.unlessEphemeral("ctrl+c again leaves; everything is kept", "ctrl+c again leaves; nothing of this chat is kept"))
	return false
}

// answerTo asks for the answer to a question that came by itself: what a person
// typed before it is no answer. What a script says next is.
func (p *plain) answerTo() (string, bool) {
	if p.Prompted && !p.settle() {
		return "", false
	}
	return p.ask()
}

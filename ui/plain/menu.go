package plain

import (
	"fmt"
	"strconv"
	"strings"
)

// listMax is how many lines of a list are written at once.
const listMax = 20

// wish is what was typed at a list: something to do with one of its lines, or
// words of another kind.
type wish struct {
	n          int // of the line, from 1; 0 is none
	word, rest string
	line       string // as it was typed
}

// menu asks what to do with a list until an empty line or until do says that it
// is done. Help says what can be typed. A command ends it and is carried out.
func (p *plain) menu(name string, lines int, help string, do func(w wish) (done bool)) {
	if lines > 0 {
		p.say(help)
	}
	for !p.quit && p.ctx.Err() == nil && p.out.err == nil {
		was := p.asking
		p.asking = name
		line, ok := p.ask()
		p.asking = was
		if !ok {
			return
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			p.say("back in the chat")
			return
		case line == "?":
			p.say(help)
			continue
		case line[0] == '/':
			p.line(line)
			return
		}
		if do(wished(line)) {
			return
		}
	}
}

// wished reads what was typed at a list.
func wished(line string) wish {
	w := wish{line: line}
	first, rest, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(first)
	if err == nil {
		w.n, line = n, strings.TrimSpace(rest)
		if n == 0 {
			w.n = -1 // no line has it
		}
	}
	w.word, w.rest, _ = strings.Cut(line, " ")
	w.rest = strings.TrimSpace(w.rest)
	return w
}

// meantOf says which of the lines of a list is meant. What is wrong is said.
func (p *plain) meantOf(w wish, lines int) (i int, ok bool) {
	switch {
	case w.n == 0:
		p.unknown(w)
	case lines == 0:
		p.say("the list is empty")
	case w.n < 1 || w.n > lines:
		p.say(fmt.Sprintf("there is no line with that number: type one from 1 to %d", lines))
	default:
		return w.n - 1, true
	}
	return 0, false
}

// unknown explains what was typed at a list and means nothing there.
func (p *plain) unknown(w wish) {
	p.stray = w.line
	p.say(fmt.Sprintf("%q is nothing that can be done here; ? says what can, and /send sends what you typed as a message", w.word))
}

// list is a list of which some lines are written at a time.
type list struct {
	p    *plain
	told int // how many lines were written
}

// more writes the next lines of a list of n, by their numbers.
func (l *list) more(n int, line func(i int) string) {
	if l.told >= n {
		l.p.say("that is all")
		return
	}
	for end := min(l.told+listMax, n); l.told < end; l.told++ {
		l.p.out.line(fmt.Sprintf("  %-3d %s", l.told+1, line(l.told)))
	}
	if l.told < n {
		l.p.say(fmt.Sprintf("%d of %d; more goes on", l.told, n))
	}
}

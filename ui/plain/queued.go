package plain

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/ui/render"
)

// queueHelp says what /queue takes.
const queueHelp = "/queue drop N takes one out, /queue edit N TEXT changes it, /queue first N sends it next, /queue clear takes all out"

// queued shows or changes what waits to be sent.
func (p *plain) queued(arg string) {
	word, rest, _ := strings.Cut(arg, " ")
	if word == "" {
		p.listQueue()
		return
	}
	if word == "clear" {
		for _, text := range p.queue {
			p.out.line(render.Safe(text)) // it is not lost
		}
		p.say(fmt.Sprintf("taken out of the queue: %d", len(p.queue)))
		p.queue, p.unsaved = nil, true
		p.saveNow()
		return
	}
	number, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(p.queue) {
		p.say(fmt.Sprintf("messages that wait: %d; %s", len(p.queue), queueHelp))
		return
	}
	queue := append([]string(nil), p.queue...)
	said := queue[n-1]
	switch text = strings.TrimSpace(text); {
	case word == "drop":
		queue = append(queue[:n-1], queue[n:]...)
		p.say("taken out of the queue: " + said)
	case word == "first":
		queue = append([]string{said}, append(queue[:n-1], queue[n:]...)...)
		p.say("sent next: " + said)
	case word == "edit" && text != "":
		queue[n-1] = text
		p.say(fmt.Sprintf("message %d of the queue says now: %s", n, text))
	default:
		p.say(queueHelp)
		return
	}
	p.queue, p.unsaved = queue, true
	p.saveNow()
}

// listQueue lists what waits to be sent, and what waits behind it.
func (p *plain) listQueue() {
	if len(p.queue)+len(p.held) == 0 {
		p.say("nothing waits to be sent")
		return
	}
	for i, text := range p.queue {
		p.out.line(fmt.Sprintf("  %-3d %s", i+1, render.SafeLine(text)))
	}
	for _, text := range p.held {
		p.out.line("      then: " + render.SafeLine(text))
	}
	p.say(queueHelp)
}

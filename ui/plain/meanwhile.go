package plain

import (
	"context"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
)

// meanwhile takes a line that comes while an answer is under way. What cannot
// be done now is done in its turn.
func (p *plain) meanwhile(ctx context.Context, id harness.RunID, line string) {
	line = strings.TrimRight(line, " \t")
	switch line {
	case "":
		return
	case "/stop":
		if err := p.Chat.Engine.Cancel(ctx, id); err != nil {
			p.trouble(err)
		}
		return
	case "/here":
		p.driveHere(ctx, id)
		return
	}
	switch c := p.Chat.Parse(line); {
	case c.Name == "quit":
		p.quit = true
		if err := chat.LeaveRun(ctx, p.Chat, id); err != nil {
			p.trouble(err)
		}
	case p.shows(line):
	case c.Name == "steer":
		p.steer(ctx, id, strings.TrimSpace(c.Arg))
	case strings.HasPrefix(line, "/queue "):
		p.queued(strings.TrimSpace(strings.TrimPrefix(line, "/queue")))
	default:
		p.later(line)
	}
}

// later puts a line behind those that wait: a message into the queue, which is
// stored, a command behind it, where further lines follow it.
func (p *plain) later(line string) {
	if c := p.Chat.Parse(line); len(p.held) == 0 && c.Typed == "" {
		p.queue, p.unsaved = append(p.queue, p.carry(c.Text)), true
		p.saveNow()
		p.say(fmt.Sprintf("queued (%d); /stop stops the answer", len(p.queue)))
		return
	}
	p.held, p.unsaved = append(p.held, line), true
	p.saveNow()
	p.say("comes after the answer: " + strings.TrimSpace(line))
}

// heldMessages are the messages among the lines that wait behind a command.
func (p *plain) heldMessages() (texts []string) {
	for _, line := range p.held {
		if c := p.Chat.Parse(line); c.Typed == "" {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

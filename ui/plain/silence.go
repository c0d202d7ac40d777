package plain

import (
	"context"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
)

// stillAfter is how long nothing is said before it is said that something is
// under way, unless that is set.
const stillAfter = 30 * time.Second

// still is how long that is in this chat, 0 for ever.
func (p *plain) still() time.Duration {
	if p.Still == 0 {
		return stillAfter
	}
	return max(p.Still, 0)
}

// silence tells now and then that an answer is under way of which nothing is
// heard.
type silence struct {
	p      *plain
	ticks  <-chan time.Time // nil if it never tells
	ticker *time.Ticker
	wrote  int // what was written when it was looked last
	spent  time.Duration
}

// silence begins to listen. It is to be stopped.
func (p *plain) silence() *silence {
	s := &silence{p: p, wrote: p.out.n}
	if every := p.still(); every > 0 {
		s.ticker = time.NewTicker(every)
		s.ticks = s.ticker.C
	}
	return s
}

func (s *silence) stop() {
	if s.ticker != nil {
		s.ticker.Stop()
	}
}

// tick says that it goes on if nothing was written since the last tick.
func (s *silence) tick() {
	if s.wrote != s.p.out.n {
		s.wrote, s.spent = s.p.out.n, 0
		return
	}
	s.spent += s.p.still()
	s.p.say(fmt.Sprintf("still working (%d s)", int(s.spent/time.Second)))
	s.wrote = s.p.out.n
}

// stopIt stops an answer at ctrl+c; the second one leaves it and the chat.
func (p *plain) stopIt(ctx context.Context, id harness.RunID) {
	if p.warned {
		p.quit, p.broken = true, true
		if err := chat.LeaveRun(ctx, p.Chat, id); err != nil {
			p.trouble(err)
		}
		return
	}
	p.warned = true
	p.say("stopping the answer; ctrl+c again leaves")
	if err := p.Chat.Engine.Cancel(ctx, id); err != nil {
		p.trouble(err)
	}
}

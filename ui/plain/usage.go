package plain

import (
	"fmt"
	"time"

	"cairn/harness"
	"cairn/ui/account"
	"cairn/ui/render"
)

// usage tells what models used: on each day on which one was called, by model,
// and in this session.
func (p *plain) usage() {
	now := p.Chat.Now()
	a, err := account.Read(p.ctx, p.Ledger, p.Chat.Sessions, p.session.ID, now)
	if err != nil {
		p.trouble(err)
		return
	}
	today := now.Local().Format(time.DateOnly)
	for _, d := range a.Days {
		if d.Usage != (harness.Usage{}) {
			p.out.line("  " + account.Day(d.Name, today) + ": " + account.Words(d.Usage))
		}
	}
	for _, m := range a.Models {
		p.out.line("  " + render.SafeLine(m.Name) + ": " + account.Words(m.Usage))
	}
	p.say("this session: " + account.Words(a.Session))
	if p.Ledger == nil {
		p.say("no account of days and models is kept here")
		return
	}
	p.say(fmt.Sprintf("the last %d days: %s; by session: cairn usage --by session", account.Days, account.Words(a.Total)))
}

package plain

import (
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
)

// line takes a line: a message or a command.
func (p *plain) line(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if p.own(text) {
		return
	}
	c := p.Chat.Parse(text)
	switch {
	case c.Call != nil:
		p.call(c)
	case c.Name != "":
		p.command(c)
	case c.Typed != "":
		p.say(c.Unknown() + ".")
	default:
		p.message(p.carry(c.Text))
	}
}

// resume shows what waits for the person in this session.
func (p *plain) resume() {
	if !p.owner {
		p.say("read-only: /takeover takes the session over")
		return
	}
	wrote := p.out.n
	p.fetch()
	if p.offer(); p.out.n == wrote {
		p.say("nothing waits in this session")
	}
}

// stop ends the run that waits for a decision, if there is one.
func (p *plain) stop() {
	if p.waits == "" || !p.owner {
		p.say("nothing is under way")
		return
	}
	run, err := p.Chat.Engine.Get(p.ctx, p.waits)
	if err != nil || len(run.Pending) == 0 {
		p.trouble(err)
		return
	}
	w := run.Pending[0]
	h, err := p.Chat.Engine.Decide(p.ctx, p.lease, run.ID, harness.Decision{
		Call: w.Call.ID, Digest: w.Digest, How: harness.DecideAbort, By: p.by(),
	})
	if err != nil {
		p.trouble(err)
		return
	}
	p.waits = ""
	p.see(h, run.Cursor, false)
}

// command carries out a slash command.
func (p *plain) command(c chat.Parsed) {
	if p.branch(c) || p.window(c) {
		return
	}
	switch c.Name {
	case "quit":
		p.quit = true
	case "help":
		p.help()
	case "new":
		p.change(p.NewSession())
	case "sessions":
		p.sessions(c.Arg)
	case "memory":
		p.memory(c.Arg)
	case "inbox":
		p.inbox()
	case "facts", "notes":
		p.listKept(c.Name == "notes", c.Arg)
	case "forget":
		p.forget(c.Arg)
	case "usage":
		p.usage()
	case "rename":
		p.rename(c.Arg)
	case "remember":
		p.remember(c.Arg)
	case "copy":
		p.copy(c.Arg)
	case "model":
		p.model(c.Arg)
	case "runs":
		p.runsMenu(c.Arg)
	case "approve":
		p.resume()
	case "permissions":
		p.permissionsMenu()
	case "tools":
		p.tools()
	case "mcp":
		p.servers()
	case "todos":
		p.todos()
	case "takeover":
		p.takeOver()
	case "doctor":
		p.doctor()
	default:
		p.say(p.noScreen(c.Name))
	}
}

// change opens another session. The lines that come after the command that did
// it are for that one.
func (p *plain) change(s harness.Session) {
	held := p.held
	p.held = nil
	p.close()
	if err := p.open(chat.Open{Session: s, New: true}); err != nil {
		p.trouble(err)
	}
	p.held, p.unsaved = held, p.unsaved || len(held) > 0
}

// rename gives the session a title.
func (p *plain) rename(title string) {
	if title == "" {
		p.say("write the title after it: /rename Q3 invoices")
		return
	}
	if !p.stored {
		p.session.Title, p.session.TitleBy = title, harness.TitleByUser
		p.lease.Meta = p.session
		p.say("renamed to " + title)
		return
	}
	s, err := p.Chat.Sessions.Edit(p.ctx, p.session.ID, harness.SessionEdit{Title: &title, TitleBy: harness.TitleByUser})
	if err != nil {
		p.trouble(err)
		return
	}
	p.session = s
	p.say("renamed to " + s.Title)
}

// remember saves a fact that the person wrote.
func (p *plain) remember(text string) {
	switch {
	case p.Chat.Facts == nil:
		p.say("memory is off in this chat")
		return
	case text == "":
		p.say("write the fact after it: /remember I prefer table tests")
		return
	}
	f := harness.Fact{Text: text, By: harness.ByYou, State: harness.StateActive, Session: harness.NoSession}
	if p.stored {
		f.Session = p.session.ID
		f.Source = harness.Source{Session: p.session.ID, Message: p.lastMessage()}
	}
	f, created, err := p.Chat.Facts.Save(p.ctx, f, harness.NewID())
	switch {
	case err != nil:
		p.trouble(err)
	case created:
		p.say("remembered " + f.ID + p.offWords())
	default:
		p.say("known already as " + f.ID + p.offWords())
	}
}

const (
	// askEvery is how often a session that was asked for is tried again, and
	// askFor how long before it is offered by force.
	askEvery = 100 * time.Millisecond
	askFor   = 5 * time.Second
)

// takeOver asks the session's owner for it, and offers force when it does not
// answer.
func (p *plain) takeOver() {
	if p.owner {
		p.say("this one owns the session already")
		return
	}
	d := p.Chat
	if err := d.Owners.Ask(p.ctx, p.session.ID, d.Holder); err != nil {
		p.trouble(err)
		return
	}
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for range int(askFor / askEvery) {
		select {
		case <-tick.C:
		case <-p.ctx.Done():
			return
		}
		lease, err := d.Owners.Acquire(p.ctx, p.session, d.Holder)
		if _, held := harness.AsHeld(err); held {
			continue
		}
		p.takes(lease, err)
		return
	}
	if p.choose("The other window does not answer.", "take the session by force") == 1 {
		p.takes(d.Owners.Force(p.ctx, p.session, d.Holder))
	}
}

// takes goes on with a session that was another window's.
func (p *plain) takes(lease harness.Lease, err error) {
	if err != nil {
		p.trouble(err)
		return
	}
	p.say("this one owns the session now")
	p.hold(lease)
}

package plain

import (
	"fmt"
	"strconv"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/chat/tree"
)

// fork goes on in a session of its own, after what was answered to a message.
func (p *plain) fork(arg string) {
	n, ok := chat.Which(arg)
	switch {
	case !ok:
		p.say(chat.WhichWords("fork"))
		return
	case !p.stored:
		p.say(chat.OffUnsaid)
		return
	}
	var of harness.Origin
	if n > 1 {
		turn, ok := p.nth(n)
		if !ok {
			return
		}
		of = tree.Origin(turn.End)
	} else if p.unended() {
		return
	}
	s, err := p.Chat.Sessions.Fork(p.ctx, p.session.ID, of, harness.Session{})
	if err != nil {
		p.trouble(err)
		return
	}
	p.goInto(s)
}

// unended says why the session is not forked at its end, and reports whether
// that is so.
func (p *plain) unended() bool {
	run, err := p.unfinished()
	switch {
	case err != nil:
		p.trouble(err)
	case run != nil:
		p.say(chat.OffUnended)
	}
	return err != nil || run != nil
}

// goInto opens another session and tells the way back.
func (p *plain) goInto(s harness.Session) {
	from := p.session
	p.change(s)
	p.say("session " + string(from.ID) + " stays as it is; open it again with: cairn -s " + string(from.ID))
}

// tree lists the branches, or goes to the one with a number.
func (p *plain) tree(arg string) {
	if !p.stored {
		p.say(chat.OffUnsaid)
		return
	}
	tips, err := p.tips()
	if err != nil {
		p.trouble(err)
		return
	}
	if arg != "" {
		if n, err := strconv.Atoi(arg); err != nil || n < 1 || n > len(tips) {
			p.say(fmt.Sprintf("/tree takes a number from 1 to %d", len(tips)))
		} else {
			p.goTo(tips[n-1].Last)
		}
		return
	}
	p.say("branches of this session:")
	for i, t := range tips {
		p.out.line(fmt.Sprintf("  %d  %s", i+1, tipWords(t)))
	}
	p.ends()
	p.say("/tree NUMBER goes to the end of a branch")
}

// tips are the branches of the session.
func (p *plain) tips() ([]tree.Tip, error) {
	d := p.Chat
	s, err := d.Sessions.Get(p.ctx, p.session.ID)
	if err != nil {
		return nil, err
	}
	t, err := tree.Build(p.ctx, d.Transcript, s)
	if err != nil {
		return nil, err
	}
	all, err := d.Sessions.List(p.ctx, harness.SessionFilter{})
	if err != nil {
		return nil, err
	}
	return tree.Tips(t.Rows(all...)), nil
}

// tipWords describe a branch.
func tipWords(t tree.Tip) string {
	first, last := t.First, t.Last
	switch {
	case last.Fork != "":
		return fmt.Sprintf("a fork, session %s: %s", last.Fork, firstWords(last))
	case last.Said.Record == 0:
		return "nothing yet"
	case first.Said == last.Said:
		return fmt.Sprintf("message %d: %s", last.Said.Record, firstWords(last))
	}
	return fmt.Sprintf("from message %d, %s, to message %d, %s", first.Said.Record, firstWords(first), last.Said.Record, firstWords(last))
}

func firstWords(r tree.Row) string {
	if r.Said.Record == 0 && r.Fork == "" {
		return "the beginning"
	}
	return `"` + first(r.Text) + `"`
}

// goTo shows the branch that ends at or below a row.
func (p *plain) goTo(r tree.Row) {
	if r.Fork != "" {
		p.goInto(harness.Session{ID: r.Fork})
		return
	}
	if p.fixed() || !p.drop() {
		return
	}
	if err := p.Chat.Transcript.MoveHead(p.ctx, p.lease, r.Leaf); err != nil {
		p.trouble(err)
		return
	}
	p.ends()
}

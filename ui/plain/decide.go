package plain

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
)

// see follows a run, puts to the person what it waits for, and follows it on,
// until it rests for another reason or is left for later.
func (p *plain) see(h harness.RunHandle, after int, continued bool) {
	for h != nil && p.follow(h, after, continued) == harness.RunAwaiting {
		h, after = p.decide(h.ID())
		continued = false
	}
}

// decide asks about the first thing that a run waits for. It returns the run as
// it goes on, or waits for the next, and the journal entry from which to follow
// it; nil if it is left for later.
func (p *plain) decide(id harness.RunID) (harness.RunHandle, int) {
	p.waits = id
	for p.owner && !p.quit && p.ctx.Err() == nil && p.out.err == nil {
		run, err := p.Chat.Engine.Get(p.ctx, id)
		if err != nil {
			p.trouble(err)
			return nil, 0
		}
		n := len(run.Pending)
		if n == 0 {
			p.waits = ""
			return nil, 0
		}
		d, ok := p.question(run.Pending[0], n)
		if !ok {
			break
		}
		h, err := p.Chat.Engine.Decide(p.ctx, p.lease, id, d)
		switch {
		case errors.Is(err, harness.ErrStale):
			p.say("nothing was decided: what waits is not what was shown any more; it is shown anew")
			continue
		case err != nil:
			p.trouble(err)
			continue
		}
		p.waits = "" // it goes on, or rests where it is: whoever follows it sees which
		return h, run.Cursor
	}
	if p.owner {
		p.say(p.unlessEphemeral("left for later: it waits with the session, and /continue shows it again",
			"left for later: /continue shows it again; it ends with this chat, of which nothing is kept"))
	}
	return nil, 0
}

// question shows one decision whole and asks for it. It is false if it is left
// for later.
func (p *plain) question(w harness.Pending, n int) (harness.Decision, bool) {
	head := "a decision is waiting:"
	if n > 1 {
		head = fmt.Sprintf("a decision is waiting, 1 of %d:", n)
	}
	p.say(head)
	for _, line := range proposal.Lines(w) {
		p.out.line(line)
	}
	ask := p.consent
	switch {
	case w.Uncertain:
		ask = p.uncertain
	case w.Question():
		ask = p.reply
	}
	d, ok := ask(w)
	d.Call, d.Digest, d.By = w.Call.ID, w.Digest, p.by()
	return d, ok
}

// by says who decides here.
func (p *plain) by() string {
	who := cmp.Or(p.Chat.User, "user")
	if p.Chat.Holder.Terminal != "" {
		who += " at " + p.Chat.Holder.Terminal
	}
	return who + " (chat)"
}

// consent asks whether a call may run. Only a number that is offered is an
// answer, and an empty line leaves it for later.
func (p *plain) consent(w harness.Pending) (harness.Decision, bool) {
	var session, always string
	if w.Proposal != nil {
		session, always = w.Proposal.Session, w.Proposal.Always
	}
	p.out.line("  1  once")
	if session != "" {
		p.out.line("  2  for this session: " + render.SafeLine(session))
	}
	if always != "" {
		p.out.line("  3  always: " + render.SafeLine(always))
	}
	p.out.line("  4  refuse, and say why")
	p.out.line("  5  later (so does an empty line)")
	if len(p.queue) > 0 {
		p.out.line("  6  refuse, with the message that waits as the reason: " + render.SafeLine(p.queue[0]))
	}
	for {
		p.out.line("May it run? Type a number.")
		line, ok := p.fresh()
		if !ok {
			return harness.Decision{}, false
		}
		d := harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeOnce}
		switch word := strings.TrimSpace(line); {
		case word == "1":
			return d, true
		case word == "2" && session != "":
			d.Scope, d.Rule = harness.ScopeSession, session
			return d, true
		case word == "3" && always != "":
			d.Scope, d.Rule = harness.ScopeAlways, always
			return d, true
		case word == "4":
			return p.refusal()
		case word == "6" && len(p.queue) > 0:
			text := p.queue[0]
			p.queue, p.unsaved = p.queue[1:], true
			return harness.Decision{How: harness.DecideDecline, Text: text}, true
		case word == "5", word == "":
			return harness.Decision{}, false
		case word == "/stop":
			return harness.Decision{How: harness.DecideAbort}, true
		case word == "2", word == "3":
			p.say("there is no rule to offer for this call")
		case !p.unoffered(word):
			p.keep(line)
			p.say("that is no answer; 6 refuses with the first kept message as the reason")
		}
	}
}

// refusal asks why. An empty line gives no reason.
func (p *plain) refusal() (harness.Decision, bool) {
	p.out.line("Why? The model is told; an empty line tells it nothing.")
	line, ok := p.fresh()
	return harness.Decision{How: harness.DecideDecline, Text: strings.TrimSpace(line)}, ok
}

// reply asks the model's question. A number that is offered is its choice, and
// any other text is the answer as it stands.
func (p *plain) reply(w harness.Pending) (harness.Decision, bool) {
	choices := w.Proposal.Choices
	no := len(choices) + 1
	p.out.line(fmt.Sprintf("  %d  give no answer", no))
	if len(choices) > 0 {
		p.out.line("Type the number of a choice, or another answer in words; an empty line leaves it for later.")
	} else {
		p.out.line("Type the answer; an empty line leaves it for later.")
	}
	line, ok := p.fresh()
	word := strings.TrimSpace(line)
	if !ok || word == "" {
		return harness.Decision{}, false
	}
	d := harness.Decision{How: harness.DecideAnswer, Text: word}
	switch n, err := strconv.Atoi(word); {
	case word == "/stop":
		d.How, d.Text = harness.DecideAbort, ""
	case err != nil:
	case n == no:
		d.How, d.Text = harness.DecideDecline, ""
	case n > 0 && n < no:
		d.Text = choices[n-1]
	}
	return d, true
}

// uncertain asks what became of a call that began and was not seen to end.
func (p *plain) uncertain(harness.Pending) (harness.Decision, bool) {
	p.out.line("  1  run it again, even if it took effect already")
	p.out.line("  2  it took effect: I say what came of it")
	p.out.line("  3  end the run")
	p.out.line("  4  later (so does an empty line)")
	for {
		p.out.line("What became of it? Type a number.")
		line, ok := p.fresh()
		if !ok {
			return harness.Decision{}, false
		}
		switch strings.TrimSpace(line) {
		case "1":
			return harness.Decision{How: harness.DecideRetry}, true
		case "2":
			p.out.line("What was its result? The model is told; an empty line goes back.")
			result, ok := p.fresh()
			if !ok {
				return harness.Decision{}, false
			}
			if result = strings.TrimSpace(result); result != "" {
				return harness.Decision{How: harness.DecideResult, Text: result}, true
			}
		case "3", "/stop":
			return harness.Decision{How: harness.DecideAbort}, true
		case "4", "":
			return harness.Decision{}, false
		default:
			if !p.unoffered(line) {
				p.keep(line)
				p.say("that is no answer")
			}
		}
	}
}

// unoffered explains a number that is not among the choices. It is false if the
// line is no number.
func (p *plain) unoffered(line string) bool {
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return false
	}
	p.say(fmt.Sprintf("there is no choice %d here", n))
	return true
}

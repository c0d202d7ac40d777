package plain

import (
	"context"
	"errors"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/runs/standing"
)

// takenHere is a run that nobody had taken and that is driven here now, to be
// followed from the journal entry after.
type takenHere struct {
	handle harness.RunHandle
	after  int
}

// fetch takes over what runs of the session did elsewhere, and writes it.
func (p *plain) fetch() {
	d := p.Chat
	if d.Remote == nil || !p.stored {
		return
	}
	engines, err := chat.EnginesOf(p.ctx, d.Engine, p.session.ID)
	if err != nil {
		p.trouble(err)
		return
	}
	got, err := d.Remote.Fetch(p.ctx, p.lease)
	if words := standing.Fetched(got, engines); words != "" {
		p.say(words)
		p.look()
	}
	for _, lost := range got.Lost {
		p.say("not carried out: " + lost)
	}
	if err != nil && len(engines) == 0 { // else it is told of the run that is kept there
		p.trouble(err)
	}
}

// followAway follows a run that goes on elsewhere as one that was started here.
func (p *plain) followAway(run harness.Run) {
	words := "an answer goes on elsewhere"
	if who := standing.Driven(run, p.Chat.Holder); who != "" {
		words += ", " + who
	}
	p.say(words + "; /stop stops it")
	h, err := p.Chat.Remote.Attach(p.ctx, p.lease, run.ID)
	if err != nil {
		p.trouble(err)
		return
	}
	f := follower{p: p, quietCut: true}
	if t := run.Partial; t != nil && t.Text != "" {
		f.text(harness.Event{Attempt: t.Attempt, Text: t.Text})
	}
	if p.followFrom(h, run.Cursor-run.Unfetched, f) == harness.RunAwaiting {
		h, after := p.decide(h.ID())
		p.see(h, after, false)
	}
}

// driveHere takes a run that nobody has taken. If somebody has meanwhile it is
// followed on.
func (p *plain) driveHere(ctx context.Context, id harness.RunID) {
	d := p.Chat
	if d.Remote == nil {
		p.say("the answer is driven here already")
		return
	}
	run, err := d.Engine.Get(ctx, id)
	if err != nil {
		p.trouble(err)
		return
	}
	if who := standing.Driven(run, d.Holder); who != "" {
		p.say("the answer is " + who + " already")
		return
	}
	h, err := d.Engine.Resume(ctx, p.lease, id, harness.ResumeContinue)
	switch {
	case errors.Is(err, harness.ErrBusy):
		p.say("somebody has taken the run meanwhile")
	case err != nil:
		p.trouble(err)
	default:
		p.here = takenHere{h, run.Cursor - run.Unfetched}
	}
}

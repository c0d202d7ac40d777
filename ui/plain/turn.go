package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/plain/spoken"
	"cairn/ui/runs/standing"
)

// message sends a message and follows its run to the end.
func (p *plain) message(text string) {
	d := p.Chat
	if !p.owner {
		p.say("read-only: /takeover takes the session over; nothing was sent")
		return
	}
	if p.waits != "" {
		p.queue, p.unsaved = append(p.queue, text), true
		p.saveNow()
		p.say(fmt.Sprintf("queued (%d): a decision is waiting, and /continue shows it", len(p.queue)))
		return
	}
	msg, ok := p.written(text, nil)
	if !ok {
		return
	}
	handle, err := p.begin(msg)
	if errors.Is(err, harness.ErrAwaiting) {
		p.queue, p.unsaved = append([]string{text}, p.queue...), true
		p.saveNow()
		p.say("the message is queued: a decision comes first")
		p.offer()
		return
	}
	if err != nil {
		p.failed = err
		p.queue, p.unsaved = append([]string{text}, p.queue...), true
		p.trouble(err)
		p.say("the message is kept: an empty line sends it again")
		p.retryQueue()
		return
	}
	p.stored, p.failed = true, nil
	p.saveNow()
	p.sentWith(msg)
	if err := d.Prompts.Add(p.ctx, p.session.ID, text); err != nil {
		p.trouble(err)
	}
	p.see(handle, 0, false)
}

// begin starts a run.
func (p *plain) begin(msg harness.Message) (harness.RunHandle, error) {
	d := p.Chat
	if p.setup.Run.Model == "" {
		setup, err := d.Config(p.ctx, p.session)
		if err != nil {
			return nil, err
		}
		p.setup = setup
	}
	switch s, err := d.Sessions.Get(p.ctx, p.session.ID); {
	case err == nil: // it may have been changed elsewhere
		p.session = s
	case !errors.Is(err, harness.ErrNotFound):
		p.trouble(err)
	}
	p.setup.Run.NoMemory = p.session.NoMemory || d.Facts == nil && d.Notes == nil
	return d.Engine.Start(p.ctx, harness.StartRequest{
		Lease: p.lease, Message: msg, Config: p.setup.Run, Request: harness.NewID(), Dir: d.Dir,
	})
}

// retryQueue waits for the person before what could not be sent is tried
// again.
func (p *plain) retryQueue() {
	line, ok := p.ask()
	switch {
	case !ok:
		p.quit = true
	case strings.TrimSpace(line) != "":
		p.line(line)
	}
}

// follower is a run that is being followed.
type follower struct {
	p       *plain
	attempt int
	n       int  // bytes of the attempt's text written
	begun   bool // the label is written
	// quietCut hides the half answer that was written before.
	quietCut bool
	done     bool
	// status is how the run rests.
	status harness.RunStatus
	// reason is why it waits, as it was told; waited is how long the model is
	// waited for, in seconds, as it was told.
	reason string
	waited int
	// pace is what was told of how far a tool is.
	pace standing.Pace
}

// follow writes what a run says until it rests, and returns how.
func (p *plain) follow(h harness.RunHandle, after int, continued bool) harness.RunStatus {
	return p.followFrom(h, after, follower{p: p, quietCut: continued || after > 0})
}

// followFrom is follow with what is on the page already.
func (p *plain) followFrom(h harness.RunHandle, after int, f follower) harness.RunStatus {
	ctx, stop := context.WithCancel(context.WithoutCancel(p.ctx))
	defer stop()
	events, lines := h.Events(ctx, after), (<-chan typed)(p.lines)
	interrupted := p.ctx.Done()
	if p.early != nil {
		lines = nil
	}
	silent := p.silence()
	defer silent.stop()
	for !f.done {
		if lines != nil {
			lines = p.input()
		}
		select {
		case e, ok := <-events:
			if !ok {
				return f.status
			}
			f.event(e)
		case l, ok := <-lines:
			p.reading = false
			switch {
			case !ok: // the answer is still wanted
				lines = nil
				continue
			case l.ahead: // a script goes on when this is done
				p.early, lines = &l, nil
				continue
			}
			p.warned = false
			p.meanwhile(ctx, h.ID(), l.text)
			if t := p.here; t.handle != nil {
				h, events, p.here = t.handle, t.handle.Events(ctx, t.after), takenHere{}
			}
		case <-p.changes:
			p.heed(func() error { return chat.LeaveRun(ctx, p.Chat, h.ID()) })
		case q := <-p.questions():
			p.asked(q)
		case <-silent.ticks:
			silent.tick()
		case <-p.Interrupts:
			p.stopIt(ctx, h.ID())
		case <-interrupted:
			interrupted = nil
			if err := chat.LeaveRun(ctx, p.Chat, h.ID()); err != nil {
				p.trouble(err)
				return f.status
			}
		}
	}
	return f.status
}

// event writes one event.
func (f *follower) event(e harness.Event) {
	p := f.p
	if e.Seq > 0 {
		f.reason = "" // something was stored
	}
	switch e.Type {
	case harness.EventRunStarted:
	case harness.EventText:
		f.text(e)
	case harness.EventReset:
		if f.begun {
			p.out.said = spoken.Stream{} // what was held back of it is void too
			p.say("the answer begins anew")
		}
		f.attempt, f.n, f.begun = e.Attempt, 0, false
	case harness.EventSteered:
		f.heard(e)
	case harness.EventMessage:
		if e.Steer != "" {
			f.heard(e)
			return
		}
		f.message(e)
	case harness.EventToolStart:
		if e.Call != nil {
			p.toolStart(*e.Call)
		}
	case harness.EventProgress:
		f.progress(e)
	case harness.EventToolResult:
		if e.Result != nil {
			p.say("tool " + e.Result.Name + ": " + resultWords(*e.Result))
		}
	case harness.EventWaiting:
		f.waiting(e)
	case harness.EventUnclaimed:
		p.say(standing.Unclaimed(e.Text) + ": /here drives it here")
	case harness.EventRetry:
		text := cmp.Or(e.Text, fmt.Sprintf("trying again in %d s", e.Wait))
		if e.Error != nil {
			text = e.Error.Text + "; " + text
		}
		p.say(text)
	case harness.EventCondensed:
		if e.Condensed != nil {
			p.say(chat.CondensedWords(*e.Condensed))
		}
	case harness.EventRecovery, harness.EventMemory:
		if e.Text != "" {
			p.say(e.Text)
		}
	case harness.EventDecided:
		if e.Call != nil {
			p.say(e.Call.Name + " " + e.Text)
		}
	case harness.EventApproval, harness.EventQuestion, harness.EventUncertain: // it is asked when the run rests
	case harness.EventThinking:
	case harness.EventResult:
		f.result(e.Outcome)
	}
}

// waiting says what is waited for: the model, or a store that takes nothing,
// which is told once for each reason.
func (f *follower) waiting(e harness.Event) {
	switch {
	case e.Error == nil && e.Text != "":
		f.p.say(e.Text) // what is done meanwhile
	case e.Error == nil:
		if e.Wait < f.waited { // of another call
			f.waited = 0
		}
		if every := int(f.p.still() / time.Second); every > 0 && (f.waited == 0 || e.Wait-f.waited >= every) {
			f.waited = e.Wait
			f.p.say(fmt.Sprintf("still waiting for the model (%d s)", e.Wait))
		}
	case e.Error.Text != f.reason:
		f.reason = e.Error.Text
		what := "waiting: "
		if e.Error.Kind == "store" {
			what = "not saved yet, trying again: "
		}
		f.p.say(what + e.Error.Text)
	}
}

// text writes the new part of streamed text.
func (f *follower) text(e harness.Event) {
	if e.Attempt > f.attempt {
		f.attempt, f.n, f.begun = e.Attempt, 0, false
	}
	if e.Attempt < f.attempt {
		return
	}
	piece := e.Text
	if skip := f.n - e.Offset; skip > 0 {
		piece = piece[min(skip, len(piece)):]
	}
	if piece == "" {
		return
	}
	if !f.begun {
		f.p.out.begin("cairn")
		f.begun, f.quietCut = true, false
	}
	f.n += len(piece)
	f.p.out.stream(piece)
}

// message ends the streamed text; what did not stream is written whole.
func (f *follower) message(e harness.Event) {
	if e.Message == nil || e.Message.Role != harness.RoleAssistant {
		return
	}
	text := e.Message.Text()
	if strings.TrimSpace(text) != "" {
		f.p.answer = text
	}
	switch {
	case f.begun:
		f.p.out.end()
		if e.Message.Mark != harness.MarkNone {
			f.p.say("the answer is " + string(e.Message.Mark))
		}
	case e.Message.Mark != harness.MarkNone && f.quietCut: // it is on the page already
	case strings.TrimSpace(text) != "":
		f.p.out.speak(speaker(e.Message.Mark), text)
	}
	f.attempt, f.n, f.begun = max(f.attempt, e.Attempt), 0, false
}

// result says how the run rests.
func (f *follower) result(r *harness.Result) {
	f.done = true
	p := f.p
	if f.begun {
		p.out.end()
	}
	if r == nil {
		return
	}
	f.status = r.Status
	switch r.Status {
	case harness.RunCancelled:
		p.say("stopped")
	case harness.RunPaused:
		p.say(p.unlessEphemeral("paused; open the session again to go on", "stopped; nothing of this chat is kept"))
	case harness.RunFailed:
		if r.Error != nil {
			p.say(p.Chat.Words(r.Error))
		}
		p.say("/retry asks again, /continue goes on from there")
	case harness.RunCompleted:
		p.entitle()
	case harness.RunAwaiting, harness.RunRunning:
	}
}

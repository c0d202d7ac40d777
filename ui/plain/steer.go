package plain

import (
	"context"
	"errors"

	"cairn/harness"
)

// steer says something into the run that is under way or waits for a decision. What
// cannot be said into it is the next message.
func (p *plain) steer(ctx context.Context, id harness.RunID, text string) {
	if text == "" {
		p.say("write after it what the model is to heed now: /steer use the other table")
		return
	}
	err := errors.ErrUnsupported
	if e, ok := p.Chat.Engine.(harness.Steerer); ok {
		err = e.Steer(ctx, id, harness.Steer{ID: harness.NewID(), Message: harness.UserText(text)})
	}
	if err == nil {
		return // its event tells it, where one is followed
	}
	p.queue, p.unsaved = append([]string{text}, p.queue...), true
	p.saveNow()
	switch {
	case errors.Is(err, harness.ErrEnded):
		p.say("the turn is over; it is sent next")
	case errors.Is(err, errors.ErrUnsupported):
		p.say("who drives this turn cannot be told anything meanwhile; it is sent after the answer, and /stop stops that")
	default:
		p.trouble(err)
		p.say("it is not said into the turn, but sent after it")
	}
}

// steerNow is /steer where no answer is under way.
func (p *plain) steerNow(text string) {
	switch {
	case p.waits != "" && p.owner && text != "":
		had := len(p.queue)
		if p.steer(p.ctx, p.waits, text); len(p.queue) == had {
			p.say("the model is told it once this is decided; /continue shows what waits")
		}
	case text == "":
		p.say("write after it what the model is to heed now: /steer use the other table")
	default:
		p.message(p.carry(text))
	}
}

// heard tells what becomes of what was said into the turn.
func (f *follower) heard(e harness.Event) {
	if e.Message == nil {
		return
	}
	word := "steering, before the next step: "
	if e.Type == harness.EventMessage {
		word = "the model is told: "
	}
	f.p.say(word + e.Message.Text())
}

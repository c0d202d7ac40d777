package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
)

// condense condenses old messages if the request, out, has grown too large with
// them. stored says that something was stored, so that the loop is asked again.
// Whatever goes wrong is no reason to end the turn, as long as there is a request
// that fits.
func (t *Turn) condense(ctx context.Context, c loop.CallModel, out memory.Out) (stored bool, err error) {
	asked := t.forced
	t.forced = false
	if !c.Condense || !asked && !c.More && (out.Trigger <= 0 || out.Full < out.Trigger) {
		return false, nil
	}
	s := &summariser{turn: t}
	in := t.in(c)
	o := condense.Options{Model: s, Info: t.info(), Asked: asked, Key: string(t.Session)}
	plan, err := condense.Estimate(in, o)
	if err == nil && plan.Calls > condense.MaxUnasked {
		err = &condense.LargeError{Plan: plan}
	}
	if err != nil {
		return t.uncondensed(ctx, s, condense.Step{}, out, err)
	}
	if plan.Calls > 0 {
		t.Sink.Emit(harness.Event{Type: harness.EventWaiting, Text: "condensing " + harness.Count(plan.Messages, "message"), At: t.Steps.Now()})
	}
	step, err := condense.Next(ctx, in, o)
	if err != nil {
		return t.uncondensed(ctx, s, step, out, err)
	}
	step.Condensed.Asked = false // by a person
	err = t.put(ctx, step.Usage, loop.Condensed{
		Condensed: step.Condensed, Turn: t.condensedBefore() + step.Turn, More: step.More, Fruitless: step.Fruitless,
	})
	if err != nil {
		return false, err
	}
	t.Condensed = nil
	s.stored(ctx, step.Usage)
	t.forced = asked && step.More
	return true, nil
}

// uncondensed notes that old messages stay as they are, because of err.
func (t *Turn) uncondensed(ctx context.Context, s *summariser, step condense.Step, out memory.Out, err error) (stored bool, _ error) {
	var large *condense.LargeError
	var fixed *condense.FixedError
	var reason string
	switch {
	case ctx.Err() != nil && s.call == nil:
		return false, ctx.Err() // of a reply that came what it used is stored
	case errors.Is(err, condense.ErrNothing):
		return false, nil
	case s.over != nil:
		return true, t.failed(ctx, s.over)
	case errors.As(err, &large):
		if t.Told.news(t.Session, toldLarge, large.Plan.Tokens) {
			reason = leftOut(out.Dropped, large.Plan)
		}
	case errors.As(err, &fixed):
		carried := fixed.System + fixed.Tools + fixed.Recalled
		switch r := t.refused; {
		case carried+fixed.Message <= fixed.Window:
		case r != nil && r.guessed: // nobody knows that the window is that small
			return true, t.failed(ctx, r.err)
		default:
			return true, t.overflows(ctx, err.Error())
		}
		if t.Told.news(t.Session, toldFixed, carried) {
			reason = err.Error()
		}
	default:
		why := strings.TrimPrefix(err.Error(), fmt.Sprintf("condense session %s: ", t.Session))
		reason = "old messages could not be condensed, so what does not fit is left out: " + why
	}
	usage := s.usage(step)
	if err := t.put(ctx, usage, loop.Uncondensed{Reason: reason}); err != nil {
		return false, err
	}
	s.stored(ctx, usage)
	return true, nil
}

// overflows ends the turn, because no request of it would fit.
func (t *Turn) overflows(ctx context.Context, why string) error {
	return t.put(ctx, harness.Usage{}, loop.Rested{
		Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{Kind: string(model.KindOverflow), Text: why},
	})
}

// leftOut says what a request is without, and what it would take to change that.
func leftOut(dropped int, p condense.Plan) string {
	var b strings.Builder
	before := ""
	if p.More { // nobody counted them
		before = " and those before"
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "there is no room for %s%s in this request; ", harness.Count(dropped, "old message"), before)
	}
	if p.More {
		return b.String() + "/compact would condense the old part of the conversation, and says first what that takes"
	}
	fmt.Fprintf(&b, "/compact would condense the old part of the conversation: %s, about %s", harness.Count(p.Calls, "call"), harness.Count(p.Tokens, "token"))
	switch {
	case !p.CostKnown:
		b.WriteString(", at a price that is not known")
	case p.Cost > 0:
		b.WriteString(", about " + harness.Dollars(p.Cost))
	}
	return b.String()
}

// summariser is the turn's model as it writes a note: within the spending limits,
// and with what it says of itself told to the watchers.
type summariser struct {
	turn *Turn
	call *charge
	// over is why the call was not made, failed says that it was and gave no reply,
	// free that the provider refused it before it worked on it.
	over         error
	failed, free bool
}

// Stream implements [model.Model].
func (s *summariser) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	t := s.turn
	out, err := t.before(ctx, memory.Out{Request: r})
	if err != nil {
		s.failed, s.free = true, true
		return model.Reply{}, err
	}
	r = out.Request
	input := memory.Estimate(harness.UserText(r.System)) + memory.Estimate(harness.UserText(r.Context))
	for _, m := range r.Messages {
		input += memory.Estimate(m)
	}
	call, err := t.charge(ctx, input, r.MaxOutput)
	if err != nil {
		s.over = err
		return model.Reply{}, err
	}
	t.sent = true
	reply, err := call.stream(ctx, t.Steps.Model, r, func(d model.Delta) {
		t.news(d)
		emit(d)
	})
	if err != nil {
		call.failed(ctx, err)
		s.failed, s.free = true, model.Free(err) && !call.heard
		return reply, err
	}
	s.call = call
	return reply, nil
}

// usage is what the call for a step used, of which there may have been none.
func (s *summariser) usage(step condense.Step) harness.Usage {
	if s.failed {
		return Unseen(!s.free)
	}
	return step.Usage
}

// stored ends the call: what it used is stored.
func (s *summariser) stored(ctx context.Context, u harness.Usage) {
	s.turn.sent = false
	if s.call != nil {
		s.call.answered(ctx, u)
	}
}

// news tells what a model says of itself beside a reply that nobody reads.
func (t *Turn) news(d model.Delta) {
	t.heardOf(d)
	e := harness.Event{Attempt: t.Attempt, Wait: seconds(d.Wait), At: t.Steps.Now()}
	switch d.Kind {
	case model.DeltaRetry:
		e = retried(e, d)
	case model.DeltaWaiting:
		e.Type = harness.EventWaiting
	default:
		return
	}
	t.Sink.Emit(e)
}

package agent

import (
	"context"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// unknownReply is how long a reply is taken to be at most, in tokens, where
// neither the request nor the catalogue bounds it.
const unknownReply = DefaultReply

// charge is one model call within the spending limits: what it can cost at most
// is held back before it is made. Each further attempt that is made within the
// call is held back for itself, because the one before may have to be paid for.
type charge struct {
	turn *Turn
	held *policy.Held
	// input and output are the most tokens of one attempt.
	input, output int
	// bytes are those of the reply that came in the present attempt, heard says
	// that anything of it did, and lost that the attempt is over without a reply.
	bytes       int
	heard, lost bool
	// over is why there was no further attempt.
	over error
}

// charge holds back what a request of input tokens can cost. An error is the
// reason for not making the call.
func (t *Turn) charge(ctx context.Context, input, output int) (*charge, error) {
	if output <= 0 {
		output = t.info().MaxOutput
	}
	if output <= 0 {
		output = unknownReply
	}
	c := &charge{turn: t, input: input, output: output}
	return c, c.hold(ctx)
}

func (c *charge) hold(ctx context.Context) (err error) {
	c.held, err = c.turn.Steps.Budget.Hold(ctx, c.turn.Session, c.turn.info(), c.input, c.output)
	return err
}

// stream makes the call. If the limits have no room for a further attempt, that
// is the error.
func (c *charge) stream(ctx context.Context, m model.Model, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	reply, err := m.Stream(ctx, r, func(d model.Delta) {
		if c.over == nil {
			c.over = c.saw(ctx, d)
		}
		if c.over != nil {
			stop()
			return
		}
		emit(d)
	})
	if err != nil && c.over != nil {
		return reply, c.over
	}
	return reply, err
}

// saw follows the attempts of the call.
func (c *charge) saw(ctx context.Context, d model.Delta) error {
	switch d.Kind {
	case model.DeltaText, model.DeltaThinking:
		c.bytes += len(d.Text)
		c.heard = true
	case model.DeltaProgress:
		c.bytes += len(d.Text)
		c.heard = true
	case model.DeltaRetry:
		if d.Err != nil {
			c.failed(ctx, d.Err)
		}
	case model.DeltaReset:
		if !c.lost {
			return nil // the same attempt begins its text anew
		}
		c.bytes, c.heard, c.lost = 0, false, false
		return c.hold(ctx)
	default:
	}
	return nil
}

// failed ends the hold of an attempt that ended in err. Its usage never arrives.
func (c *charge) failed(ctx context.Context, err error) {
	c.lost = true
	unseen := 0.0
	if c.heard || !model.Free(err) {
		unseen = c.held.Cost(c.input, c.tokens())
	}
	c.settle(ctx, unseen)
}

// answered ends the hold of an attempt whose reply is stored with its usage.
func (c *charge) answered(ctx context.Context, u harness.Usage) {
	unseen := 0.0
	if u.Input+u.Output == 0 {
		unseen = c.held.Cost(c.input, c.tokens()) // the provider does not tell
	}
	c.settle(ctx, unseen)
}

// tokens guesses what the pieces of the reply cost.
func (c *charge) tokens() int { return (c.bytes + 2) / 3 }

func (c *charge) settle(ctx context.Context, unseen float64) {
	if err := c.held.Settle(ctx, unseen); err != nil {
		c.turn.mend("what was held back for the call stays held back: " + err.Error())
	}
}

package condense

import (
	"context"
	"errors"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// thrifty is a model whose calls are kept within a budget. What a call can cost is
// held until its usage is booked. It is for one call at a time.
type thrifty struct {
	next    model.Model
	budget  *policy.Budget
	session harness.SessionID
	info    model.Info
	held    *policy.Held
}

// Stream implements [model.Model]. A call that the budget does not allow is not
// made; its error fits [policy.OverBudget].
func (t *thrifty) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	input := memory.Estimate(harness.UserText(r.System))
	for _, m := range r.Messages {
		input += memory.Estimate(m)
	}
	var err error
	if t.held, err = t.budget.Hold(ctx, t.session, t.info, input, r.MaxOutput); err != nil {
		return model.Reply{}, err
	}
	heard := 0
	reply, err := t.next.Stream(ctx, r, func(d model.Delta) {
		heard += len(d.Text)
		emit(d)
	})
	if err != nil {
		// Of what came about three bytes are a token.
		err = errors.Join(err, t.held.Failed(ctx, err, input, (heard+2)/3))
	}
	return reply, err
}

// booked ends the hold of a call whose usage is booked.
func (t *thrifty) booked(ctx context.Context) error { return t.held.Settle(ctx, 0) }

package agent

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
)

// Run sends text and returns when the turn is over. Only a closed or busy agent, a
// blank text, and a store that fails, are errors; every other failure is in the
// result. Cancelling ctx stops the turn and leaves a history that can go on.
func (a *Agent) Run(ctx context.Context, text string) (harness.Result, error) {
	return a.Stream(ctx, text, nil)
}

// Stream is [Agent.Run] with a look at each event as it happens, on the calling
// goroutine; the last one is the result. see must not call [Agent.Close], which
// waits for the turn.
func (a *Agent) Stream(ctx context.Context, text string, see func(harness.Event)) (harness.Result, error) {
	return a.Send(ctx, harness.UserText(text), see)
}

// Send is [Agent.Stream] for a message that may have files beside its text, with
// their bytes in [harness.File.Data]. They are kept with the conversation: where the
// agent's tools keep large results, else by its store. A message that is none of a
// user's is an error.
func (a *Agent) Send(ctx context.Context, m harness.Message, see func(harness.Event)) (harness.Result, error) {
	done, ctx, err := a.begin(ctx)
	if err != nil {
		return harness.Result{}, err
	}
	defer done()
	a.mu.Lock()
	before := a.history[:len(a.history):len(a.history)]
	a.mu.Unlock()
	d := &direct{a: a, run: harness.RunID(harness.NewID()), see: see}
	if m, err = a.sendable(ctx, m); err != nil {
		return harness.Result{}, fmt.Errorf("session %s: %w", a.id, err)
	}
	started := loop.Started{Message: m, Config: a.config()}
	stored, err := d.Put(ctx, harness.Usage{}, started)
	if err != nil {
		return harness.Result{}, err
	}
	steps := a.Steps()
	if a.o.Approve == nil {
		steps.Policy = unmanned{steps.Policy}
	}
	t := &Turn{
		Steps: steps, Session: a.id, Run: d.run, Dir: a.o.Dir, First: stored[0].Record, History: before, Sink: d, Told: &a.told,
	}
	t.watch.queue = a.hooks
	if t.Pinned, err = a.pinned(ctx, before); err != nil {
		return harness.Result{}, fmt.Errorf("session %s: %w", a.id, err)
	}
	res, err := a.turn(ctx, t, d)
	if err != nil {
		res.Status, res.Stop, res.Error = harness.RunFailed, harness.StopError, &harness.RunError{Kind: "store", Text: err.Error()}
		t.Over(ctx, res)
		return harness.Result{}, err
	}
	err = a.settle(ctx)
	t.Over(ctx, res)
	d.Emit(harness.Event{Type: harness.EventResult, Seq: d.seq, Outcome: &res, At: a.o.Now()})
	return res, err
}

// turn drives the turn and stores how it ended. Its error is the store's.
func (a *Agent) turn(ctx context.Context, t *Turn, d *direct) (harness.Result, error) {
	if err := a.carry(ctx, t, d); err != nil {
		if ctx.Err() == nil {
			return d.result(), err
		}
		records := loop.Cancel(d.state, t.Partial(), a.o.Info.ID, false, harness.StopCancelled)
		if _, err := d.Put(ctx, t.Lost(), records...); err != nil {
			return d.result(), err
		}
	} else if half, ok := loop.HalfAnswer(t.Partial(), a.o.Info.ID); ok && d.rest.Status == harness.RunFailed {
		half.Mark = harness.MarkIncomplete
		if _, err := d.Put(ctx, harness.Usage{}, loop.Cut{Message: half}); err != nil {
			return d.result(), err
		}
	}
	return d.result(), nil
}

// carry drives the turn to its end, with the decisions that it waits for.
func (a *Agent) carry(ctx context.Context, t *Turn, d *direct) error {
	for {
		t.Numbers = d.numbers
		if err := t.Drive(ctx, d.state); err != nil {
			return err
		}
		if d.state.Status() != harness.RunAwaiting {
			return nil
		}
		records, err := a.ask(ctx, d.state)
		if err != nil {
			return err
		}
		if _, err := d.Put(ctx, harness.Usage{}, records...); err != nil {
			return err
		}
	}
}

package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// stint is one task with all that it needs.
type stint struct {
	b     *Backend
	turn  *agent.Turn
	sink  *sink
	state loop.State
	// ctx ends when the task is to be left at once.
	ctx  context.Context //nolint:containedctx // it is the task's own
	stop context.CancelCauseFunc
	// leave closes when the process wants to end.
	leave <-chan struct{}
	// broken is why the run cannot be driven anywhere.
	broken error
}

// Why a task is left.
var (
	errAsked   = errors.New("it was asked to stop")
	errLeaving = errors.New("the worker ends")
)

// prepare gets what a task needs. [run.ErrUnfit] if it cannot be had here.
func (h hands) prepare(ctx context.Context, t task) (*stint, error) {
	k, err := h.b.know(ctx, t.Run, t.Cursor)
	if err != nil {
		return nil, err
	}
	state, numbers, err := run.Fold(k.entries)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w: %w", t.Run, run.ErrUnfit, err)
	}
	c, err := k.carried.After(k.entries)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", t.Run, err)
	}
	info := k.job.Run
	desk := run.NewDesk(t.Run, c, k.entries, h.b, nil)
	away := h.b.o.Store == "" || h.b.o.Store != c.Store
	hard, stop := context.WithCancelCause(desk.Context(ctx))
	j := &stint{b: h.b, state: state, ctx: hard, stop: stop, leave: activity.GetWorkerStopChannel(ctx)}
	steps, err := h.steps(hard, k.job, c)
	switch {
	case errors.Is(err, run.ErrUnfit), err != nil && t.Call != "":
		stop(nil)
		return nil, err
	case err != nil:
		j.broken = err
	default:
		if away {
			steps.Used = nil // the entry of the answer tells it
		}
		h.complete(&steps, desk)
	}
	j.sink = &sink{b: h.b, info: info, desk: desk, away: away, state: state}
	j.turn = &agent.Turn{
		Steps: steps, Session: info.Session, Run: info.ID, Dir: info.Dir, First: info.First, History: c.History, Pinned: c.Pinned,
		Numbers: numbers, Attempt: t.Attempt, Begun: t.Begun, Told: &h.b.told, Sink: j.sink, Soft: hard,
	}
	j.sink.turn = j.turn
	return j, nil
}

// complete fills in the parts that were left out.
func (h hands) complete(s *agent.Steps, desk *run.Desk) {
	if s.Tools == nil {
		s.Tools = new(tool.Set)
	}
	s.Tools = desk.Tools(s.Tools)
	if s.Policy == nil {
		s.Policy = policy.Rules{Interactive: true}
	}
	if s.Compose == nil {
		s.Compose = new(memory.Composer).Compose
	}
	if s.Now == nil {
		s.Now = h.b.o.Now
	}
	if s.Log == nil {
		s.Log = h.b.o.Logger
	}
}

// do carries the task out.
func (j *stint) do(t task) done {
	defer j.stop(nil)
	over := make(chan struct{})
	defer close(over)
	go j.watch(t, over)
	err := j.carry(t)
	j.heed(t)
	d := done{Entries: j.sink.entries, Attempt: j.turn.Attempt, Partial: j.sink.partial()}
	switch {
	case err != nil && j.ctx.Err() != nil:
		d.Stopped, d.Lost, d.Unknown = true, j.turn.Lost(), t.Call != ""
		return d
	case err != nil:
		d.Unknown = t.Call != ""
		kind := "store"
		if errors.Is(err, errInternal) {
			kind = "internal"
		}
		if _, e := j.sink.Put(j.ctx, j.turn.Lost(), loop.Rested{
			Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{Kind: kind, Text: err.Error()},
		}); e == nil {
			d.Entries = j.sink.entries
		}
	}
	if j.sink.status() != harness.RunRunning {
		j.turn.Over(j.ctx, run.ResultOf(j.sink.info, j.sink.state))
	}
	return d
}

// watch leaves the task when the process wants to end. A call gets a while to
// finish, because nobody would know what it did.
func (j *stint) watch(t task, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-j.leave:
	}
	if t.Call != "" {
		select {
		case <-over:
			return
		case <-time.After(j.b.o.Grace):
		}
	}
	j.stop(errLeaving)
}

var errInternal = errors.New("internal error")

// carry drives the turn; a panic below becomes an error.
func (j *stint) carry(t task) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.b.o.Logger.Error("panic in run", slog.String("run", string(t.Run)), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("run %s: %w: %v", t.Run, errInternal, p)
		}
	}()
	switch {
	case j.broken != nil:
		_, err := j.sink.Put(j.ctx, harness.Usage{}, loop.Rested{
			Status: harness.RunFailed, Stop: harness.StopError, Error: agent.Failure(j.broken),
		})
		return err
	case t.Call != "":
		return j.turn.Execute(j.ctx, j.state, t.Call)
	case t.Afresh:
		if err := j.takeUp(t); err != nil {
			return err
		}
		return j.turn.Step(j.ctx, j.state)
	default:
		return j.turn.Step(j.ctx, j.state)
	}
}

// takeUp goes on after the driver before died: what it left of an answer stays in
// the history and out of the context.
func (j *stint) takeUp(t task) error {
	info := j.sink.info
	info.Partial = t.Partial
	records := loop.Resume(j.state, harness.ResumeRetry, t.Partial, info.Config.Model)
	stored, err := j.sink.Put(j.ctx, run.LostUsage(info, j.state), records...)
	if err != nil {
		return err
	}
	for i, r := range records {
		before := j.state
		j.state, _ = loop.Step(j.state, r)
		j.turn.Numbers = j.turn.Numbers.Step(before, j.state, stored[i].Record)
	}
	if t.Partial != nil {
		j.turn.Attempt = max(j.turn.Attempt, t.Partial.Attempt)
	}
	return nil
}

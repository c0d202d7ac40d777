package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
)

// hands carry out the activities of runs in this process.
type hands struct {
	b *Backend
	// steps are the parts that drive a run.
	steps func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error)
	tally *tally
}

// refusedFor is how long a process that cannot drive a run is not offered it
// again, if nobody else takes it.
const refusedFor = 10 * time.Second

// work carries out a step or a call. What goes wrong with the run is in what it
// returns; an error is about this process, and the task is tried again.
func (h hands) work(ctx context.Context, t task) (done, error) {
	beating := beat(ctx)
	defer beating.end()
	if p, had := had(ctx); had && (t.Call == "" || t.Once) {
		return done{Gone: true, Partial: p}, nil
	}
	j, err := h.prepare(ctx, t)
	h.tally.prepared(err)
	switch {
	case errors.Is(err, run.ErrUnfit):
		h.b.o.Logger.Info("run refused", slog.String("run", string(t.Run)), slog.String("reason", err.Error()))
		text := h.b.o.Holder.String() + ": " + err.Error()
		return done{}, temporal.NewApplicationErrorWithOptions(text, unfit, temporal.ApplicationErrorOptions{NextRetryDelay: refusedFor})
	case err != nil:
		h.b.o.Logger.Error("prepare", slog.String("run", string(t.Run)), slog.String("error", err.Error()))
		return done{}, err
	}
	beating.begin(ctx, j.sink.partial)
	if t.Once {
		// That it begins is stored before it does.
		if err := h.b.client.RecordActivityHeartbeat(ctx, activity.GetInfo(ctx).TaskToken, sign{Begun: true}); err != nil {
			return done{}, fmt.Errorf("begin call %s: %w", t.Call, err)
		}
	}
	defer h.b.drives(t.Run, j.stop)()
	h.b.live.Reached(t.Run, t.Cursor)
	d := j.do(t)
	h.tally.over(d, j.sink.status(), errors.Is(context.Cause(j.ctx), errLeaving)) //nolint:contextcheck // why the job ended, which ctx does not say
	if d.Stopped || j.sink.status() != harness.RunRunning {
		h.b.live.End(t.Run)
	}
	// What is large is stored apart now, while the signs of life go on.
	if _, err := h.b.converter.ToPayload(d); err != nil {
		h.b.o.Logger.Error("store a step", slog.String("run", string(t.Run)), slog.String("error", err.Error()))
		return done{}, temporal.NewNonRetryableApplicationError(err.Error(), "store", nil)
	}
	return d, nil
}

// unfit is the type of the error of a process that cannot drive a run.
const unfit = "unfit"

// had reports whether a worker before this one began the task, and what it left of
// an answer.
func had(ctx context.Context) (*harness.Partial, bool) {
	if activity.GetInfo(ctx).Attempt <= 1 || !activity.HasHeartbeatDetails(ctx) {
		return nil, false
	}
	var s sign
	if activity.GetHeartbeatDetails(ctx, &s) != nil {
		return nil, true // it was something, and nobody knows what
	}
	return s.partial(), s.Begun
}

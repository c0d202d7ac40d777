package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cairn/harness"
)

// drive drives an opened run in this process. If its claim is lost, because this
// machine slept or could not reach the queue for longer than a lease, and nobody
// has taken the run meanwhile, it is claimed again: a person watches it here, and
// there may be no worker.
func (b *queueBackend) drive(ctx context.Context, x *drive) {
	b.d.start(ctx, x)
	ctx = context.WithoutCancel(ctx)
	b.d.wg.Go(func() {
		for x != nil {
			select {
			case <-x.over:
			case <-b.d.gone:
				return
			}
			if !x.end.lost {
				return
			}
			if x = b.reclaim(ctx, x.claim.Run); x != nil {
				x.log.Warn("a run was claimed again")
				b.d.start(ctx, x)
			}
		}
	})
}

// reclaim claims a run again, nil if it does not go on, somebody has it, or the
// backend is closed.
func (b *queueBackend) reclaim(ctx context.Context, id harness.RunID) *drive {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		select {
		case <-time.After(wait):
		case <-b.d.gone:
			return nil
		}
		x, err := b.again(ctx, id)
		if err == nil {
			return x
		}
		holder, held := harness.AsHeld(err)
		if held && !same(holder, b.d.o.Holder) || final(err) || errors.Is(err, errRests) {
			return nil
		}
		b.d.o.Logger.Warn("claim a run again", slog.String("run", string(id)), slog.String("error", err.Error()))
	}
}

// same reports whether two holders are one process: the queue may hold a claim for
// lost a little later than this process does.
func same(a, b harness.Holder) bool { return a.PID == b.PID && a.Host == b.Host }

// errRests means that a run is at rest.
var errRests = errors.New("the run rests")

// again claims a run that is to go on and gets ready to drive it.
func (b *queueBackend) again(ctx context.Context, id harness.RunID) (*drive, error) {
	ctx, stop := context.WithTimeout(ctx, appendTimeout)
	defer stop()
	j, err := b.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if j.Run.Status != harness.RunRunning {
		return nil, errRests
	}
	from := b.d.o.Now()
	c, err := b.Claim(ctx, id, b.d.o.Holder)
	if err != nil {
		return nil, err
	}
	x, err := b.open(ctx, c, from)
	if err != nil {
		return nil, err
	}
	if err := x.prepare(ctx); err != nil {
		b.unfit(ctx, x, err)
		return nil, errRests
	}
	return x, nil
}

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// QueueOptions are the parts of a [Backend] that [NewQueueBackend] makes.
type QueueOptions struct {
	DriverOptions
}

// NewQueueBackend returns a backend that keeps runs in a queue and drives those in
// this process that are to be driven here. [Backend].Close closes the queue too.
func NewQueueBackend(o QueueOptions) Backend {
	return &queueBackend{Queue: o.Queue, d: newDriver(o.DriverOptions)}
}

// queueBackend is a [Queue] with a driver in front.
type queueBackend struct {
	Queue

	d *driver
}

// Submit implements [Backend].
func (b *queueBackend) Submit(ctx context.Context, s Submission) error {
	from := b.d.o.Now()
	c, err := b.Queue.Submit(ctx, s, b.d.o.Holder)
	switch {
	case errors.Is(err, harness.ErrExists):
		return nil
	case err != nil:
		return err
	case !s.Here:
		return nil
	}
	x, err := b.open(ctx, c, from)
	if err != nil {
		return err
	}
	if err := x.prepare(ctx); err != nil {
		b.unfit(ctx, x, err) // the run is there, and tells it
		return nil
	}
	b.drive(ctx, x)
	return nil
}

// unfit gives a run back that was to be driven here and cannot be: it waits for
// others if this process is not fit for it, and has failed if nobody is.
func (b *queueBackend) unfit(ctx context.Context, x *drive, err error) {
	refused := err.Error()
	if !errors.Is(err, ErrUnfit) {
		if e := x.fail(ctx, err); e == nil {
			refused = ""
		}
	}
	if e := x.release(ctx, refused); e != nil {
		x.log.Warn("give a run back", slog.String("error", e.Error()))
	}
}

// open reads a claimed run; it is given back if that does not work.
func (b *queueBackend) open(ctx context.Context, c Claim, from time.Time) (*drive, error) {
	x, err := b.d.open(ctx, c, from)
	if err != nil {
		return nil, errors.Join(err, b.d.release(ctx, c, ""))
	}
	return x, nil
}

// How often, and for how long, a run is asked for that rests and whose driver has
// not let go of it yet.
const (
	claimEvery = 20 * time.Millisecond
	claimWait  = 3 * time.Second
)

// claim claims a run that nobody drives. One that rests is waited for a moment.
func (b *queueBackend) claim(ctx context.Context, id harness.RunID) (*drive, error) {
	for waited := time.Duration(0); ; waited += claimEvery {
		from := b.d.o.Now()
		c, err := b.Claim(ctx, id, b.d.o.Holder)
		if err == nil {
			return b.open(ctx, c, from)
		}
		if _, held := harness.AsHeld(err); !held || waited >= claimWait {
			return nil, err
		}
		if j, e := b.Get(ctx, id); e != nil || j.Run.Status == harness.RunRunning {
			return nil, errors.Join(err, e)
		}
		select {
		case <-time.After(claimEvery):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Resume implements [Backend].
func (b *queueBackend) Resume(ctx context.Context, id harness.RunID, how harness.ResumeHow, here bool) error {
	if err := known(id, how); err != nil {
		return err
	}
	x, err := b.claim(ctx, id)
	if err != nil {
		return fmt.Errorf("resume run %s: %w", id, err)
	}
	err = b.resume(ctx, x, how, here && !ends(how))
	if err != nil {
		return errors.Join(fmt.Errorf("resume: %w", err), b.giveBack(ctx, x, err))
	}
	return b.goOn(ctx, x, here && !ends(how))
}

// forceful is a [Queue] that gives a run also if a living process has it, whose
// next write is [harness.ErrLost] then.
type forceful interface {
	Force(ctx context.Context, id harness.RunID, h harness.Holder) (Claim, error)
}

// Wrest implements [Wrester].
func (b *queueBackend) Wrest(ctx context.Context, id harness.RunID) error {
	q, ok := b.Queue.(forceful)
	if !ok {
		return fmt.Errorf("take run %s from its driver: %w", id, errors.ErrUnsupported)
	}
	c, err := q.Force(ctx, id, b.d.o.Holder)
	if err != nil {
		return fmt.Errorf("take run %s from its driver: %w", id, err)
	}
	// What was under way stays in doubt: whoever takes the run next is to know.
	return b.d.release(ctx, c, "")
}

// resume stores how a claimed run goes on or ends.
func (b *queueBackend) resume(ctx context.Context, x *drive, how harness.ResumeHow, here bool) error {
	if x.job.Run.Status.Closed() {
		return fmt.Errorf("run %s has ended (%s)", x.claim.Run, x.job.Run.Status)
	}
	if here {
		if err := x.prepare(ctx); err != nil {
			return err
		}
	}
	info, state, _, err := x.local.load(ctx, x.claim.Run)
	if err != nil {
		return err
	}
	if !ends(how) && info.Status == harness.RunRunning && !x.afresh && info.Partial == nil {
		return nil // nobody took it yet: it goes on as it is
	}
	return x.store(ctx, info, state, resumes(info, state, how))
}

// store stores what a claimed run goes on with.
func (x *drive) store(ctx context.Context, info harness.Run, state loop.State, records []loop.Record) error {
	a := x.local.stretch(harness.Lease{}, info, state, agent.Steps{}, 0)
	usage := lostUsage(info, state)
	if !x.claim.Broken {
		usage = harness.Usage{}
	}
	if err := a.once(ctx, usage, records...); err != nil {
		return err
	}
	if a.info.Status == harness.RunRunning {
		a.count(context.WithoutCancel(ctx), attempts(info, state))
	}
	x.afresh = false
	x.job.Run = a.info
	return nil
}

// giveBack gives a claimed run back that stays as it was: broken, if it was.
func (b *queueBackend) giveBack(ctx context.Context, x *drive, why error) error {
	refused := ""
	if errors.Is(why, ErrUnfit) {
		refused = why.Error()
	}
	return x.release(ctx, refused)
}

// goOn drives a claimed run here, or leaves it to whoever takes it next.
func (b *queueBackend) goOn(ctx context.Context, x *drive, here bool) error {
	if here {
		b.drive(ctx, x)
		return nil
	}
	if err := x.release(ctx, ""); err != nil {
		x.log.Warn("give a run back", slog.String("error", err.Error()))
	}
	return nil
}

// Decide implements [Backend].
func (b *queueBackend) Decide(ctx context.Context, id harness.RunID, here bool, ds ...harness.Decision) error {
	x, err := b.claim(ctx, id)
	if _, held := harness.AsHeld(err); held {
		return fmt.Errorf("decide: run %s goes on: %w: %w", id, harness.ErrBusy, err)
	}
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	on, err := b.decide(ctx, x, here, ds)
	if err != nil {
		return errors.Join(fmt.Errorf("decide: %w", err), b.giveBack(ctx, x, err))
	}
	return b.goOn(ctx, x, here && on)
}

// decide stores decisions about a claimed run and reports whether it goes on.
func (b *queueBackend) decide(ctx context.Context, x *drive, here bool, ds []harness.Decision) (on bool, err error) {
	info, state, _, err := x.local.load(ctx, x.claim.Run)
	if err != nil {
		return false, err
	}
	if info.Status.Closed() {
		return false, fmt.Errorf("run %s has ended (%s) and waits for nothing: %w", info.ID, info.Status, harness.ErrNotFound)
	}
	records, after, err := decisions(info, state, ds)
	if err != nil {
		return false, fmt.Errorf("run %s: %w", info.ID, err)
	}
	on = after.Status() == harness.RunRunning
	if on && here {
		x.given(state, records)
		if err := x.prepare(ctx); err != nil {
			return false, err
		}
	}
	return on, x.store(ctx, info, state, records)
}

// given adds the rules that decisions give to what the run carries.
func (x *drive) given(s loop.State, records []loop.Record) {
	for _, r := range records {
		if g, ok := granted(x.carried.Session.ID, s, r); ok {
			x.carried.Grants = append(x.carried.Grants, g)
		}
		s, _ = loop.Step(s, r)
	}
}

// Ask implements [Jobs]. What nobody drives is cancelled or paused here.
func (b *queueBackend) Ask(ctx context.Context, id harness.RunID, ask Ask) error {
	if err := b.Queue.Ask(ctx, id, ask); err != nil {
		return err
	}
	if x := b.d.find(id); x != nil {
		x.obey(context.WithoutCancel(ctx), ask)
		return nil
	}
	x, err := b.claim(ctx, id)
	if _, held := harness.AsHeld(err); held {
		return nil // its driver sees it
	}
	if err != nil {
		return fmt.Errorf("%s run %s: %w", ask, id, err)
	}
	info, state, _, err := x.local.load(ctx, id)
	if err == nil {
		if records := asked(info, state, ask); len(records) > 0 {
			err = x.store(ctx, info, state, records)
		}
	}
	return errors.Join(err, b.giveBack(ctx, x, nil))
}

// asked returns the records of what is asked of a run that nobody drives.
func asked(info harness.Run, s loop.State, ask Ask) []loop.Record {
	switch {
	case info.Status.Closed():
		return nil
	case ask == AskCancel:
		return resumes(info, s, harness.ResumeClose)
	case ask == AskPause && info.Status == harness.RunRunning:
		return []loop.Record{loop.Rested{Status: harness.RunPaused}}
	default:
		return nil
	}
}

// Live implements [Backend].
func (b *queueBackend) Live(ctx context.Context, id harness.RunID) (<-chan harness.Event, bool) {
	return b.d.live.Follow(ctx, id)
}

// Close implements [Backend].
func (b *queueBackend) Close(ctx context.Context) error {
	return errors.Join(b.d.close(ctx, errPaused, pauseGrace), b.Queue.Close())
}

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// drive is one claimed run in this process, from its claim to its release.
type drive struct {
	d       *driver
	claim   Claim
	job     Job
	carried Carried
	away    bool
	desk    *Desk
	local   *Local
	steps   agent.Steps
	log     *slog.Logger
	// afresh says that what was under way is in doubt, so that the run is taken up
	// and does not just go on.
	afresh bool

	// left closes when the process is to leave the run, over when it has.
	left, over chan struct{}

	mu sync.Mutex
	// why is the reason to leave, grace what tools get then; nil while there is none.
	why   error
	grace time.Duration
	// until is when the lease is surely over, by this process's clock; zero if the
	// queue tells otherwise whether the driver lives.
	until time.Time
	lost  bool
	// unrenewed says that the last renewal failed, which was logged.
	unrenewed bool
	// asking says that what was asked of the driver is being done.
	asking atomic.Bool

	// letGo ends renewing the claim and waits for that.
	letGo func()
	// end is how it ended, once it is over.
	end drivenEnd
}

// drivenEnd says how a drive ended.
type drivenEnd struct {
	result  harness.Result
	lost    bool
	refused string
	err     error
}

// hold renews the claim from now on, also while the parts that carry out the run are
// got ready: connecting to servers of tools may take longer than a lease.
func (x *drive) hold(ctx context.Context) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var keeping sync.WaitGroup
	keeping.Go(func() { x.keep(ctx) })
	x.letGo = func() {
		stop()
		keeping.Wait()
	}
}

// release gives the run back.
func (x *drive) release(ctx context.Context, refused string) error {
	x.letGo()
	return x.d.release(ctx, x.claim, refused)
}

// prepare makes the parts that carry out the run.
func (x *drive) prepare(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			x.log.Error("panic before a run", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("run %s: %w: %v", x.claim.Run, errInternal, p)
		}
	}()
	steps, err := x.d.o.Steps(x.desk.Context(ctx), x.job, x.carried)
	if err != nil {
		return err
	}
	if x.away {
		steps.Used = nil // the entry of the answer tells it
	}
	if steps.Tools != nil {
		steps.Tools = x.desk.Tools(steps.Tools)
	}
	x.steps = steps
	x.steps, err = x.local.steps(ctx, x.job.Run.Config)
	return err
}

// run drives the run until it rests, is left or lost, and gives it back.
func (x *drive) run(ctx context.Context) {
	x.end = x.carry(ctx)
	x.settle(ctx)
	x.letGo()
	if x.end.lost || x.end.err != nil && x.end.refused == "" {
		return // it is another's, or broken: whoever takes it next is to know
	}
	if err := x.release(ctx, x.end.refused); err != nil {
		x.log.Warn("give a run back", slog.String("error", err.Error()))
	}
}

// carry drives stretch after stretch: one whose end could not be stored is taken
// up again when the queue can be written.
func (x *drive) carry(ctx context.Context) drivenEnd {
	ask := x.job.Asked
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		res, err := x.stretch(ctx, ask)
		switch {
		case err == nil:
			return drivenEnd{result: res}
		case errors.Is(err, harness.ErrLost), x.alive() != nil:
			x.log.Warn("the claim of a run is over: another driver has it, or its time ran out")
			return drivenEnd{lost: true, err: harness.ErrLost}
		case final(err) && !errors.Is(err, harness.ErrStale):
			x.log.Error("a run cannot be driven", slog.String("error", err.Error()))
			return drivenEnd{err: err, refused: err.Error()}
		}
		x.log.Warn("a run could not be stored; it is taken up again", slog.String("error", err.Error()), slog.Duration("wait", wait))
		x.afresh = true
		select {
		case <-time.After(wait):
		case <-x.left:
			return drivenEnd{err: err}
		}
	}
}

// stretch drives one stretch of the run, unless something else was asked before.
func (x *drive) stretch(ctx context.Context, ask Ask) (harness.Result, error) {
	info, state, _, err := x.local.load(ctx, x.claim.Run)
	if err != nil {
		return harness.Result{}, err
	}
	if records := asked(info, state, ask); len(records) > 0 {
		err := x.store(ctx, info, state, records)
		return harness.Result{Run: info.ID, Session: info.Session, Status: x.job.Run.Status, Usage: x.job.Run.Usage}, err
	}
	if info.Status != harness.RunRunning {
		return resultOf(info, state), nil
	}
	a, err := x.local.goOn(ctx, harness.Lease{Session: x.job.Run.Session, Generation: x.claim.Generation}, x.claim.Run, x.afresh)
	if err != nil {
		return harness.Result{}, err
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-x.left:
			grace, why := x.reason()
			_ = a.rest(ctx, why, grace) // how it ended is in the result
		case <-over:
		}
	}()
	res, err := a.Wait(ctx)
	if err == nil {
		err = a.broke
	}
	return res, err
}

// goOn drives a run that this process has claimed: as it is stored, or, if what was
// under way is in doubt, from a new stretch that says so.
func (l *Local) goOn(ctx context.Context, lease harness.Lease, id harness.RunID, afresh bool) (*active, error) {
	s, _, err := l.take(ctx, lease.Session, "")
	if err != nil {
		return nil, err
	}
	a, made, err := l.stored(ctx, lease, id)
	if err == nil && afresh {
		a, err = l.takeUp(ctx, lease, id, harness.ResumeRetry)
	}
	if err != nil {
		l.giveUp(lease.Session, s)
		return nil, err
	}
	a.turn.Attempt = max(a.turn.Attempt, made)
	l.begin(ctx, s, a)
	return a, nil
}

// stored prepares a stretch that goes on where the journal is. made is how many
// attempts to answer left something: half answers are not among those that the
// state counts.
func (l *Local) stored(ctx context.Context, lease harness.Lease, id harness.RunID) (a *active, made int, err error) {
	info, state, numbers, err := l.load(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	entries, err := l.o.Journal.Read(ctx, id, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("run %s: %w", id, err)
	}
	steps, err := l.steps(ctx, info.Config)
	if err != nil {
		return nil, 0, err
	}
	a = l.stretch(lease, info, state, steps, attempts(info, state))
	a.numbers = numbers
	for _, e := range entries {
		switch e.Kind {
		case kindAnswered:
			made = 0
		case kindCut:
			made++
		}
	}
	return a, state.Attempts() + made, nil
}

// settle does what was asked of the driver and came too late for the run itself: a
// run that rests is cancelled all the same.
func (x *drive) settle(ctx context.Context) {
	if x.end.err != nil || x.end.result.Status.Closed() || x.end.result.Status == harness.RunRunning {
		return
	}
	if x.renew(ctx) != AskCancel {
		return
	}
	if _, err := x.local.takeUp(ctx, harness.Lease{Generation: x.claim.Generation}, x.claim.Run, harness.ResumeClose); err != nil {
		x.log.Warn("cancel a run that came to rest", slog.String("error", err.Error()))
		return
	}
	x.end.result.Status, x.end.result.Stop = harness.RunCancelled, harness.StopCancelled
}

// leave tells the drive to end, for the first reason that is given. It does not
// wait.
func (x *drive) leave(why error, grace time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.why != nil {
		return
	}
	x.why, x.grace = why, grace
	close(x.left)
}

func (x *drive) reason() (grace time.Duration, why error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.grace, x.why
}

// keep renews the claim until ctx ends, and does what is asked meanwhile. A renewal
// that fails ends nothing: only a claim that was lost does, or one whose time is
// over by this process's own clock.
func (x *drive) keep(ctx context.Context) {
	every := min(x.d.o.Lease/3, time.Second)
	for {
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
		switch ask := x.renew(ctx); {
		case x.alive() != nil:
			x.drop()
			return
		case ask != AskNothing:
			x.obey(ctx, ask)
		}
	}
}

// renew renews the claim once and returns what is asked of the driver.
func (x *drive) renew(ctx context.Context) Ask {
	from := x.d.o.Now()
	once, stop := context.WithTimeout(ctx, x.patience(from))
	defer stop()
	ask, err := x.d.o.Queue.Renew(once, x.claim)
	switch {
	case err == nil:
		x.renewed(from)
		return ask
	case errors.Is(err, harness.ErrLost):
		x.mu.Lock()
		x.lost = true
		x.mu.Unlock()
	case ctx.Err() == nil:
		x.mu.Lock()
		told := x.unrenewed
		x.unrenewed = true
		x.mu.Unlock()
		if !told { // not every second, however long a server is away
			x.log.Warn("renew a claim", slog.String("error", err.Error()))
		}
	}
	return AskNothing
}

// patience is for how long a renewal that begins now may take.
func (x *drive) patience(now time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.until.IsZero() {
		return storeTimeout
	}
	return min(storeTimeout, max(x.until.Sub(now), 0))
}

// renewed notes that the claim counted at a time.
func (x *drive) renewed(from time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unrenewed = false
	if until := from.Add(x.d.o.Lease); !x.claim.Until.IsZero() && until.After(x.until) {
		x.until = until
	}
}

// alive returns [harness.ErrLost] if the claim was lost, or is over by this
// process's own clock.
func (x *drive) alive() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lost || !x.until.IsZero() && x.d.o.Now().After(x.until) {
		return fmt.Errorf("the claim of run %s is over: %w", x.claim.Run, harness.ErrLost)
	}
	return nil
}

// drop ends the stretch of a claim that was lost: it writes nothing more, and
// starts no further tool.
func (x *drive) drop() {
	if a := x.local.find(x.claim.Run); a != nil {
		a.cancel(harness.ErrLost)
	}
	x.leave(harness.ErrLost, 0)
}

// obey does what is asked of the driver. It does not wait for it, so that the claim
// is renewed meanwhile; what cannot be done now is asked again.
func (x *drive) obey(ctx context.Context, ask Ask) {
	if x.asking.Swap(true) {
		return
	}
	go func() {
		defer x.asking.Store(false)
		var err error
		switch ask {
		case AskCancel:
			if a := x.local.find(x.claim.Run); a != nil {
				err = x.local.Cancel(ctx, x.claim.Run)
			}
		case AskPause:
			if a := x.local.find(x.claim.Run); a != nil {
				err = a.pause(ctx)
			}
		case AskNothing:
		}
		if err != nil && ctx.Err() == nil {
			x.log.Warn("do what was asked", slog.String("ask", string(ask)), slog.String("error", err.Error()))
		}
	}()
}

// fail ends the run as failed, because it cannot be carried out here.
func (x *drive) fail(ctx context.Context, err error) error {
	info, state, _, e := x.local.load(ctx, x.claim.Run)
	if e != nil {
		return e
	}
	a := x.local.stretch(harness.Lease{}, info, state, agent.Steps{}, 0)
	return a.once(ctx, harness.Usage{}, loop.Rested{Status: harness.RunFailed, Stop: harness.StopError, Error: agent.Failure(err)})
}

// track notes in open which calls began and have no end.
func track(open map[string]bool, r loop.Record) {
	switch r := r.(type) {
	case loop.Began:
		open[r.CallID] = true
	case loop.Ended:
		for _, id := range resultsOf(&r.Message) {
			delete(open, id)
		}
	case loop.Resolved:
		if r.How == harness.DecideRetry {
			delete(open, r.CallID)
		}
	case loop.Resumed, loop.Answered:
		clear(open)
	}
}

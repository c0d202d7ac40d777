package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
)

const (
	// unclaimedAfter is how long a run may wait for somebody to drive it before
	// that is told.
	unclaimedAfter = 5 * time.Second
	// lookEvery is how long nothing may be told of a run that is driven elsewhere
	// before it is looked at: that its driver is silent is told by nobody. While a
	// model answers it is streamEvery, as not every backend tells of streamed text.
	lookEvery   = 5 * time.Second
	streamEvery = time.Second
	// textEvery is the least pause between two looks at text that streams elsewhere.
	textEvery = 300 * time.Millisecond
	// releasedWithin bounds the wait for the driver of a run at rest to give it back.
	releasedWithin = 2 * time.Second
	// answerWithin bounds what is asked of an engine beside the way.
	answerWithin = 2 * time.Second
)

// following follows one run of a backend until it rests and, with a lease, hands
// over what it does. It is the run's handle.
type following struct {
	r     *Remote
	lease harness.Lease
	// hands says that the lease is one.
	hands  bool
	id     harness.RunID
	m      *mirror
	stream *stream
	base   int

	cancel context.CancelFunc
	gone   chan struct{}
	// kick asks to look at once, as this process may drive the run by now.
	kick chan struct{}

	// The rest is known to the follower alone.
	job  Job
	live <-chan harness.Event
	said said
	// failed counts the tries in a row that did not work.
	failed int
	// unclaimed runs while nobody drives the run, which is told once it is due; told
	// is what was said. late says that the driver of a run at rest keeps it.
	unclaimed, look, resting *time.Timer
	due, late                bool
	told                     string
}

// following prepares to follow a run from entry base on.
func (r *Remote) following(l harness.Lease, m *mirror, base int) *following {
	return &following{
		r: r, lease: l, hands: l.Session != "", id: m.info.ID, m: m, stream: newStream(base), base: base,
		gone: make(chan struct{}), kick: make(chan struct{}, 1), cancel: func() {},
		said: said{answered: m.state.Attempts()},
	}
}

// begin follows until the run rests, on a context of its own.
func (r *Remote) begin(ctx context.Context, f *following) {
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		f.cancel()
	}
	r.follows[f] = struct{}{}
	go f.run(ctx)
}

// find returns who follows a run and hands it over, nil if nobody does here.
func (r *Remote) find(id harness.RunID) *following {
	r.mu.Lock()
	defer r.mu.Unlock()
	for f := range r.follows {
		if f.id == id && f.hands {
			return f
		}
	}
	return nil
}

// run follows until the run rests or is left.
func (f *following) run(ctx context.Context) {
	defer close(f.gone)
	defer f.cancel()
	for {
		rests, err := f.watch(ctx)
		var home *homeError
		switch {
		case rests:
			f.rest(ctx)
			return
		case ctx.Err() != nil:
			f.left(ctx)
			return
		case final(err):
			f.broke(err)
			return
		}
		wait := min(time.Second<<min(f.failed, 5), 30*time.Second)
		f.failed++
		kind := "engine"
		if errors.As(err, &home) {
			kind = "store"
		}
		f.r.o.Logger.Error("follow", attrs(f.id, err)...)
		f.emit(harness.Event{
			Type: harness.EventWaiting, Wait: int(wait / time.Second), Error: &harness.RunError{Kind: kind, Text: err.Error()},
		})
		select {
		case <-time.After(wait):
		case <-f.kick:
		case <-ctx.Done():
		}
	}
}

// watch looks at the run whenever it changed, until it rests or something fails.
func (f *following) watch(ctx context.Context) (rests bool, err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	changes, err := f.r.o.Backend.Watch(ctx, f.id)
	if err != nil {
		return false, fmt.Errorf("watch run %s at %s: %w", f.id, f.r.o.Engine, err)
	}
	defer f.still()
	var pause <-chan time.Time
	for {
		text, err := f.pass(ctx)
		if err != nil {
			return false, err
		}
		f.failed = 0
		if f.rests() {
			return true, nil
		}
		if text {
			pause = time.After(textEvery)
		}
		if again, err := f.wait(ctx, changes, pause); !again {
			return false, err
		}
		pause = nil
	}
}

// wait returns when it is time to look again. While pause lasts changes wait.
func (f *following) wait(ctx context.Context, changes <-chan struct{}, pause <-chan time.Time) (again bool, err error) {
	news := changes
	if pause != nil {
		news = nil
	}
	for {
		select {
		case <-pause:
			pause, news = nil, changes
		case _, ok := <-news:
			if !ok && ctx.Err() == nil {
				return false, fmt.Errorf("watch run %s at %s: %w", f.id, f.r.o.Engine, errUnwatched)
			}
			return ok, ctx.Err()
		case e, ok := <-f.live:
			if !ok {
				f.live = nil
				return true, nil // the stretch is over
			}
			f.show(e)
		case <-fires(f.unclaimed):
			f.unclaimed, f.due = nil, true
			return true, nil
		case <-fires(f.look):
			f.look = nil
			return true, nil
		case <-fires(f.resting):
			f.resting, f.late = nil, true
			return true, nil
		case <-f.kick:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// errUnwatched means that a backend tells of changes no more.
var errUnwatched = errors.New("it tells of changes no more")

// fires returns the channel of a timer, or one that nothing comes from.
func fires(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// pass takes in what the run did. text says that only streamed text came.
func (f *following) pass(ctx context.Context) (text bool, err error) {
	for {
		job, err := f.r.o.Backend.Get(ctx, f.id)
		if err != nil {
			return false, fmt.Errorf("run %s at %s: %w", f.id, f.r.o.Engine, err)
		}
		if err := f.m.knows(job); err != nil {
			return false, err
		}
		f.job = job
		if job.Run.Cursor == f.m.info.Cursor {
			break
		}
		if err := f.read(ctx); err != nil {
			return false, err
		}
	}
	if f.live == nil {
		f.live, _ = f.r.o.Backend.Live(ctx, f.id)
	}
	f.mind()
	if f.live != nil || f.m.info.Status != harness.RunRunning {
		return false, nil
	}
	return f.partial(f.job.Run.Partial), nil
}

// read takes in the entries that are new.
func (f *following) read(ctx context.Context) error {
	entries, err := f.r.newer(ctx, f.m)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("run %s at %s: entries after %d are missing: %w", f.id, f.r.o.Engine, f.m.info.Cursor, harness.ErrDamaged)
	}
	if f.hands {
		return f.r.deliver(ctx, f.lease, f.m, entries, f.take)
	}
	for _, e := range entries {
		e.Record = 0
		if err := f.take(e); err != nil {
			return err
		}
	}
	return nil
}

// take shows an entry that is stored where it belongs.
func (f *following) take(e Entry) error {
	f.drain()
	events, rec, err := f.m.take(e)
	if err != nil {
		return err
	}
	for _, ev := range events {
		f.emit(ev)
	}
	f.stream.reached(e.Seq)
	for _, lost := range failures(e) {
		f.emit(harness.Event{Type: harness.EventRecovery, Text: lost})
	}
	switch rec := rec.(type) {
	case loop.Answered:
		f.said.answered = max(f.said.answered, rec.Attempt)
	case loop.Cut:
		f.said.answered = max(f.said.answered, f.said.attempt)
	}
	return nil
}

// mind sets the timers as the run needs them.
func (f *following) mind() {
	running := f.m.info.Status == harness.RunRunning
	free := running && f.job.Run.Worker == nil && f.live == nil
	switch {
	case !free:
		stop(&f.unclaimed)
		f.due, f.told = false, ""
	case f.due:
		f.unclaim() // the reason may be another by now
	case f.unclaimed == nil:
		f.unclaimed = time.NewTimer(unclaimedAfter)
	}
	stop(&f.look)
	if running && f.job.Run.Worker != nil && f.live == nil {
		every := lookEvery
		if f.m.state.Calls() {
			every = streamEvery
		}
		f.look = time.NewTimer(every)
	}
	switch {
	case running:
		stop(&f.resting)
		f.late = false
	case f.resting == nil && !f.late:
		f.resting = time.NewTimer(releasedWithin)
	}
}

// still stops the timers.
func (f *following) still() {
	stop(&f.unclaimed)
	stop(&f.look)
	stop(&f.resting)
}

func stop(t **time.Timer) {
	if *t != nil {
		(*t).Stop()
	}
	*t = nil
}

// unclaim says that nobody drives the run, once for each reason.
func (f *following) unclaim() {
	why := f.job.Run.Waits
	switch {
	case why != "":
	case f.job.Run.Interrupted:
		why = "whoever drove it is gone, and no worker has taken it up"
	default:
		why = "no worker has taken it"
	}
	if why != f.told {
		f.told = why
		f.emit(harness.Event{Type: harness.EventUnclaimed, Text: why})
	}
}

// rests reports whether the run is at rest and given back, so that whoever is told
// can decide about it at once. A driver that does not give it back is not waited
// for long.
func (f *following) rests() bool {
	return f.m.info.Status != harness.RunRunning && (f.job.Run.Worker == nil || f.late)
}

// emit shows an event.
func (f *following) emit(e harness.Event) {
	e.Session, e.Run = f.m.info.Session, f.id
	if e.At.IsZero() {
		e.At = f.r.o.Now()
	}
	f.stream.add(e)
}

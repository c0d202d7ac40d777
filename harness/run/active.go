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

// Why a stretch was told to end.
var (
	errCancelled = errors.New("cancelled")
	errPaused    = errors.New("paused")
	// errHanded leaves the run running, for whoever drives it next.
	errHanded = errors.New("handed back")
)

// errInternal means that code below panicked.
var errInternal = errors.New("internal error")

// active is one stretch of one run in this process. It is the turn's sink and
// the run's handle.
type active struct {
	local  *Local
	lease  harness.Lease
	info   harness.Run
	turn   *agent.Turn
	stream *stream
	base   int

	// cancel ends the stretch at once, soft lets a running tool finish.
	cancel, soft context.CancelCauseFunc
	// cancelled says that the stretch was told to end as cancelled.
	cancelled atomic.Bool

	// saving is held while the journal or the partial text is written, so that
	// a half answer is never stored behind the whole one.
	saving sync.Mutex
	state  loop.State
	// numbers are those of the messages in state.
	numbers agent.Numbers
	// heard is what was said into the run and the turn was not told yet.
	heard []loop.Record
	// saved is the half answer on disk. Attempts up to answered are whole.
	saved    harness.Partial
	answered int
	kick     chan struct{}

	// broke says why the end could not be stored; set before the stream ends.
	broke error
}

// Put implements [agent.Sink]. A store that cannot take the records now, such
// as a full disk, is tried again until it can or the run is stopped: the person
// sees a notice, and what was answered is not lost.
func (a *active) Put(ctx context.Context, usage harness.Usage, records ...loop.Record) ([]agent.Stored, error) {
	entries, err := entriesOf(a.local.now(), usage, records...)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.info.ID, err)
	}
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		stored, err := a.write(ctx, entries, records)
		if err == nil {
			return stored, nil
		}
		if final(err) || errors.Is(err, agent.ErrSteered) {
			return nil, err
		}
		a.local.o.Logger.Error("journal", slog.String("run", string(a.info.ID)), slog.String("error", err.Error()))
		a.Emit(harness.Event{
			Type: harness.EventWaiting, Wait: int(wait / time.Second),
			Error: &harness.RunError{Kind: "store", Text: err.Error()},
		})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			// There may be room by now, and nobody will try again.
			if stored, e := a.write(ctx, entries, records); e == nil {
				return stored, nil
			}
			return nil, err
		}
	}
}

// final reports whether trying to store again cannot help.
func final(err error) bool {
	for _, e := range []error{harness.ErrLost, harness.ErrStale, harness.ErrClosed, harness.ErrDamaged, harness.ErrNewer, harness.ErrForeign, harness.ErrNotFound} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (a *active) write(ctx context.Context, entries []Entry, records []loop.Record) ([]agent.Stored, error) {
	ctx = context.WithoutCancel(ctx) // a commit that has begun is finished
	a.stream.flush()                 // what streamed is seen before the disk is waited for
	a.saving.Lock()
	defer a.saving.Unlock()
	last := entries[len(entries)-1]
	if last.Status == harness.RunFailed || last.Status == harness.RunPaused {
		if err := a.savePartial(ctx); err != nil {
			return nil, err
		}
	}
	done, err := a.append(ctx, entries, records)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.info.ID, err)
	}
	stored := make([]agent.Stored, len(done))
	for i, e := range done {
		stored[i] = agent.Stored{Seq: e.Seq, Record: e.Record}
		a.follow(e, records[i])
	}
	return stored, nil
}

// follow tells of a stored entry and brings the stretch up to it. The caller holds
// saving.
func (a *active) follow(e Entry, r loop.Record) {
	for _, ev := range agent.EventsOf(a.state, r, agent.Stored{Seq: e.Seq, Record: e.Record}, e.At) {
		a.tell(ev)
	}
	a.stream.reached(e.Seq)
	before := a.state
	a.state, _ = loop.Step(a.state, r)
	a.numbers = a.numbers.Step(before, a.state, e.Record)
	a.take(e)
	if r, ok := r.(loop.Answered); ok {
		a.answered = r.Attempt
	}
}

// take brings info up to a stored entry.
func (a *active) take(e Entry) {
	a.info.Cursor, a.info.Updated = e.Seq, e.At
	a.info.Usage = a.info.Usage.Add(e.Usage)
	if e.Message != nil && e.Message.Role == harness.RoleAssistant || e.Status.Closed() {
		a.saved = harness.Partial{} // the journal removed it
	}
	if e.Status != "" {
		a.info.Status, a.info.Stop, a.info.Error = e.Status, e.Stop, e.Error
	}
}

// Emit implements [agent.Sink]: what it shows is in no entry.
func (a *active) Emit(e harness.Event) {
	e = a.tell(e)
	if a.local.o.Live != nil {
		a.local.o.Live(a.info.ID, e)
	}
}

// tell shows an event to those who follow the stretch.
func (a *active) tell(e harness.Event) harness.Event {
	e.Session, e.Run = a.info.Session, a.info.ID
	if e.At.IsZero() {
		e.At = a.local.now()
	}
	a.stream.add(e)
	return e
}

// Streamed implements [agent.Sink].
func (a *active) Streamed() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// partialEvery is the pause between two saves of the half answer. With the time
// of the commit it stays below the promised second.
const partialEvery = 700 * time.Millisecond

// saver keeps the half answer on disk until stop closes. If that does not work
// the person is told once, and it goes on trying.
func (a *active) saver(ctx context.Context, stop <-chan struct{}) {
	failing := false
	for {
		select {
		case <-a.kick:
		case <-stop:
			return
		}
		select {
		case <-time.After(partialEvery):
		case <-stop:
			return
		}
		a.saving.Lock()
		err := a.savePartial(ctx)
		a.saving.Unlock()
		switch {
		case err == nil:
			failing = false
			continue
		case errors.Is(err, harness.ErrLost):
			a.cancel(err)
			return
		case !failing:
			a.local.o.Logger.Warn("save partial", slog.String("run", string(a.info.ID)), slog.String("error", err.Error()))
			a.Emit(harness.Event{Type: harness.EventWaiting, Wait: 1, Error: &harness.RunError{Kind: "store", Text: err.Error()}})
		}
		failing = true
		a.Streamed() // the text is still to be saved
	}
}

// savePartial brings the half answer on disk up to date. The caller holds
// saving.
func (a *active) savePartial(ctx context.Context) error {
	p := a.partial()
	if p == nil {
		if a.saved.Text+a.saved.Thinking == "" {
			return nil
		}
		// What is on disk is void: the attempt began anew, or was empty.
		p = &harness.Partial{Attempt: a.saved.Attempt, At: a.local.now()}
	}
	if p.Attempt == a.saved.Attempt && len(p.Text) == len(a.saved.Text) && len(p.Thinking) == len(a.saved.Thinking) {
		return nil
	}
	if err := a.local.o.Journal.SavePartial(context.WithoutCancel(ctx), a.lease, a.info.ID, *p); err != nil {
		return err
	}
	a.saved = *p
	return nil
}

// partial returns the half answer that is under way, nil if there is none: the
// turn still has the text of an answer for a moment after it is stored.
func (a *active) partial() *harness.Partial {
	p := a.turn.Partial()
	if p == nil || p.Attempt <= a.answered {
		return nil
	}
	return p
}

// drive runs the stretch to its rest.
func (a *active) drive(ctx context.Context) {
	defer a.local.wg.Done()
	stop, saved := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(saved)
		a.saver(ctx, stop)
	}()
	err := a.carry(ctx)
	close(stop)
	<-saved
	if err != nil {
		err = a.settle(ctx, err)
	}
	res := resultOf(a.info, a.state)
	if err != nil {
		// Nothing more can be stored: the run stays as the journal has it.
		res.Status, res.Stop = harness.RunFailed, harness.StopError
		res.Error = &harness.RunError{Kind: kindOf(err), Text: err.Error()}
	}
	a.local.leave(a, err)
	a.turn.Over(ctx, res)
	a.finish(res, err)
}

// finish tells how the stretch ended, as the last thing that is told of it.
// broke says that this could not be stored.
func (a *active) finish(res harness.Result, broke error) {
	a.broke = broke
	a.tell(harness.Event{Type: harness.EventResult, Seq: a.info.Cursor, Outcome: &res, At: a.info.Updated})
	a.stream.end(res, nil)
}

// carry drives the turn; a panic below becomes an error, because it must not
// take the terminal down with it.
func (a *active) carry(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.local.o.Logger.Error("panic in run", slog.String("run", string(a.info.ID)),
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("run %s: %w: %v", a.info.ID, errInternal, p)
		}
	}()
	if err := a.local.branch(ctx, a); err != nil {
		return err
	}
	a.turn.Numbers = a.numbers
	return a.turn.Drive(ctx, a.state)
}

// settle ends a stretch that was stopped from outside or broke.
func (a *active) settle(ctx context.Context, err error) error {
	why := context.Cause(a.turn.Soft) //nolint:contextcheck // why the stretch ended, which ctx does not say
	free := context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, harness.ErrLost), errors.Is(why, harness.ErrLost):
		return harness.ErrLost
	case a.cancelled.Load():
		records := loop.Cancel(a.state, a.partial(), a.info.Config.Model, false, harness.StopCancelled)
		return a.insist(free, a.turn.Lost(), records...)
	case errors.Is(why, errPaused):
		return a.insist(free, a.turn.Lost(), loop.Rested{Status: harness.RunPaused})
	case errors.Is(why, errHanded):
		if err := a.insist(free, a.turn.Lost(), loop.Resume(a.state, harness.ResumeRetry, a.partial(), a.info.Config.Model)...); err != nil {
			return err
		}
		a.count(free, a.turn.Attempt)
		return nil
	default:
		failed := loop.Rested{
			Status: harness.RunFailed, Stop: harness.StopError,
			Error: &harness.RunError{Kind: kindOf(err), Text: err.Error()},
		}
		if e := a.insist(free, a.turn.Lost(), failed); e != nil {
			return errors.Join(err, e)
		}
		return nil
	}
}

// count keeps the number of attempts that were made where no entry tells it, so that
// whoever drives the run next goes on counting: those who watch tell the texts of
// two attempts apart by it. Of no attempt is it worth to fail.
func (a *active) count(ctx context.Context, attempt int) {
	if attempt <= a.state.Attempts() {
		return
	}
	err := a.local.o.Journal.SavePartial(ctx, a.lease, a.info.ID, harness.Partial{Attempt: attempt, At: a.local.now()})
	if err != nil {
		a.local.o.Logger.Warn("keep the number of attempts", slog.String("run", string(a.info.ID)), slog.String("error", err.Error()))
	}
}

// How often, and how far apart, the end of a stretch is tried to be stored.
const (
	endTries = 3
	endPause = 100 * time.Millisecond
)

// insist is once with a few tries close together: the store may be in use just
// now, and whoever stopped the run waits.
func (a *active) insist(ctx context.Context, usage harness.Usage, records ...loop.Record) error {
	for n := 1; ; n++ {
		err := a.once(ctx, usage, records...)
		if err == nil || final(err) || n == endTries {
			return err
		}
		<-time.After(endPause)
	}
}

// once stores records with a single try.
func (a *active) once(ctx context.Context, usage harness.Usage, records ...loop.Record) error {
	for {
		entries, err := entriesOf(a.local.now(), usage, records...)
		if err != nil {
			return err
		}
		if _, err = a.write(ctx, entries, records); !errors.Is(err, agent.ErrSteered) {
			return err
		}
		records = a.including(records)
	}
}

func kindOf(err error) string {
	switch {
	case errors.Is(err, harness.ErrLost):
		return "lost"
	case errors.Is(err, errInternal):
		return "internal"
	default:
		return "store"
	}
}

// ID implements [harness.RunHandle].
func (a *active) ID() harness.RunID { return a.info.ID }

// Wait implements [harness.RunHandle].
func (a *active) Wait(ctx context.Context) (harness.Result, error) { return a.stream.wait(ctx) }

// Events implements [harness.RunHandle].
func (a *active) Events(ctx context.Context, after int) <-chan harness.Event {
	out := make(chan harness.Event, 16)
	go func() {
		defer close(out)
		if after < a.base && !a.local.replay(ctx, a.info.Session, a.info.ID, after, a.base, out) {
			return
		}
		a.stream.pipe(ctx, place{after: after}, out)
	}()
	return out
}

package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// Why a stretch was told to end.
var (
	errCancelled = errors.New("cancelled")
	errPaused    = errors.New("paused")
)

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

	// saving is held while the journal or the partial text is written, so that
	// a half answer is never stored behind the whole one.
	saving sync.Mutex
	state  loop.State
	kick   chan struct{}
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
		if final(err) {
			return nil, err
		}
		a.local.o.Logger.Error("journal", "run", string(a.info.ID), "error", err.Error())
		a.Emit(harness.Event{
			Type: harness.EventWaiting, Wait: int(wait / time.Second),
			Error: &harness.RunError{Kind: "store", Text: err.Error()},
		})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
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
	a.saving.Lock()
	defer a.saving.Unlock()
	last := entries[len(entries)-1]
	if last.Status == harness.RunFailed || last.Status == harness.RunPaused {
		if err := a.savePartial(ctx); err != nil {
			return nil, err
		}
	}
	done, err := a.local.o.Journal.Append(ctx, a.lease, a.info.ID, a.info.Cursor, entries...)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.info.ID, err)
	}
	stored := make([]agent.Stored, len(done))
	for i, e := range done {
		stored[i] = agent.Stored{Seq: e.Seq, Record: e.Record}
		if ev, ok := agent.EventOf(a.state, records[i], stored[i], e.At); ok {
			a.Emit(ev)
		}
		a.state, _ = loop.Step(a.state, records[i])
		a.take(e)
	}
	return stored, nil
}

// take brings info up to a stored entry.
func (a *active) take(e Entry) {
	a.info.Cursor, a.info.Updated = e.Seq, e.At
	a.info.Usage = a.info.Usage.Add(e.Usage)
	if e.Status != "" {
		a.info.Status, a.info.Stop, a.info.Error = e.Status, e.Stop, e.Error
	}
}

// Emit implements [agent.Sink].
func (a *active) Emit(e harness.Event) {
	e.Session, e.Run = a.info.Session, a.info.ID
	if e.At.IsZero() {
		e.At = a.local.now()
	}
	a.stream.add(e)
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

// saver keeps the half answer on disk until stop closes.
func (a *active) saver(ctx context.Context, stop <-chan struct{}) {
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
		case errors.Is(err, harness.ErrLost):
			a.cancel(err)
			return
		case err != nil:
			a.local.o.Logger.Warn("save partial", "run", string(a.info.ID), "error", err.Error())
		}
	}
}

func (a *active) savePartial(ctx context.Context) error {
	p := a.turn.Partial()
	if p == nil {
		return nil
	}
	return a.local.o.Journal.SavePartial(context.WithoutCancel(ctx), a.lease, a.info.ID, *p)
}

// drive runs the stretch to its rest.
func (a *active) drive(ctx context.Context) {
	defer a.local.leave(a)
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
	a.Emit(harness.Event{Type: harness.EventResult, Seq: a.info.Cursor, Outcome: &res})
	a.stream.end(res, nil)
}

// carry drives the turn; a panic below becomes an error, because it must not
// take the terminal down with it.
func (a *active) carry(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.local.o.Logger.Error("panic in run", "run", string(a.info.ID), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("run %s: internal error: %v", a.info.ID, p)
		}
	}()
	return a.turn.Drive(ctx, a.state)
}

// settle ends a stretch that was stopped from outside or broke.
func (a *active) settle(ctx context.Context, err error) error {
	why := context.Cause(a.turn.Soft)
	free := context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, harness.ErrLost), errors.Is(why, harness.ErrLost):
		return harness.ErrLost
	case errors.Is(why, errCancelled):
		records := loop.Cancel(a.state, a.turn.Partial(), a.info.Config.Model, false, harness.StopCancelled)
		return a.once(free, records...)
	case errors.Is(why, errPaused):
		return a.once(free, loop.Rested{Status: harness.RunPaused})
	default:
		failed := loop.Rested{
			Status: harness.RunFailed, Stop: harness.StopError,
			Error: &harness.RunError{Kind: kindOf(err), Text: err.Error()},
		}
		if e := a.once(free, failed); e != nil {
			return errors.Join(err, e)
		}
		return nil
	}
}

// once stores records with a single try.
func (a *active) once(ctx context.Context, records ...loop.Record) error {
	entries, err := entriesOf(a.local.now(), harness.Usage{}, records...)
	if err != nil {
		return err
	}
	_, err = a.write(ctx, entries, records)
	return err
}

func kindOf(err error) string {
	if errors.Is(err, harness.ErrLost) {
		return "lost"
	}
	return "store"
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
		if after < a.base && !a.local.replay(ctx, a.info, after, a.base, out) {
			return
		}
		var at place
		for {
			events, more, done := a.stream.next(&at)
			for _, e := range events {
				if e.Seq > 0 && e.Seq <= after && e.Type != harness.EventResult {
					continue
				}
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			}
			switch {
			case done:
				return
			case more != nil:
				select {
				case <-more:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

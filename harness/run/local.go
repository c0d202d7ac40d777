package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
)

// Options are the parts of a [Local].
type Options struct {
	Journal    Journal
	Transcript harness.Transcript
	// Steps returns the parts that carry out runs of a configuration. Its error
	// is the caller's: an unknown model, a missing key.
	Steps func(ctx context.Context, c harness.RunConfig) (agent.Steps, error)
	// Engine names what persists the runs, Host this machine.
	Engine string
	Host   string
	Now    func() time.Time
	Logger *slog.Logger
}

// Local drives runs in this process against a journal. It is a
// [harness.Engine].
type Local struct {
	o Options

	mu     sync.Mutex
	active map[harness.RunID]*active
	closed bool
	wg     sync.WaitGroup
}

var _ harness.Engine = (*Local)(nil)

// NewLocal returns an engine. Close it to pause what runs.
func NewLocal(o Options) *Local {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Local{o: o, active: map[harness.RunID]*active{}}
}

func (l *Local) now() time.Time { return l.o.Now() }

// Start implements [harness.Engine].
func (l *Local) Start(ctx context.Context, r harness.StartRequest) (harness.RunHandle, error) {
	if err := l.free(r.Lease.Session); err != nil {
		return nil, err
	}
	steps, err := l.o.Steps(ctx, r.Config)
	if err != nil {
		return nil, err
	}
	closes, err := l.closings(ctx, r.Lease.Session)
	if err != nil {
		return nil, err
	}
	now := l.now()
	info := harness.Run{
		ID: harness.RunID(harness.NewID()), Session: r.Lease.Session, Request: r.Request, Engine: l.o.Engine,
		Status: harness.RunRunning, Config: r.Config, Host: l.o.Host, Dir: r.Dir, Started: now, Updated: now,
	}
	started := loop.Started{Message: r.Message, Config: r.Config}
	first, err := entryOf(started, now)
	if err != nil {
		return nil, err
	}
	info, entries, err := l.o.Journal.Create(ctx, r.Lease, info, first, closes...)
	if errors.Is(err, harness.ErrExists) {
		return l.attach(ctx, info)
	}
	if err != nil {
		return nil, fmt.Errorf("start in session %s: %w", r.Lease.Session, err)
	}
	state, _ := loop.Step(loop.State{}, started)
	a := l.stretch(r.Lease, info, state, steps, 0)
	a.base = 0 // the stream holds the first entry too
	if e, ok := agent.EventOf(loop.State{}, started, agent.Stored{Seq: entries[0].Seq, Record: entries[0].Record}, now); ok {
		a.Emit(e)
	}
	return a, l.begin(ctx, a)
}

// Resume implements [harness.Engine].
func (l *Local) Resume(ctx context.Context, lease harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error) {
	if err := l.free(lease.Session); err != nil {
		return nil, err
	}
	info, state, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Status.Closed() {
		return nil, fmt.Errorf("resume run %s: it has ended (%s)", id, info.Status)
	}
	var records []loop.Record
	var steps agent.Steps
	if how == harness.ResumeDrop {
		records = loop.Cancel(state, info.Partial, info.Config.Model, true, harness.StopDropped)
	} else {
		if steps, err = l.o.Steps(ctx, info.Config); err != nil {
			return nil, err
		}
		records = loop.Resume(state, how, info.Partial, info.Config.Model)
	}
	attempt := 0
	if info.Partial != nil {
		attempt = info.Partial.Attempt
	}
	a := l.stretch(lease, info, state, steps, max(attempt, state.Steps()))
	if err := a.once(ctx, records...); err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	if how == harness.ResumeDrop {
		res := resultOf(a.info, a.state)
		a.Emit(harness.Event{Type: harness.EventResult, Seq: a.info.Cursor, Outcome: &res})
		a.stream.end(res, nil)
		return a, nil
	}
	return a, l.begin(ctx, a)
}

// free reports [harness.ErrBusy] if a run of the session is active here.
func (l *Local) free(id harness.SessionID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return harness.ErrClosed
	}
	for _, a := range l.active {
		if a.info.Session == id {
			return fmt.Errorf("session %s: %w", id, harness.ErrBusy)
		}
	}
	return nil
}

// stretch prepares one stretch of a run. attempt is how many model attempts
// were made before.
func (l *Local) stretch(lease harness.Lease, info harness.Run, s loop.State, steps agent.Steps, attempt int) *active {
	a := &active{
		local: l, lease: lease, info: info, state: s, stream: newStream(), base: info.Cursor,
		kick: make(chan struct{}, 1),
	}
	a.turn = &agent.Turn{
		Steps: steps, Session: info.Session, Run: info.ID, Dir: info.Dir, First: info.First,
		Attempt: attempt, Sink: a,
	}
	return a
}

// begin starts the stretch on a context of its own: whoever started it may
// leave.
func (l *Local) begin(ctx context.Context, a *active) error {
	history, err := l.history(ctx, a.info, a.turn.Steps)
	if err != nil {
		return err
	}
	a.turn.History = history
	hard, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	soft, stop := context.WithCancelCause(hard)
	a.cancel, a.soft, a.turn.Soft = cancel, stop, soft
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return harness.ErrClosed
	}
	l.active[a.info.ID] = a
	l.wg.Add(1)
	go a.drive(hard)
	return nil
}

func (l *Local) leave(a *active) {
	a.cancel(nil)
	l.mu.Lock()
	delete(l.active, a.info.ID)
	l.mu.Unlock()
	l.wg.Done()
}

// history returns as much of the branch before the run as its model's window
// can hold.
func (l *Local) history(ctx context.Context, info harness.Run, steps agent.Steps) ([]harness.Record, error) {
	first, err := l.o.Transcript.Record(ctx, info.Session, info.First)
	if err != nil {
		return nil, fmt.Errorf("run %s: read its message: %w", info.ID, err)
	}
	if first.Prev == 0 {
		return nil, nil
	}
	return memory.Load(ctx, l.o.Transcript, info.Session, first.Prev, steps.Info)
}

// closings returns what ends the session's runs that no longer go on.
func (l *Local) closings(ctx context.Context, id harness.SessionID) ([]Closing, error) {
	runs, err := l.o.Journal.List(ctx, harness.RunFilter{Session: id, Unfinished: true})
	if err != nil {
		return nil, fmt.Errorf("unfinished runs of session %s: %w", id, err)
	}
	var closes []Closing
	for _, r := range runs {
		if r.Status == harness.RunAwaiting {
			continue // Create refuses: the decision comes first
		}
		info, state, err := l.load(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		records := loop.Cancel(state, info.Partial, info.Config.Model, false, harness.StopCancelled)
		entries, err := entriesOf(l.now(), harness.Usage{}, records...)
		if err != nil {
			return nil, err
		}
		closes = append(closes, Closing{Run: r.ID, After: info.Cursor, Entries: entries})
	}
	return closes, nil
}

func (l *Local) load(ctx context.Context, id harness.RunID) (harness.Run, loop.State, error) {
	info, err := l.o.Journal.Get(ctx, id)
	if err != nil {
		return info, loop.State{}, fmt.Errorf("run %s: %w", id, err)
	}
	entries, err := l.o.Journal.Read(ctx, id, 0)
	if err != nil {
		return info, loop.State{}, fmt.Errorf("run %s: %w", id, err)
	}
	state, err := fold(entries)
	if err != nil {
		return info, state, fmt.Errorf("run %s: %w", id, err)
	}
	return info, state, nil
}

// attach returns a handle on a run that exists.
func (l *Local) attach(ctx context.Context, info harness.Run) (harness.RunHandle, error) {
	l.mu.Lock()
	a, ok := l.active[info.ID]
	l.mu.Unlock()
	if ok {
		return a, nil
	}
	info, state, err := l.load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	a = l.stretch(harness.Lease{}, info, state, agent.Steps{}, 0)
	a.base = info.Cursor
	res := resultOf(info, state)
	a.stream.add(harness.Event{Type: harness.EventResult, Session: info.Session, Run: info.ID, Seq: info.Cursor, Outcome: &res, At: info.Updated})
	a.stream.end(res, nil)
	return a, nil
}

// replay sends the events of journal entries past number after, up to number to.
func (l *Local) replay(ctx context.Context, info harness.Run, after, to int, out chan<- harness.Event) bool {
	entries, err := l.o.Journal.Read(ctx, info.ID, 0)
	if err != nil {
		l.o.Logger.Error("replay", "run", string(info.ID), "error", err.Error())
		return false
	}
	events, err := eventsOf(info, entries[:min(to, len(entries))], after)
	if err != nil {
		l.o.Logger.Error("replay", "run", string(info.ID), "error", err.Error())
		return false
	}
	for _, e := range events {
		select {
		case out <- e:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Cancel implements [harness.Engine].
func (l *Local) Cancel(ctx context.Context, id harness.RunID) error {
	a, err := l.find(id)
	if err != nil {
		return err
	}
	a.soft(errCancelled)
	a.cancel(errCancelled)
	_, err = a.Wait(ctx)
	return err
}

// pauseGrace is how long a tool that runs may take to finish before a pause
// leaves its outcome unknown. The session's owner promises to let go in 2 s.
const pauseGrace = 1500 * time.Millisecond

// Pause implements [harness.Engine].
func (l *Local) Pause(ctx context.Context, id harness.RunID) error {
	a, err := l.find(id)
	if err != nil {
		return err
	}
	a.soft(errPaused)
	grace, stop := context.WithTimeout(ctx, pauseGrace)
	defer stop()
	if _, err := a.Wait(grace); err == nil {
		return nil
	}
	a.cancel(errPaused)
	_, err = a.Wait(ctx)
	return err
}

func (l *Local) find(id harness.RunID) (*active, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.active[id]
	if !ok {
		return nil, fmt.Errorf("run %s is not active here: %w", id, harness.ErrNotFound)
	}
	return a, nil
}

// Get implements [harness.Engine].
func (l *Local) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	return l.o.Journal.Get(ctx, id)
}

// List implements [harness.Engine].
func (l *Local) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	return l.o.Journal.List(ctx, f)
}

// Close implements [harness.Engine].
func (l *Local) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	runs := make([]harness.RunID, 0, len(l.active))
	for id := range l.active {
		runs = append(runs, id)
	}
	l.mu.Unlock()
	var errs []error
	for _, id := range runs {
		if err := l.Pause(ctx, id); err != nil && !errors.Is(err, harness.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	l.wg.Wait()
	return errors.Join(errs...)
}

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

// Local drives runs in this process against a journal. It is a
// [harness.Engine].
type Local struct {
	o Options

	mu     sync.Mutex
	active map[harness.RunID]*active
	// seats are the sessions in which something runs, begins or is taken up.
	seats map[harness.SessionID]*seat
	// broken are the runs whose end could not be stored, with the generation
	// that drove them: the journal takes them for running.
	broken map[harness.RunID]int
	closed bool
	wg     sync.WaitGroup
	// told is what people were told of sessions.
	told *agent.Told
}

var _ harness.Engine = (*Local)(nil)

func (l *Local) now() time.Time { return l.o.Now() }

// Start implements [harness.Engine]. Once the message is on disk it cannot
// fail: whatever goes wrong then is in the result.
func (l *Local) Start(ctx context.Context, r harness.StartRequest) (harness.RunHandle, error) {
	s, running, err := l.take(ctx, r.Lease.Session, r.Request)
	if err != nil {
		return nil, err
	}
	if running != nil {
		return running, nil
	}
	a, existing, err := l.create(ctx, r)
	if err != nil || existing != nil {
		l.giveUp(r.Lease.Session, s)
	}
	switch {
	case err != nil:
		return nil, err
	case existing != nil:
		return l.attach(ctx, *existing)
	}
	l.begin(ctx, s, a)
	return a, nil
}

// create stores a new run. If the request made one before, that is returned as
// existing.
func (l *Local) create(ctx context.Context, r harness.StartRequest) (a *active, existing *harness.Run, err error) {
	if r.Message.Role != harness.RoleUser || len(r.Message.Parts) == 0 {
		return nil, nil, fmt.Errorf("start in session %s: the message is none of a user's; make one with harness.UserText", r.Lease.Session)
	}
	steps, err := l.steps(ctx, r.Config)
	if err != nil {
		return nil, nil, err
	}
	closes, err := l.closings(ctx, r.Lease.Session)
	if err != nil {
		return nil, nil, err
	}
	now := l.now()
	info := harness.Run{
		ID: harness.RunID(harness.NewID()), Session: r.Lease.Session, Request: r.Request, Engine: l.o.Engine,
		Status: harness.RunRunning, Config: r.Config, Host: l.o.Host, Dir: r.Dir, Started: now, Updated: now,
	}
	started := loop.Started{Message: r.Message, Config: r.Config}
	first, err := entryOf(started, now)
	if err != nil {
		return nil, nil, err
	}
	info, entries, err := l.o.Journal.Create(ctx, r.Lease, info, first, closes...)
	if errors.Is(err, harness.ErrExists) && info.Request == r.Request && r.Request != "" {
		return nil, &info, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("start in session %s: %w", r.Lease.Session, err)
	}
	for _, c := range closes {
		l.mended(c.Run)
	}
	state, _ := loop.Step(loop.State{}, started)
	a = l.stretch(r.Lease, info, state, steps, 0)
	a.numbers = agent.Numbers{entries[0].Record}
	a.base = 0 // the stream holds the first entry too
	a.stream.last = 0
	for _, e := range agent.EventsOf(loop.State{}, started, agent.Stored{Seq: entries[0].Seq, Record: entries[0].Record}, now) {
		a.tell(e)
	}
	return a, nil, nil
}

// mended forgets that a run was broken, since the journal knows better now.
func (l *Local) mended(id harness.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.broken, id)
}

// Resume implements [harness.Engine]. Once the way to go on is on disk it
// cannot fail: whatever goes wrong then is in the result.
func (l *Local) Resume(ctx context.Context, lease harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error) {
	if err := known(id, how); err != nil {
		return nil, err
	}
	s, _, err := l.take(ctx, lease.Session, "")
	if err != nil {
		return nil, err
	}
	a, err := l.takeUp(ctx, lease, id, how)
	if err != nil {
		l.giveUp(lease.Session, s)
		return nil, err
	}
	if ends(how) {
		l.giveUp(lease.Session, s)
		a.finish(resultOf(a.info, a.state), nil)
		return a, nil
	}
	l.begin(ctx, s, a)
	return a, nil
}

// known refuses ways to resume that there are not.
func known(id harness.RunID, how harness.ResumeHow) error {
	switch how {
	case harness.ResumeContinue, harness.ResumeRetry, harness.ResumeDrop, harness.ResumeClose:
		return nil
	default:
		return fmt.Errorf("resume run %s: unknown way %q; use continue, retry or drop", id, how)
	}
}

// ends reports whether the way to resume ends the run.
func ends(how harness.ResumeHow) bool { return how == harness.ResumeDrop || how == harness.ResumeClose }

// resumes returns the records with which a run that rests goes on or ends.
func resumes(info harness.Run, s loop.State, how harness.ResumeHow) []loop.Record {
	switch how {
	case harness.ResumeDrop:
		return loop.Cancel(s, info.Partial, info.Config.Model, true, harness.StopDropped)
	case harness.ResumeClose:
		return loop.Cancel(s, info.Partial, info.Config.Model, false, harness.StopCancelled)
	default:
		return loop.Resume(s, how, info.Partial, info.Config.Model)
	}
}

// takeUp stores that another stretch of the run begins, or that it is dropped.
func (l *Local) takeUp(ctx context.Context, lease harness.Lease, id harness.RunID, how harness.ResumeHow) (*active, error) {
	info, state, numbers, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Status.Closed() {
		return nil, fmt.Errorf("resume run %s: it has ended (%s)", id, info.Status)
	}
	var steps agent.Steps
	if !ends(how) {
		if steps, err = l.steps(ctx, info.Config); err != nil {
			return nil, err
		}
	}
	a := l.stretch(lease, info, state, steps, attempts(info, state))
	a.numbers = numbers
	if err := a.once(ctx, lostUsage(info, state), resumes(info, state, how)...); err != nil {
		l.unsure(id, lease, err)
		return nil, fmt.Errorf("resume: %w", err)
	}
	l.mended(id)
	return a, nil
}

// lostUsage is what to book for a run that nobody saw end: if it was at a model
// call, what that used is not known.
func lostUsage(info harness.Run, s loop.State) harness.Usage {
	return agent.Unseen(info.Status == harness.RunRunning && s.Calls())
}

// stretch prepares one stretch of a run. attempt is how many model attempts
// were made before.
func (l *Local) stretch(lease harness.Lease, info harness.Run, s loop.State, steps agent.Steps, attempt int) *active {
	a := &active{
		local: l, lease: lease, info: info, state: s, stream: newStream(info.Cursor), base: info.Cursor,
		kick: make(chan struct{}, 1),
	}
	if info.Partial != nil {
		a.saved = *info.Partial
	}
	a.turn = &agent.Turn{
		Steps: steps, Session: info.Session, Run: info.ID, Dir: info.Dir, First: info.First,
		Attempt: attempt, Sink: a, Told: l.told,
	}
	return a
}

// branch gives the turn as much of the branch before the run as its model's
// window can hold, and what is pinned by now: also since the run began, as what it
// condenses says what is pinned to all who read the conversation later. Of a run
// that rested it also finds what was condensed meanwhile.
func (l *Local) branch(ctx context.Context, a *active) (err error) {
	t := a.turn
	if l.o.Branch != nil {
		b, err := l.o.Branch(ctx, a.info)
		if err != nil {
			return fmt.Errorf("run %s: %w", t.Run, err)
		}
		t.History, t.Pinned, t.Condensed = b.History, b.Pinned, b.Condensed
		return nil
	}
	if a.base > 0 {
		if t.Condensed, err = l.asked(ctx, a.info); err != nil {
			return err
		}
	}
	if t.History, err = memory.Load(ctx, l.o.Transcript, t.Session, t.First, t.Steps.Info); err != nil {
		return fmt.Errorf("run %s: %w", t.Run, err)
	}
	if l.o.Sessions == nil {
		return nil
	}
	s, err := l.o.Sessions.Get(ctx, t.Session)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return nil // it was deleted a moment ago
	case err != nil:
		return fmt.Errorf("run %s: session %s: %w", t.Run, t.Session, err)
	}
	if t.Pinned, err = memory.Pinned(ctx, l.o.Transcript, s, harness.Origin{}); err != nil {
		return fmt.Errorf("run %s: %w", t.Run, err)
	}
	return nil
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
		info, state, _, err := l.load(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		records := loop.Cancel(state, info.Partial, info.Config.Model, false, harness.StopCancelled)
		entries, err := entriesOf(l.now(), lostUsage(info, state), records...)
		if err != nil {
			return nil, err
		}
		closes = append(closes, Closing{Run: r.ID, After: info.Cursor, Entries: entries})
	}
	return closes, nil
}

// load returns a run as it is stored, with the state that its journal leads to.
func (l *Local) load(ctx context.Context, id harness.RunID) (info harness.Run, state loop.State, numbers agent.Numbers, err error) {
	if info, err = l.o.Journal.Get(ctx, id); err != nil {
		return info, state, nil, fmt.Errorf("run %s: %w", id, err)
	}
	entries, err := l.o.Journal.Read(ctx, id, 0)
	if err != nil {
		return info, state, nil, fmt.Errorf("run %s: %w", id, err)
	}
	if state, numbers, err = fold(entries); err != nil {
		return info, state, nil, fmt.Errorf("run %s: %w", id, err)
	}
	return info, state, numbers, nil
}

// attach returns a handle on a run that exists.
func (l *Local) attach(ctx context.Context, info harness.Run) (harness.RunHandle, error) {
	l.mu.Lock()
	a, ok := l.active[info.ID]
	l.mu.Unlock()
	if ok {
		return a, nil
	}
	info, state, _, err := l.load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	a = l.stretch(harness.Lease{}, info, state, agent.Steps{}, 0)
	a.finish(resultOf(info, state), nil)
	return a, nil
}

// replay sends the events of journal entries past number after, up to number to.
func (l *Local) replay(ctx context.Context, session harness.SessionID, id harness.RunID, after, to int, out chan<- harness.Event) bool {
	entries, err := l.o.Journal.Read(ctx, id, 0)
	if err != nil {
		l.o.Logger.Error("replay", slog.String("run", string(id)), slog.String("error", err.Error()))
		return false
	}
	events, err := eventsOf(session, id, entries[:min(to, len(entries))], after)
	if err != nil {
		l.o.Logger.Error("replay", slog.String("run", string(id)), slog.String("error", err.Error()))
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

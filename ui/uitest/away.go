package uitest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"cairn/harness"
)

// Away is an engine that keeps runs elsewhere: besides those of its world it has
// runs that a test writes down and has do things. What it was asked to do is
// noted.
type Away struct {
	harness.Engine
	w    *World
	name string

	mu   sync.Mutex
	runs map[harness.RunID]*AwayRun
	// down is why the engine cannot be reached.
	down error
	did  []string
}

// AwayRun is one run of an [Away].
type AwayRun struct {
	away *Away
	info harness.Run
	// events are those so far; more is closed and replaced at each further one.
	events []harness.Event
	more   chan struct{}
	// left is closed and replaced when it is followed no more.
	left chan struct{}
	// kept are the messages that its session was not handed over.
	kept []harness.Message
	rest *harness.Result
}

// Away returns an engine that keeps runs elsewhere, by the name of its address.
func (w *World) Away(name string) *Away {
	return &Away{Engine: w.Engine, w: w, name: name, runs: map[harness.RunID]*AwayRun{}}
}

// Put adds a run. Its engine is this one.
func (a *Away) Put(r harness.Run) *AwayRun {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Engine = a.name
	run := &AwayRun{away: a, info: r, more: make(chan struct{}), left: make(chan struct{})}
	a.runs[r.ID] = run
	return run
}

// Break has the engine not be reached, for a reason, until that is nil.
func (a *Away) Break(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = why
}

// Did is what the engine was asked to do, in words: "attach r1".
func (a *Away) Did() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.did)
}

// Set changes what is told of the run.
func (r *AwayRun) Set(change func(*harness.Run)) {
	r.away.mu.Lock()
	defer r.away.mu.Unlock()
	change(&r.info)
}

// Keep adds messages that the session of the run gets when it is fetched.
func (r *AwayRun) Keep(messages ...harness.Message) {
	r.away.mu.Lock()
	defer r.away.mu.Unlock()
	r.kept = append(r.kept, messages...)
	r.info.Unfetched, r.info.Cursor = len(r.kept), r.info.Cursor+len(messages)
}

// Tell has the run do something. A result lets it rest.
func (r *AwayRun) Tell(events ...harness.Event) {
	r.away.mu.Lock()
	defer r.away.mu.Unlock()
	for _, e := range events {
		e.Run, e.Session = r.info.ID, r.info.Session
		r.info.Cursor = max(r.info.Cursor, e.Seq)
		if e.Outcome != nil {
			r.rest = e.Outcome
			r.info.Status, r.info.Pending, r.info.Worker = e.Outcome.Status, e.Outcome.Pending, nil
		}
		r.events = append(r.events, e)
	}
	close(r.more)
	r.more = make(chan struct{})
}

// find notes what is asked and returns the run. The caller holds the lock.
func (a *Away) find(what string, id harness.RunID) (*AwayRun, error) {
	if a.runs[id] == nil {
		return nil, fmt.Errorf("run %s: %w", id, harness.ErrNotFound)
	}
	if what != "" {
		a.did = append(a.did, what+" "+string(id))
	}
	return a.runs[id], nil
}

// reach is why something that needs the engine cannot be done.
func (a *Away) reach() error {
	if a.down != nil {
		return fmt.Errorf("%s cannot be reached: %w", a.name, a.down)
	}
	return nil
}

// seen is a run as it is told.
func (a *Away) seen(r *AwayRun) harness.Run {
	info := r.info
	if a.down != nil {
		info.Unreachable, info.Worker, info.Waits = a.down.Error(), nil, ""
	}
	return info
}

// Get implements [harness.Engine].
func (a *Away) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[id]; r != nil {
		return a.seen(r), nil
	}
	return a.Engine.Get(ctx, id)
}

// List implements [harness.Engine].
func (a *Away) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	all, err := a.Engine.List(ctx, f)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(a.runs)) {
		r := a.seen(a.runs[id])
		unfinished := !r.Status.Closed() || r.Unfetched > 0
		if (f.Session == "" || f.Session == r.Session) && (!f.Unfinished || unfinished) {
			r.Pending = nil
			all = append(all, r)
		}
	}
	return all, err
}

// Start implements [harness.Engine]. The run does what the test tells then.
func (a *Away) Start(ctx context.Context, q harness.StartRequest) (harness.RunHandle, error) {
	a.mu.Lock()
	err := a.reach()
	id := harness.RunID(fmt.Sprintf("away%d", len(a.runs)+1))
	a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	msg := q.Message
	stored, err := a.w.Store.Transcript().Append(ctx, q.Lease, harness.Record{Kind: harness.RecordMessage, Run: id, Message: &msg})
	if err != nil {
		return nil, err
	}
	r := a.Put(harness.Run{ID: id, Session: q.Lease.Session, Status: harness.RunRunning, Config: q.Config, First: stored[0].Seq})
	r.Tell(harness.Event{Type: harness.EventRunStarted, Seq: 1, Record: stored[0].Seq, Message: &msg})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.did = append(a.did, "start "+string(id))
	return r, nil
}

// Resume implements [harness.Engine]. One that is driven is [harness.ErrBusy].
func (a *Away) Resume(ctx context.Context, l harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.find("resume "+string(how), id)
	if err != nil {
		return a.Engine.Resume(ctx, l, id, how)
	}
	if err := a.reach(); err != nil {
		return nil, err
	}
	if w := r.info.Worker; w != nil {
		return nil, fmt.Errorf("run %s is driven by %s: %w", id, w, harness.ErrBusy)
	}
	r.info.Status, r.info.Interrupted, r.info.Waits, r.rest = harness.RunRunning, false, "", nil
	return r, nil
}

// Decide implements [harness.Engine].
func (a *Away) Decide(ctx context.Context, l harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.find("", id)
	if err != nil {
		return a.Engine.Decide(ctx, l, id, ds...)
	}
	for _, d := range ds {
		a.did = append(a.did, fmt.Sprintf("%s %s of %s", d.How, d.Call, id))
	}
	r.info.Status, r.info.Pending, r.rest = harness.RunRunning, nil, nil
	return r, a.reach()
}

// Cancel implements [harness.Engine].
func (a *Away) Cancel(ctx context.Context, id harness.RunID) error {
	return a.ask("cancel", id, func() error { return a.Engine.Cancel(ctx, id) })
}

// Pause implements [harness.Engine].
func (a *Away) Pause(ctx context.Context, id harness.RunID) error {
	return a.ask("pause", id, func() error { return a.Engine.Pause(ctx, id) })
}

// Leave implements [harness.Remote].
func (a *Away) Leave(ctx context.Context, id harness.RunID) error {
	return a.ask("leave", id, func() error { return a.Engine.Pause(ctx, id) }, func(r *AwayRun) {
		close(r.left)
		r.left = make(chan struct{})
	})
}

func (a *Away) ask(what string, id harness.RunID, other func() error, do ...func(*AwayRun)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.find(what, id)
	if err != nil {
		return other()
	}
	for _, f := range do {
		f(r)
	}
	return a.reach()
}

// Attach implements [harness.Remote].
func (a *Away) Attach(_ context.Context, _ harness.Lease, id harness.RunID) (harness.RunHandle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.find("attach", id)
	if err != nil {
		return nil, err
	}
	return r, a.reach()
}

// Fetch implements [harness.Remote].
func (a *Away) Fetch(ctx context.Context, l harness.Lease) (got harness.Fetched, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(a.runs)) {
		r := a.runs[id]
		if r.info.Session != l.Session {
			continue
		}
		if err := a.reach(); err != nil {
			return got, err
		}
		for _, msg := range r.kept {
			if _, err := a.w.Store.Transcript().Append(ctx, l, harness.Record{Kind: harness.RecordMessage, Run: id, Message: &msg}); err != nil {
				return got, err
			}
			got.Entries, got.Runs = got.Entries+1, 1
		}
		r.kept, r.info.Unfetched = nil, 0
	}
	return got, nil
}

// ID implements [harness.RunHandle].
func (r *AwayRun) ID() harness.RunID { return r.info.ID }

// Events implements [harness.RunHandle].
func (r *AwayRun) Events(ctx context.Context, after int) <-chan harness.Event {
	out := make(chan harness.Event)
	go func() {
		defer close(out)
		r.away.mu.Lock()
		before, left := len(r.events), r.left // of the former only what is stored is told again
		r.away.mu.Unlock()
		for n := 0; ; {
			r.away.mu.Lock()
			events, more := r.events[n:], r.more
			r.away.mu.Unlock()
			for _, e := range events {
				n++
				if e.Seq > 0 && e.Seq <= after || e.Seq == 0 && n <= before {
					continue
				}
				select {
				case out <- e:
				case <-left:
					return
				case <-ctx.Done():
					return
				}
				if e.Type == harness.EventResult {
					return
				}
			}
			select {
			case <-more:
			case <-left:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// Wait implements [harness.RunHandle].
func (r *AwayRun) Wait(ctx context.Context) (harness.Result, error) {
	for {
		r.away.mu.Lock()
		rest, more := r.rest, r.more
		r.away.mu.Unlock()
		if rest != nil {
			return *rest, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return harness.Result{}, ctx.Err()
		}
	}
}

// Run is a run by its id.
func (a *Away) Run(id harness.RunID) *AwayRun {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[id]
}

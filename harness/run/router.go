package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"cairn/harness"
)

// RouterOptions are the parts of a [Router].
type RouterOptions struct {
	// Native drives the runs that the store of the conversations keeps; those are
	// named by one of NativeNames, such as "bbolt".
	Native      harness.Engine
	NativeNames []string
	// Home is the journal of that store.
	Home Journal
	// Default names the engine of new runs: one of NativeNames or of Remotes.
	Default string
	// Remotes are the other engines by name. Open opens one that a run names and
	// that is not among them; nil opens none.
	Remotes map[string]*Remote
	Open    func(ctx context.Context, name string) (*Remote, error)
	// Logger nil is no log.
	Logger *slog.Logger
}

// Router is the engine of a program whose runs are kept in several places: each run
// goes on where it was begun, new ones begin at the default engine.
//
// A session has one run that has not ended at most, wherever it is kept. A message
// that follows it ends it there first. If that engine cannot be reached the message
// is refused, because the answer to the one before may come; [Router.Abandon] gives
// that up.
type Router struct {
	o RouterOptions

	mu      sync.Mutex
	remotes map[string]*Remote
	closed  bool
}

var (
	_ harness.Engine = (*Router)(nil)
	_ harness.Remote = (*Router)(nil)
)

// NewRouter returns an engine over several. Closing it closes all of them.
func NewRouter(o RouterOptions) *Router {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	remotes := maps.Clone(o.Remotes)
	if remotes == nil {
		remotes = map[string]*Remote{}
	}
	return &Router{o: o, remotes: remotes}
}

// native reports whether the store of the conversations keeps an engine's runs.
func (r *Router) native(engine string) bool {
	return slices.Contains(r.o.NativeNames, engine) || !harness.Run{Engine: engine}.Away()
}

// remote returns an engine, opened if need be.
func (r *Router) remote(ctx context.Context, name string) (*Remote, error) {
	r.mu.Lock()
	have, closed := r.remotes[name], r.closed
	r.mu.Unlock()
	switch {
	case closed:
		return nil, harness.ErrClosed
	case have != nil:
		return have, nil
	case r.o.Open == nil:
		return nil, fmt.Errorf("%s %w: it is not among the engines of this program", name, errSilent)
	}
	opened, err := r.o.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s %w: %w", name, errSilent, err)
	}
	r.mu.Lock()
	have, closed = r.remotes[name], r.closed
	if have == nil && !closed {
		r.remotes[name] = opened
	}
	r.mu.Unlock()
	switch {
	case have == nil && !closed:
		return opened, nil
	case closed:
		err = harness.ErrClosed
	}
	if e := opened.Close(ctx); e != nil { // somebody else was faster
		r.o.Logger.Warn("close", slog.String("engine", name), slog.String("error", e.Error()))
	}
	return have, err
}

// of returns the engine of a run, and the run as the conversation has it; remote is
// nil if the store of the conversations keeps it.
func (r *Router) of(ctx context.Context, id harness.RunID) (engine harness.Engine, remote *Remote, home harness.Run, err error) {
	if home, err = r.o.Home.Get(ctx, id); err != nil {
		return nil, nil, home, fmt.Errorf("run %s: %w", id, err)
	}
	if r.native(home.Engine) {
		return r.o.Native, nil, home, nil
	}
	if remote, err = r.remote(ctx, home.Engine); err != nil {
		return nil, nil, home, fmt.Errorf("run %s: %w", id, err)
	}
	return remote, remote, home, nil
}

// Start implements [harness.Engine].
func (r *Router) Start(ctx context.Context, q harness.StartRequest) (harness.RunHandle, error) {
	before, err := requested(ctx, r.o.Home, q.Lease.Session, q.Request)
	if err != nil {
		return nil, err
	}
	if before != nil && !r.native(before.Engine) {
		return r.Attach(ctx, q.Lease, before.ID)
	}
	name := r.o.Default
	if before != nil {
		name = before.Engine
	} else if err := r.closeOthers(ctx, q.Lease, name); err != nil {
		return nil, err
	}
	if r.native(name) {
		return r.o.Native.Start(ctx, q)
	}
	remote, err := r.remote(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("start in session %s: %w", q.Lease.Session, err)
	}
	return remote.Start(ctx, q)
}

// closeOthers ends the session's runs at other engines than the one that is to have
// the next.
func (r *Router) closeOthers(ctx context.Context, l harness.Lease, name string) error {
	runs, err := r.o.Home.List(ctx, harness.RunFilter{Session: l.Session, Unfinished: true})
	if err != nil {
		return fmt.Errorf("unfinished runs of session %s: %w", l.Session, err)
	}
	for _, open := range runs {
		if open.Engine == name || r.native(open.Engine) && r.native(name) {
			continue
		}
		if err := r.closeOther(ctx, l, open); err != nil {
			return fmt.Errorf("start in session %s: %w", l.Session, err)
		}
	}
	return nil
}

func (r *Router) closeOther(ctx context.Context, l harness.Lease, open harness.Run) error {
	if r.native(open.Engine) {
		if open.Status == harness.RunAwaiting {
			return fmt.Errorf("run %s: %w", open.ID, harness.ErrAwaiting)
		}
		h, err := r.o.Native.Resume(ctx, l, open.ID, harness.ResumeClose)
		if err == nil {
			_, err = h.Wait(ctx)
		}
		return err
	}
	remote, err := r.remote(ctx, open.Engine)
	if err != nil {
		return cannotClose(open.ID, fmt.Errorf("run %s: %w", open.ID, err))
	}
	left, err := remote.closeOne(ctx, l, open.ID)
	if err != nil || left == nil {
		return err
	}
	// The engine never got the run: nobody but the conversation has it.
	_, err = r.o.Home.Append(context.WithoutCancel(ctx), l, left.Run, left.After, left.Entries...)
	return err
}

// Resume implements [harness.Engine].
func (r *Router) Resume(ctx context.Context, l harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error) {
	engine, _, _, err := r.of(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return engine.Resume(ctx, l, id, how)
}

// Decide implements [harness.Engine].
func (r *Router) Decide(ctx context.Context, l harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	engine, _, _, err := r.of(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	return engine.Decide(ctx, l, id, ds...)
}

// Cancel implements [harness.Engine].
func (r *Router) Cancel(ctx context.Context, id harness.RunID) error {
	engine, _, _, err := r.of(ctx, id)
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return engine.Cancel(ctx, id)
}

// Pause implements [harness.Engine].
func (r *Router) Pause(ctx context.Context, id harness.RunID) error {
	engine, _, _, err := r.of(ctx, id)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return engine.Pause(ctx, id)
}

// Leave implements [harness.Remote]: a run that the store of the conversations keeps
// is paused.
func (r *Router) Leave(ctx context.Context, id harness.RunID) error {
	_, remote, _, err := r.of(ctx, id)
	switch {
	case err != nil:
		return fmt.Errorf("leave: %w", err)
	case remote == nil:
		return r.o.Native.Pause(ctx, id)
	default:
		return remote.Leave(ctx, id)
	}
}

// attacher is an engine that gives handles on runs that exist.
type attacher interface {
	attach(ctx context.Context, info harness.Run) (harness.RunHandle, error)
}

// Attach implements [harness.Remote], also for runs that the store of the
// conversations keeps: of one that is not active in this process the handle tells
// how it stands.
func (r *Router) Attach(ctx context.Context, l harness.Lease, id harness.RunID) (harness.RunHandle, error) {
	_, remote, home, err := r.of(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	if remote != nil {
		return remote.Attach(ctx, l, id)
	}
	if native, ok := r.o.Native.(attacher); ok {
		return native.attach(ctx, home)
	}
	return nil, fmt.Errorf("attach: runs of %s can only be followed by who drives them: %w", home.Engine, errors.ErrUnsupported)
}

// Abandon ends a run for good although its engine cannot be reached; see
// [Remote.Abandon]. One whose engine cannot even be opened is ended in the
// conversation alone.
func (r *Router) Abandon(ctx context.Context, l harness.Lease, id harness.RunID) error {
	_, remote, home, err := r.of(ctx, id)
	switch {
	case errors.Is(err, errSilent):
		// Nothing but its name is needed of the engine.
		return NewRemote(RemoteOptions{Home: r.o.Home, Engine: home.Engine, Backend: nowhere{}}).Abandon(ctx, l, id)
	case err != nil:
		return fmt.Errorf("give up: %w", err)
	case remote != nil:
		return remote.Abandon(ctx, l, id)
	}
	h, err := r.o.Native.Resume(ctx, l, id, harness.ResumeDrop)
	if err == nil {
		_, err = h.Wait(ctx)
	}
	return err
}

// nowhere is a backend that cannot be reached.
type nowhere struct{ Backend }

// Get implements [Jobs].
func (nowhere) Get(context.Context, harness.RunID) (Job, error) { return Job{}, errSilent }

// Close implements [harness.Engine]: all engines at once.
func (r *Router) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	engines := []harness.Engine{r.o.Native}
	for _, remote := range r.remotes {
		engines = append(engines, remote)
	}
	r.mu.Unlock()
	errs := make([]error, len(engines))
	var closing sync.WaitGroup
	for i, e := range engines {
		closing.Go(func() { errs[i] = e.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

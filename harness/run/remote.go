package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// RemoteOptions are the parts of a [Remote].
type RemoteOptions struct {
	// Home and Transcript are those of the store that has the conversations,
	// Sessions and Backend are required as well: mem.Store and bolt.DB give the
	// first three, [NewQueueBackend] the last.
	Home       Journal
	Transcript harness.Transcript
	Sessions   harness.Sessions
	Backend    Backend
	// Artifacts takes what tools and files left at the backend; without it such
	// bytes stay there.
	Artifacts harness.Artifacts
	// Grants are the standing permissions that runs take along, and keep the rules
	// of approvals that are to count for more than once.
	Grants harness.Grants
	// Facts and Notes are what runs take along to be recalled from; nil is nothing.
	// Recall, if set, chooses them instead, for a turn that begins with a question.
	Facts  harness.Facts
	Notes  harness.Notes
	Recall func(ctx context.Context, c harness.RunConfig, id harness.SessionID, question string) ([]harness.Fact, []harness.Note, error)
	// Engine is the name of the backend's address, see [Address]; Store the id of
	// the store that has the conversations; Host this machine.
	Engine string
	Store  string
	Host   string
	// Here says that this process drives the runs that it starts and resumes.
	// Otherwise they wait for a worker; one that no worker takes is driven here by
	// resuming it.
	Here bool
	// Needs returns what a process has to have to drive runs of a configuration;
	// nil means the agent alone. Its errors are the caller's of Start.
	Needs func(ctx context.Context, c harness.RunConfig) (Needs, error)
	// Tools are those of a configuration, to tell what a grant is about; without
	// them approvals count once.
	Tools func(ctx context.Context, c harness.RunConfig) (*tool.Set, error)
	// Info is what is known of the model of a configuration: its window decides how
	// much of the conversation a run takes along. nil takes the usual window.
	Info func(ctx context.Context, c harness.RunConfig) (model.Info, error)
	// Interactive says that a person can be asked, now or later.
	Interactive bool
	// Now and Logger nil are the real clock and no log.
	Now    func() time.Time
	Logger *slog.Logger
}

// Remote executes runs in a [Backend], apart from their conversations, and hands
// what they do over to those. The journal of the conversations holds of each run
// what was handed over, with the same numbers: only handing over writes there,
// unless the backend is known not to have the run.
//
// The message that begins a run is in the conversation before the backend knows
// of it. If that cannot be told, the run is at rest as interrupted, and resuming
// it tries again.
type Remote struct {
	o RemoteOptions

	mu sync.Mutex
	// seats are the sessions in which a run is started, resumed or decided about.
	seats map[harness.SessionID]*spot
	// follows are the runs that are followed.
	follows map[*following]struct{}
	// handing is held while entries of a session are handed over.
	handing map[harness.SessionID]*sync.Mutex
	closed  bool
}

var (
	_ harness.Engine = (*Remote)(nil)
	_ harness.Remote = (*Remote)(nil)
)

// spot is the one place in a session for whoever changes its runs.
type spot struct {
	request string
	settled chan struct{}
}

// NewRemote returns an engine. Close it, which closes its backend, to pause what
// this process drives.
func NewRemote(o RemoteOptions) *Remote {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	return &Remote{
		o: o, seats: map[harness.SessionID]*spot{}, follows: map[*following]struct{}{}, handing: map[harness.SessionID]*sync.Mutex{},
	}
}

// Name is that of the engine in its runs.
func (r *Remote) Name() string { return r.o.Engine }

// sit takes the session's place; call leave to give it up. A start that another one
// with the same request is ahead of waits for that.
func (r *Remote) sit(ctx context.Context, id harness.SessionID, request string) (leave func(), err error) {
	for {
		r.mu.Lock()
		have := r.seats[id]
		switch {
		case r.closed:
			r.mu.Unlock()
			return nil, harness.ErrClosed
		case have == nil:
			s := &spot{request: request, settled: make(chan struct{})}
			r.seats[id] = s
			r.mu.Unlock()
			return func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				delete(r.seats, id)
				close(s.settled)
			}, nil
		}
		r.mu.Unlock()
		if request == "" || have.request != request {
			return nil, fmt.Errorf("session %s: %w", id, harness.ErrBusy)
		}
		select {
		case <-have.settled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Start implements [harness.Engine]. Once the message is on disk it cannot fail:
// that the backend did not take the run is in the result, and resuming tries again.
func (r *Remote) Start(ctx context.Context, q harness.StartRequest) (harness.RunHandle, error) {
	leave, err := r.sit(ctx, q.Lease.Session, q.Request)
	if err != nil {
		return nil, err
	}
	defer leave()
	if q.Message.Role != harness.RoleUser || len(q.Message.Parts) == 0 {
		return nil, fmt.Errorf("start in session %s: the message is none of a user's; make one with harness.UserText", q.Lease.Session)
	}
	if before, err := requested(ctx, r.o.Home, q.Lease.Session, q.Request); err != nil || before != nil {
		if err != nil {
			return nil, err
		}
		return r.attach(ctx, q.Lease, before.ID)
	}
	needs, err := r.needs(ctx, q.Config)
	if err != nil {
		return nil, err
	}
	closes, err := r.closeOpen(ctx, q.Lease)
	if err != nil {
		return nil, err
	}
	return r.create(ctx, q, needs, closes)
}

// requested returns the run of a session that a request made before, nil if there
// is none.
func requested(ctx context.Context, home Journal, id harness.SessionID, request string) (*harness.Run, error) {
	if request == "" {
		return nil, nil //nolint:nilnil // none
	}
	// One that has not ended is the newest; of older ones [Journal].Create tells.
	runs, err := home.List(ctx, harness.RunFilter{Session: id, Limit: 4})
	if err != nil {
		return nil, fmt.Errorf("runs of session %s: %w", id, err)
	}
	for _, have := range runs {
		if have.Request == request {
			return &have, nil
		}
	}
	return nil, nil //nolint:nilnil // none
}

// create stores the message and hands the run to the backend.
func (r *Remote) create(ctx context.Context, q harness.StartRequest, needs Needs, closes []Closing) (harness.RunHandle, error) {
	now := r.o.Now()
	info := harness.Run{
		ID: harness.RunID(harness.NewID()), Session: q.Lease.Session, Request: q.Request, Engine: r.o.Engine,
		Status: harness.RunRunning, Config: q.Config, Host: r.o.Host, Dir: q.Dir, Started: now, Updated: now,
	}
	first, err := entryOf(loop.Started{Message: q.Message, Config: q.Config}, now)
	if err != nil {
		return nil, err
	}
	info, entries, err := r.o.Home.Create(ctx, q.Lease, info, first, closes...)
	if errors.Is(err, harness.ErrExists) && info.Request == q.Request && q.Request != "" {
		return r.attach(ctx, q.Lease, info.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("start in session %s: %w", q.Lease.Session, err)
	}
	m := &mirror{info: info}
	m.info.Cursor = 0
	f := r.following(q.Lease, m, 0)
	if err := f.take(entries[0]); err != nil {
		return nil, err
	}
	// The message is on disk: whoever waits may leave, the run begins all the same.
	free := context.WithoutCancel(ctx)
	if err := r.submit(free, info, entries[0], needs, r.o.Here); err != nil {
		r.o.Logger.Error("submit", slog.String("run", string(info.ID)), slog.String("error", err.Error()))
		f.broke(&submitError{r.o.Engine, err})
		return f, nil
	}
	r.begin(free, f)
	return f, nil
}

// submitError says that a backend did not take a run.
type submitError struct {
	engine string
	err    error
}

// Error implements error.
func (e *submitError) Error() string {
	return fmt.Sprintf("the message is stored, but %s could not be given the run: %v; resume it to try again", e.engine, e.err)
}

// Unwrap returns what went wrong.
func (e *submitError) Unwrap() error { return e.err }

// submit hands a run to the backend. The same run again changes nothing.
func (r *Remote) submit(ctx context.Context, info harness.Run, first Entry, needs Needs, here bool) error {
	carried, artifacts, err := r.carried(ctx, info, first, needs)
	if err != nil {
		return fmt.Errorf("run %s: %w", info.ID, err)
	}
	info.Partial, info.Interrupted = nil, false
	err = r.o.Backend.Submit(ctx, Submission{Run: info, First: first, Carried: carried, Artifacts: artifacts, Here: here})
	if err != nil && !errors.Is(err, harness.ErrExists) {
		return fmt.Errorf("run %s: %w", info.ID, err)
	}
	return nil
}

// needs returns what a process must have to drive runs of a configuration.
func (r *Remote) needs(ctx context.Context, c harness.RunConfig) (Needs, error) {
	if r.o.Needs == nil {
		return Needs{Agent: c.Agent}, nil
	}
	n, err := r.o.Needs(ctx, c)
	if err != nil {
		return n, fmt.Errorf("what a run of %q needs: %w", c.Model, err)
	}
	return n, nil
}

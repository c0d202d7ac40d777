package parts

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// openPatience bounds how long an engine is waited for, retryAfter how long one
// that could not be opened is not tried again: a list of runs asks for each.
const openPatience, retryAfter = 5 * time.Second, 2 * time.Second

var (
	_ run.Steerable = (*lazy)(nil)
	_ run.Steerable = tabled{}
)

// lazy is a backend that is opened when it is first used: a start must not wait
// for a server, nor fail without one.
type lazy struct {
	// name is shown; open gets a context that ends with openPatience.
	name string
	open func(ctx context.Context) (run.Backend, error)
	now  func() time.Time

	mu sync.Mutex
	// opening is closed when the attempt under way is over.
	opening chan struct{}
	backend run.Backend
	err     error
	failed  time.Time
	closed  bool
}

// get returns the backend. An attempt to open it goes on when ctx ends.
func (l *lazy) get(ctx context.Context) (run.Backend, error) {
	l.mu.Lock()
	switch {
	case l.closed:
		l.mu.Unlock()
		return nil, fmt.Errorf("engine %s: %w", l.name, harness.ErrClosed)
	case l.backend != nil:
		defer l.mu.Unlock()
		return l.backend, nil
	case l.err != nil && l.now().Sub(l.failed) < retryAfter:
		defer l.mu.Unlock()
		return nil, l.err
	}
	if l.opening == nil {
		l.opening = make(chan struct{})
		go l.attempt(context.WithoutCancel(ctx), l.opening)
	}
	over := l.opening
	l.mu.Unlock()
	select {
	case <-over:
	case <-ctx.Done():
		return nil, fmt.Errorf("%s does not answer: %w", l.name, ctx.Err())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, fmt.Errorf("engine %s: %w", l.name, harness.ErrClosed)
	case l.backend == nil:
		return nil, l.err
	}
	return l.backend, nil
}

// attempt opens the backend.
func (l *lazy) attempt(ctx context.Context, over chan struct{}) {
	bounded, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	b, err := l.open(bounded)
	l.mu.Lock()
	closed := l.closed
	l.opening, l.err = nil, err
	if err == nil && !closed {
		l.backend = b
	}
	l.failed = l.now()
	l.mu.Unlock()
	close(over)
	if err == nil && closed {
		_ = b.Close(ctx) // nobody waits for it any more
	}
}

// Submit implements [run.Backend], as all of these do.
func (l *lazy) Submit(ctx context.Context, s run.Submission) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return b.Submit(ctx, s)
}

func (l *lazy) Resume(ctx context.Context, id harness.RunID, how harness.ResumeHow, here bool) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return b.Resume(ctx, id, how, here)
}

func (l *lazy) Decide(ctx context.Context, id harness.RunID, here bool, ds ...harness.Decision) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return b.Decide(ctx, id, here, ds...)
}

// Live opens nothing: what is not open drives nothing.
func (l *lazy) Live(ctx context.Context, id harness.RunID) (<-chan harness.Event, bool) {
	l.mu.Lock()
	b := l.backend
	l.mu.Unlock()
	if b == nil {
		return nil, false
	}
	return b.Live(ctx, id)
}

func (l *lazy) Get(ctx context.Context, id harness.RunID) (run.Job, error) {
	b, err := l.get(ctx)
	if err != nil {
		return run.Job{}, err
	}
	return b.Get(ctx, id)
}

func (l *lazy) List(ctx context.Context, f run.JobFilter) ([]run.Job, error) {
	b, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return b.List(ctx, f)
}

func (l *lazy) Read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	b, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return b.Read(ctx, id, after)
}

func (l *lazy) Artifact(ctx context.Context, id harness.RunID, name string) ([]byte, error) {
	b, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return b.Artifact(ctx, id, name)
}

func (l *lazy) Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	b, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return b.Watch(ctx, id)
}

func (l *lazy) Ask(ctx context.Context, id harness.RunID, a run.Ask) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return b.Ask(ctx, id, a)
}

func (l *lazy) Acknowledge(ctx context.Context, id harness.RunID, cursor int) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return b.Acknowledge(ctx, id, cursor)
}

func (l *lazy) Prune(ctx context.Context, p run.Prune) (int, error) {
	b, err := l.get(ctx)
	if err != nil {
		return 0, err
	}
	return b.Prune(ctx, p)
}

// Steer implements [run.Steerable].
func (l *lazy) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	b, err := l.get(ctx)
	if err != nil {
		return err
	}
	return steer(ctx, b, id, e)
}

// steer says something into a run of a backend behind another one.
func steer(ctx context.Context, b run.Backend, id harness.RunID, e run.Entry) error {
	if s, ok := b.(run.Steerable); ok {
		return s.Steer(ctx, id, e)
	}
	return errors.ErrUnsupported
}

// Close closes what was opened.
func (l *lazy) Close(ctx context.Context) error {
	l.mu.Lock()
	b := l.backend
	l.closed = true
	l.mu.Unlock()
	if b == nil {
		return nil
	}
	return b.Close(ctx)
}

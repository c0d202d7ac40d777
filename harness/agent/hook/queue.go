package hook

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Queue tells hooks what happens, each in order and beside whoever adds events.
// It needs no closing: nothing runs while there is nothing to tell. Its methods
// are safe for concurrent use; a nil Queue has no hooks.
type Queue struct{ lines []*line }

// line are the events that one hook has not been told yet.
type line struct {
	f   Func
	log *slog.Logger

	mu    sync.Mutex
	items []item
	// busy says that a goroutine is telling the hook; idle is closed when it has
	// told all.
	busy bool
	idle chan struct{}
}

// item is one event on its way.
type item struct {
	ctx context.Context //nolint:containedctx // it belongs to the event
	e   Event
}

// NewQueue returns a queue for hooks, nil if there are none. log may be nil.
func NewQueue(hooks []Func, log *slog.Logger) *Queue {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{}
	for _, f := range hooks {
		if f != nil {
			q.lines = append(q.lines, &line{f: f, log: log})
		}
	}
	if len(q.lines) == 0 {
		return nil
	}
	return q
}

// Add tells the hooks of an event. It does not wait for them.
func (q *Queue) Add(ctx context.Context, e Event) {
	if q == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for _, l := range q.lines {
		l.add(item{ctx, e})
	}
}

// Wait returns when the hooks have been told all that was added, or ctx ends.
func (q *Queue) Wait(ctx context.Context) {
	if q == nil {
		return
	}
	for _, l := range q.lines {
		l.mu.Lock()
		idle := l.idle
		if !l.busy {
			idle = nil
		}
		l.mu.Unlock()
		if idle == nil {
			continue
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return
		}
	}
}

func (l *line) add(i item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, i)
	if !l.busy {
		l.busy, l.idle = true, make(chan struct{})
		go l.tell()
	}
}

// tell tells the hook everything that waits.
func (l *line) tell() {
	for {
		l.mu.Lock()
		if len(l.items) == 0 {
			l.busy, l.items = false, nil
			close(l.idle)
			l.mu.Unlock()
			return
		}
		next := l.items[0]
		l.items = l.items[1:]
		l.mu.Unlock()
		l.one(next)
	}
}

// one tells the hook one event. A panic is the hook's own.
func (l *line) one(i item) {
	defer func() {
		if p := recover(); p != nil {
			l.log.ErrorContext(i.ctx, "a hook panicked", slog.String("event", i.e.Name()),
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		}
	}()
	l.f(i.ctx, i.e)
}

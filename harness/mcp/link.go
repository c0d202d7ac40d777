package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
)

const (
	// maxTries is how often a connection is made again by itself, firstPause how long
	// it takes until then at first; it doubles.
	maxTries   = 5
	firstPause = time.Second
	// settled is how long a connection lasts that counts as a good one.
	settled = time.Minute
	// gathering is how long changes of a list are waited for once there is one, and
	// resting the least time between two looks at them.
	gathering = 50 * time.Millisecond
	resting   = 500 * time.Millisecond
)

// errOff is the use of a server that is switched off.
var errOff = errors.New("the server is switched off")

// link keeps one server connected.
type link struct {
	m       *Manager
	c       Server
	secrets *tool.Redactor
	// signed has what the person got by signing in to it; nil where that cannot be.
	signed *signed

	mu    sync.Mutex
	on    bool
	state harness.ServerState
	since time.Time
	retry time.Time
	err   string
	said  *lines
	// live is the connection that is ready, attempt the making of one.
	live    *live
	attempt *attempt
	// tries counts those that were made by themselves since it went well, and timer
	// makes the next one.
	tries int
	timer *time.Timer
	// offer is what the server offered last.
	offer offer
	// first are the tools as they were seen first, by the server's names, and earlier
	// those that came before the ones of now.
	first, earlier map[string]offered
}

// attempt is a connection that is being made.
type attempt struct {
	// done is closed when it is made or not, which live and err tell.
	done   chan struct{}
	live   *live
	err    error
	cancel context.CancelFunc
}

func newLink(m *Manager, c Server) *link {
	l := &link{
		m: m, c: c, secrets: secrets(c), on: !c.Off, state: harness.ServerConnecting, since: m.now(), said: &lines{},
		first: map[string]offered{}, earlier: map[string]offered{},
	}
	l.signed = newSigned(c, m.o, l.secrets, func(text string) { m.log(slog.LevelWarn, c.Name, l.clean(text)) })
	if c.Off {
		l.state = harness.ServerOff
	}
	return l
}

// timeout bounds a call.
func (l *link) timeout() time.Duration {
	if l.c.Timeout > 0 {
		return l.c.Timeout
	}
	return DefaultTimeout
}

// set notes a state. The caller holds the lock.
func (l *link) set(state harness.ServerState, err string, retry time.Time) {
	l.state, l.err, l.retry, l.since = state, err, retry, l.m.now()
	l.m.publish()
}

// get returns the connection, and makes it if there is none. Whoever gives up waiting
// leaves the making alone.
func (l *link) get(ctx context.Context) (*live, error) {
	l.mu.Lock()
	switch {
	case l.m.ctx.Err() != nil:
		l.mu.Unlock()
		return nil, harness.ErrClosed
	case !l.on:
		l.mu.Unlock()
		return nil, errOff
	case l.live != nil && !l.live.isOver():
		v := l.live
		l.mu.Unlock()
		return v, nil
	}
	l.live = nil
	a := l.connect()
	l.mu.Unlock()
	select {
	case <-a.done:
		return a.live, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// connect begins to make a connection, if that is not under way. The caller holds the
// lock. It is made for whoever comes, so no caller's context ends it.
//
//nolint:contextcheck,nolintlint // as said; it is heeded, and told to be of no use
func (l *link) connect() *attempt {
	if l.attempt != nil {
		return l.attempt
	}
	l.still()
	if l.c.Fault != "" { // known before: nobody waits for it
		return l.refuse(permanent(sentence(l.c.Fault)))
	}
	limit := l.c.Start
	if limit <= 0 {
		limit = DefaultStart
	}
	ctx, cancel := context.WithTimeout(l.m.ctx, limit)
	a := &attempt{done: make(chan struct{}), cancel: cancel}
	l.attempt = a
	l.set(harness.ServerConnecting, l.err, time.Time{})
	l.m.spawn(func() {
		defer cancel()
		l.make(ctx, a, limit)
	})
	return a
}

// refuse is an attempt that failed before it began. The caller holds the lock.
func (l *link) refuse(err error) *attempt {
	l.failed(err)
	a := &attempt{done: make(chan struct{}), err: sentence(l.explain(err)), cancel: func() {}}
	close(a.done)
	return a
}

// make makes a connection and sees what the server offers.
func (l *link) make(ctx context.Context, a *attempt, limit time.Duration) {
	defer close(a.done)
	v, err := l.dial(ctx)
	var got offer
	if err == nil {
		if got, err = v.offers(ctx); err != nil {
			v.end(err)
		}
	}
	if err != nil && ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = sentence(fmt.Sprintf("it was not ready within %s", limit))
	}
	l.mu.Lock()
	current := l.attempt == a
	if current {
		l.attempt = nil
	}
	switch {
	case err != nil:
		a.err = sentence(l.explain(err))
		if current {
			l.failed(err)
		}
	case !current:
		a.err = errOff
	default:
		a.live, l.live = v, v
		l.take(got)
		l.m.spawn(v.follow)
	}
	l.mu.Unlock()
	switch {
	case err != nil:
	case !current:
		v.end(errOff)
	default:
		l.ready(v)
	}
}

// ready notes that a connection is ready, when all have the tools that it brought.
func (l *link) ready(v *live) {
	l.m.retool()
	l.mu.Lock()
	if l.live == v {
		l.set(harness.ServerReady, "", time.Time{})
	}
	l.mu.Unlock()
	select {
	case <-v.ended:
		l.lost(v) // it ended before it was known
	default:
	}
}

// failed notes that there is no connection and when another is made. The caller holds
// the lock.
func (l *link) failed(err error) {
	text := l.explain(err)
	l.m.log(slog.LevelWarn, l.c.Name, "cannot be had: "+text)
	var next time.Time
	if l.on && l.m.ctx.Err() == nil && !isPermanent(err) && l.tries < maxTries {
		pause := firstPause << l.tries
		l.tries++
		next = l.m.now().Add(pause)
		l.later(pause)
	}
	l.set(harness.ServerFailed, text, next)
}

// later makes a connection after a pause. The caller holds the lock.
func (l *link) later(pause time.Duration) {
	l.still()
	l.timer = time.AfterFunc(pause, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.on && l.live == nil && l.m.ctx.Err() == nil {
			l.connect()
		}
	})
}

// still takes back what later said. The caller holds the lock.
func (l *link) still() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// lost notes that a connection is over. Its tools stay on offer: a call makes the next
// one, if that was not made meanwhile.
func (l *link) lost(v *live) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live != v {
		return
	}
	l.live = nil
	if l.m.now().Sub(v.began) >= settled {
		l.tries = 0
	}
	if l.on {
		l.failed(v.why)
	}
}

// ended says how a program ended, once that is known.
func (l *link) ended(v *live) {
	if v.program == nil || v.program.ending() == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == harness.ServerFailed && l.err == errEnded.Error() {
		l.err = "the program ended (" + v.program.ending() + ")"
		l.m.publish()
	}
}

// drop gives a connection up, because it is known to be of no use.
func (l *link) drop(v *live, why error) {
	v.over(why)
	l.lost(v)
}

// went notes that something went well over the connection.
func (l *link) went() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tries = 0
}

// take notes what the server offers. The caller holds the lock.
func (l *link) take(got offer) {
	for _, t := range got.tools {
		name := t.remote
		if _, seen := l.first[name]; !seen && len(l.first) < 10*maxOffers {
			l.first[name] = t
		}
	}
	for _, t := range l.offer.tools {
		if now, ok := got.tool(t.remote); ok && now.digest != t.digest && len(l.earlier) < 10*maxOffers {
			l.earlier[t.remote] = t
		}
	}
	l.offer = got
}

// part gives the connection up, and what is making one, and returns what ends them. The
// caller holds the lock.
func (l *link) part(why error) func() {
	l.still()
	v, a := l.live, l.attempt
	l.live, l.attempt = nil, nil
	return func() {
		if a != nil {
			a.cancel()
		}
		if v != nil {
			v.end(why)
		}
		if a != nil {
			<-a.done
		}
	}
}

// again makes another connection and waits until that is ready or failed.
func (l *link) again(ctx context.Context) error {
	l.mu.Lock()
	if !l.on {
		l.mu.Unlock()
		return errOff
	}
	l.tries = 0
	end := l.part(errEnded)
	l.set(harness.ServerConnecting, "", time.Time{})
	l.mu.Unlock()
	end()
	_, err := l.get(ctx)
	return err
}

// turn switches the server on or off.
func (l *link) turn(ctx context.Context, on bool) error {
	l.mu.Lock()
	if l.on == on {
		l.mu.Unlock()
		return nil
	}
	l.on, l.tries = on, 0
	if on {
		l.set(harness.ServerConnecting, "", time.Time{})
		l.mu.Unlock()
		_, err := l.get(ctx)
		return err
	}
	end := l.part(errOff)
	l.set(harness.ServerOff, "", time.Time{})
	l.mu.Unlock()
	l.m.retool()
	end()
	return nil
}

// status is the server as it stands.
func (l *link) status() harness.ServerStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := harness.ServerStatus{
		Name: l.c.Name, State: l.state, Transport: "stdio", Target: target(l.c), Err: l.err, Since: l.since, Retry: l.retry,
		Tools: []harness.ServerTool{}, Prompts: []harness.ServerPrompt{}, Resources: []harness.ServerResource{},
	}
	if l.c.URL != "" {
		s.Transport = "http"
	}
	for _, text := range l.said.list() {
		s.Said = append(s.Said, l.clean(text))
	}
	if l.state == harness.ServerOff {
		return s
	}
	o := l.offer
	s.Title, s.Version, s.Protocol, s.Instructions = o.title, o.version, o.protocol, o.instructions
	s.Prompts = append(s.Prompts, o.prompts...)
	s.Resources = append(s.Resources, o.resources...)
	return s
}

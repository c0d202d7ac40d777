package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
)

// legacy is the version of the protocol that is tried first: all servers of today
// speak it, and some that do not know the newer way to begin never answer it.
const legacy = "2025-11-25"

// live is one connection to a server. It ends once, and another takes its place.
type live struct {
	l       *link
	session *sdk.ClientSession
	began   time.Time

	// ended is closed when the connection is over; why says what ended it.
	ended chan struct{}
	once  sync.Once
	why   error
	// ctx ends with the connection.
	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex
	// program, if it is one, and session are set once, before anybody but what ends
	// the connection has it.
	program *program
	idle    func()
	// reports are those of the calls under way, by their token.
	reports map[string]func(harness.Progress)
	calls   atomic.Int64
	// logged counts what of the server's words went into the log, waiting the
	// questions that are put to the person.
	logged, waiting atomic.Int64
	// busy counts what is asked of the server; its questions are for that, and end
	// when nothing is asked of it any more.
	busy     int
	busyCtx  context.Context
	busyDone context.CancelFunc

	// news says that a list of the server changed, and which ones.
	news    chan struct{}
	changed [kinds]atomic.Bool
}

// The lists of a server.
const (
	kindTools = iota
	kindPrompts
	kindResources
	kinds
)

// dial makes a connection. What it returns is ready; ctx bounds the making alone.
func (l *link) dial(ctx context.Context) (*live, error) {
	v, err := l.open(ctx, legacy)
	if err != nil && answered(err) {
		// It was refused in the words of the protocol: it may speak a newer one only.
		if newer, bad := l.open(ctx, ""); bad == nil {
			return newer, nil
		}
	}
	return v, err
}

// open makes a connection and agrees on a version of the protocol.
func (l *link) open(ctx context.Context, version string) (*live, error) {
	v := &live{
		l: l, began: l.m.now(), ended: make(chan struct{}), news: make(chan struct{}, 1),
		reports: map[string]func(harness.Progress){},
	}
	v.ctx, v.cancel = context.WithCancel(l.m.ctx)
	transport, err := v.transport()
	if err != nil {
		v.cancel()
		return nil, err
	}
	type result struct {
		session *sdk.ClientSession
		err     error
	}
	done := make(chan result, 1)
	// The library heeds no context everywhere; nobody waits for it longer than this.
	go func() {
		var r result
		r.err = unbroken(func() (err error) {
			r.session, err = v.client().Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
			return err
		})
		done <- r
	}()
	var session *sdk.ClientSession
	heard := false
	select {
	case r := <-done:
		session, err, heard = r.session, r.err, true
	case <-ctx.Done():
		err = ctx.Err()
	case <-v.ended:
		// Both come at once when a program ends: its error says more.
		select {
		case r := <-done:
			session, err, heard = r.session, r.err, true
		case <-time.After(lag):
		}
		if session == nil && (err == nil || !answered(err)) {
			err = v.why
		}
	}
	v.mu.Lock()
	v.session = session
	v.mu.Unlock()
	if err != nil {
		v.end(err)
		if !heard {
			go func() {
				if r := <-done; r.session != nil {
					_ = r.session.Close() // it came too late
				}
			}()
		}
		return nil, v.told(err)
	}
	go v.watch()
	return v, nil
}

// told is an error that says how the program ended, where that was it.
func (v *live) told(err error) error {
	if v.program == nil || !errors.Is(err, errEnded) && !errors.Is(err, io.EOF) && !errors.Is(err, sdk.ErrConnectionClosed) {
		return err
	}
	text := "the program ended before it was ready"
	if how := v.program.ending(); how != "" {
		text += " (" + how + ")"
	}
	if said := v.program.said.list(); len(said) > 0 {
		text += "; it said at last: " + said[len(said)-1]
	}
	return sentence(text)
}

// transport makes the way to the server.
func (v *live) transport() (sdk.Transport, error) {
	l := v.l
	if l.c.URL != "" {
		t, idle, err := newWeb(l.c, l.signed, v.over)
		v.idle = idle
		return t, err
	}
	said := &lines{}
	l.mu.Lock()
	l.said = said
	l.mu.Unlock()
	g, err := start(l.m.ctx, l.c, l.m.o.Environ(), said, func(text string) {
		l.m.log(slog.LevelInfo, l.c.Name, l.clean(text), slog.String("from", "stderr"))
	})
	if err != nil {
		return nil, err
	}
	v.program = g
	junk := 0
	return newPipe(g.stdout, g.stdin, func(text string) {
		if junk++; junk <= maxLogged {
			l.m.log(slog.LevelWarn, l.c.Name, l.clean(line(text)), slog.String("from", "stdout, which is no message"))
		}
	}, v.over), nil
}

// client is what speaks the protocol for this connection.
func (v *live) client() *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			v.tell(kindTools)
		},
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) {
			v.tell(kindPrompts)
		},
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			v.tell(kindResources)
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			v.progress(r.Params)
		},
	}
	if v.l.m.o.Interactive || v.l.m.o.Absent {
		o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		o.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return v.elicit(ctx, r.Params), nil
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: v.l.m.o.Name, Version: v.l.m.o.Version}, o)
	c.AddReceivingMiddleware(v.guarded)
	return c
}

// tell notes that a list of the server changed.
func (v *live) tell(kind int) {
	v.changed[kind].Store(true)
	select {
	case v.news <- struct{}{}:
	default:
	}
}

// watch waits until the library says that the connection is over.
func (v *live) watch() {
	if err := v.session.Wait(); err != nil {
		v.over(err)
		return
	}
	v.over(errEnded)
}

// over notes that the connection is over and cleans up after it.
func (v *live) over(why error) {
	v.once.Do(func() {
		v.why = why
		close(v.ended)
		v.cancel()
		v.l.m.spawn(func() {
			v.l.lost(v)
			v.clean()
			v.l.ended(v)
		})
	})
}

// isOver reports whether the connection is over.
func (v *live) isOver() bool {
	select {
	case <-v.ended:
		return true
	default:
		return false
	}
}

// clean ends all that belongs to the connection, in a bounded time.
func (v *live) clean() {
	v.mu.Lock()
	session := v.session
	v.mu.Unlock()
	left := make(chan struct{})
	go func() {
		defer close(left)
		if session != nil {
			_ = session.Close() // it is over, and the server has been told if it can be
		}
	}()
	if v.program != nil {
		v.program.end()
	}
	limit := time.NewTimer(farewell)
	defer limit.Stop()
	select {
	case <-left:
	case <-limit.C:
	}
	if v.idle != nil {
		v.idle()
	}
}

// end ends the connection and returns when nothing of it is left.
func (v *live) end(why error) {
	v.once.Do(func() {
		v.why = why
		close(v.ended)
		v.cancel()
	})
	v.clean()
}

// do asks something of the server. The context that ask gets ends with the caller's and
// with the connection.
func (v *live) do(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(v.ctx, cancel)() //nolint:contextcheck // it ends with the connection, too
	v.begin()
	defer v.finish()
	done := make(chan error, 1)
	go func() { done <- unbroken(func() error { return ask(ctx) }) }()
	select {
	case err := <-done:
		return v.cause(ctx, err)
	case <-v.ended:
	case <-ctx.Done():
	}
	// The answer may have come just before the end.
	limit := time.NewTimer(lag / 2)
	defer limit.Stop()
	select {
	case err := <-done:
		return v.cause(ctx, err)
	case <-limit.C:
		return v.cause(ctx, ctx.Err())
	}
}

// cause is why something that was asked failed: where the connection ended, what ended
// it.
func (v *live) cause(ctx context.Context, err error) error {
	if err == nil || answered(err) {
		return err
	}
	select {
	case <-v.ended:
		if ctx.Err() != nil || errors.Is(err, sdk.ErrConnectionClosed) {
			return goneError{v.why}
		}
	default:
	}
	return err
}

// begin and finish count what is asked of the server.
func (v *live) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy++; v.busy == 1 {
		v.busyCtx, v.busyDone = context.WithCancel(v.ctx)
	}
}

func (v *live) finish() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy--; v.busy == 0 {
		v.busyDone()
	}
}

// asking is the context of the questions of the server.
func (v *live) asking() context.Context {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy == 0 {
		return v.ctx
	}
	return v.busyCtx
}

// call calls a tool.
func (v *live) call(ctx context.Context, remote string, input []byte, report func(harness.Progress)) (r *sdk.CallToolResult, err error) {
	p := &sdk.CallToolParams{Name: remote, Arguments: jsonRaw(input)}
	token := fmt.Sprintf("call-%d", v.calls.Add(1))
	p.SetProgressToken(token)
	v.mu.Lock()
	v.reports[token] = report
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		delete(v.reports, token)
		v.mu.Unlock()
	}()
	var got *sdk.CallToolResult
	err = v.do(ctx, func(ctx context.Context) error {
		r, err := v.session.CallTool(ctx, p)
		got = r
		return err
	})
	if err != nil {
		return nil, err
	}
	return got, nil
}

// progress hands on how far a call is.
func (v *live) progress(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	v.mu.Lock()
	report := v.reports[token]
	v.mu.Unlock()
	if report != nil {
		report(harness.Progress{Done: p.Progress, Total: p.Total, Text: v.l.clean(line(p.Message))})
	}
}

// unknownThing reports whether an error says that there is no such thing.
func unknownThing(err error) bool {
	reply, ok := replyOf(err)
	return ok && (reply.Code == -32002 || reply.Code == jsonrpc.CodeInvalidParams)
}

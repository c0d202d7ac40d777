package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"cairn/harness"
)

// DefaultGrace is how long a cancelled call may take to return.
const DefaultGrace = 2 * time.Second

// errTimeout is the cause of a call's own deadline, to tell it from one above.
var errTimeout = errors.New("the tool took too long")

// outcome is what came of a tool's function.
type outcome struct {
	text   string
	images []harness.File
	err    error
	// again says that another try may go better.
	again bool
}

// Execute runs a call of tool t and returns its result, whatever happens. Tool
// and input are those that [Set.Prepare] gave: what the set has under the
// tool's name by now does not count.
func (s *Set) Execute(ctx context.Context, t Tool, call harness.ToolCall, c Call) harness.ToolResult {
	if c.Key == "" {
		c.Key = call.ID
	}
	r := s.repeat(ctx, t, c)
	r.CallID, r.Name = call.ID, call.Name
	return s.keep(ctx, c, s.bound(ctx, c, r, t.Whole))
}

// repeat calls the tool, again if that is worth it and does no harm.
func (s *Set) repeat(ctx context.Context, t Tool, c Call) harness.ToolResult {
	if ctx.Err() != nil {
		return harness.ToolResult{Text: "not run: the turn was stopped before it", Failed: true}
	}
	timeout := t.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	tries := t.Retry.tries(t.Replay)
	for c.Attempt = 1; ; c.Attempt++ {
		r, again := s.try(ctx, t, c, timeout)
		if !again || c.Attempt >= tries {
			if again && tries > 1 {
				r.Text += fmt.Sprintf(" (tried %d times)", tries)
			}
			return r
		}
		wait := t.Retry.pause(c.Attempt)
		if s.Log != nil {
			s.Log.LogAttrs(ctx, slog.LevelInfo, "try a tool again", slog.String("tool", t.Name), slog.Int("attempt", c.Attempt+1), slog.Duration("wait", wait))
		}
		if !sleep(ctx, wait) {
			return stopped(ctx, timeout)
		}
	}
}

// try calls the tool once, on a goroutine of its own, since a function that
// ignores its context must not hold up the run.
//
// What took too long has an unknown outcome, and yet it has a result, whatever
// the tool's replay policy: other than after a crash, somebody was there and
// can tell. The model reads that, looks at what came of it with its other tools
// and goes on; a person is not stopped over it, who may be away and knows no
// more. Nothing is made again by itself, and if the model calls it again, that
// is a new call, which the policy judges and a person may be asked about. Only
// a stop from outside leaves a call without a result; then the replay policy
// decides.
func (s *Set) try(ctx context.Context, t Tool, c Call, timeout time.Duration) (r harness.ToolResult, again bool) {
	inner, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	done := make(chan outcome, 1)
	go func() { done <- s.call(inner, t, c) }()
	select {
	case o := <-done:
		return o.result(inner, timeout)
	case <-inner.Done():
	}
	grace := s.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.result(inner, timeout)
	case <-timer.C:
		r = stopped(inner, timeout)
		r.Text += "; it did not heed its end and may still run"
		return r, false
	}
}

// call runs the function and turns a panic into an error.
func (s *Set) call(ctx context.Context, t Tool, c Call) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			if s.Log != nil {
				s.Log.LogAttrs(ctx, slog.LevelError, "tool panicked", slog.String("tool", t.Name), slog.String("stack", string(debug.Stack())))
			}
			o = outcome{err: fmt.Errorf("the tool broke: %v", p)}
		}
	}()
	c.shown = &shown{}
	o.text, o.err = t.Run(ctx, c)
	o.images = c.shown.take()
	o.again = transient(o.err) || o.err == nil && t.Retry.If != nil && t.Retry.If(o.text)
	return o
}

// result turns the outcome into a result. A function that returned without an
// error did its work, also if it was late.
func (o outcome) result(ctx context.Context, timeout time.Duration) (r harness.ToolResult, again bool) {
	switch {
	case o.err == nil:
		return harness.ToolResult{Text: o.text, Files: o.images}, o.again && ctx.Err() == nil
	case ctx.Err() != nil:
		return stopped(ctx, timeout), false
	default:
		text := oneLine(o.err.Error())
		var images []harness.File
		var f failureError
		if errors.As(o.err, &f) && strings.TrimSpace(f.text) != "" {
			text, images = f.text, o.images
		}
		if text == "" {
			text = "the tool failed without saying why"
		}
		return harness.ToolResult{Text: text, Files: images, Failed: true, Unknown: uncertain(o.err)}, o.again
	}
}

// stopped is the result of a call that was cut off.
func stopped(ctx context.Context, timeout time.Duration) harness.ToolResult {
	text := "interrupted, outcome unknown: it may have run in part"
	if errors.Is(context.Cause(ctx), errTimeout) {
		text = fmt.Sprintf("timed out after %s, outcome unknown: it may have run in part, so look before making the call again", timeout)
	}
	return harness.ToolResult{Text: text, Failed: true, Unknown: true}
}

// oneLine joins the lines of an error.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, replacement)), " ")
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"cairn/harness"
	"cairn/harness/agent/hook"
	"cairn/harness/tool"
)

// rewrite has the extensions change a call, once in a stretch.
func (t *Turn) rewrite(ctx context.Context, c harness.ToolCall) rewritten {
	if !has[BeforeTool](t) {
		return rewritten{call: c}
	}
	if w, ok := t.ext.calls[c.ID]; ok {
		return w
	}
	w := rewritten{call: c}
	err := each(t, "refused the call", func(x BeforeTool) error {
		next, err := x.BeforeTool(ctx, t.place(), copiedCall(w.call))
		if err != nil {
			return err
		}
		if next.ID != c.ID || next.Origin != c.Origin {
			return errIDs
		}
		w.call = next
		return nil
	})
	switch {
	case errors.Is(err, errIDs):
		w.broken = err
	case err != nil:
		w.no = err
	}
	if ctx.Err() != nil {
		return w // what an extension says of a turn that is being stopped does not count
	}
	if t.ext.calls == nil {
		t.ext.calls = map[string]rewritten{}
	}
	t.ext.calls[c.ID] = w
	return w
}

// guarded is a tool of which each try is told to hooks and whose results the
// extensions see first. broken takes in what fails the turn.
func (t *Turn) guarded(c harness.ToolCall, tl tool.Tool, broken *violation) tool.Tool {
	observed, changed := t.watch.on(), has[AfterTool](t)
	if !observed && !changed {
		return tl
	}
	run, at := tl.Run, t.place()
	var last error
	tl.Run = func(ctx context.Context, given tool.Call) (text string, err error) {
		if observed && given.Attempt > 1 {
			t.watch.add(againOf(at, c.Name, given.Attempt, last))
		}
		defer func() { last = err }()
		if !changed {
			return run(ctx, given)
		}
		defer func() {
			if p := recover(); p != nil {
				text, _ := t.seen(ctx, at, c, given, "", fmt.Errorf("%v", p), broken)
				panic(text)
			}
		}()
		text, err = run(ctx, given)
		return t.seen(ctx, at, c, given, text, err, broken)
	}
	return tl
}

// againOf is the event of another try of a tool.
func againOf(at hook.Place, name string, attempt int, last error) hook.Retry {
	e := hook.Retry{Place: at, Kind: hook.RetryTool, What: name, Attempt: attempt - 1, Next: attempt}
	if last != nil {
		e.Error = &harness.RunError{Kind: "tool", Text: last.Error()}
	}
	return e
}

// violation is what an extension did to a result, which fails the turn.
type violation struct {
	mu  sync.Mutex
	err error
}

func (v *violation) set(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = err
}

func (v *violation) get() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// changedError is what became of a tool's error.
type changedError struct {
	text string
	err  error
}

// Error implements error.
func (e *changedError) Error() string { return e.text }

// Unwrap keeps what the tool said of its error, such as that it passes, behind what
// the model is to read: what the tool had it read is no longer said.
func (e *changedError) Unwrap() []error {
	all := []error{tool.Failure(e.text)}
	if e.err != nil {
		all = append(all, e.err)
	}
	return all
}

// seen returns what the extensions make of what a tool returned. Its images are what
// they leave of them, none of a result that they withhold.
func (t *Turn) seen(ctx context.Context, at hook.Place, c harness.ToolCall, given tool.Call, text string, err error, broken *violation) (string, error) {
	r := harness.ToolResult{CallID: c.ID, Name: c.Name, Text: text, Files: given.Shown()}
	if err != nil {
		r.Text, r.Failed = err.Error(), true
	}
	fail := each(t, "withholds the result of the tool, which ran", func(x AfterTool) error {
		next, err := x.AfterTool(ctx, at, copiedCall(c), r)
		if err != nil {
			return err
		}
		if next.CallID != r.CallID || next.Name != r.Name {
			return errIDs
		}
		r.Text, r.Failed, r.Files = next.Text, next.Failed, next.Files
		return nil
	})
	given.Reshow(r.Files)
	switch {
	case fail != nil:
		given.Reshow(nil)
		if errors.Is(fail, errIDs) {
			broken.set(fail)
		}
		return "", fail
	case !r.Failed:
		return r.Text, nil
	case err != nil && r.Text == err.Error():
		return "", err
	default:
		return "", &changedError{r.Text, err}
	}
}

package agent

import (
	"context"
	"fmt"
	"runtime/debug"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/tool"
)

// maxParallel bounds the tools that run at the same time.
const maxParallel = 8

// prepared is a call that is about to run: the tool that was judged, and what
// it is given.
type prepared struct {
	call harness.ToolCall
	// as is what extensions made of the call.
	as    harness.ToolCall
	tool  tool.Tool
	given tool.Call
}

// exec runs calls at the same time, at most [maxParallel]; the loop asks for
// the others again. Right before, the policy is asked again, because the rules,
// the tools or the files may have changed meanwhile; a call that it holds up is
// not run.
func (t *Turn) exec(ctx context.Context, calls []harness.ToolCall) error {
	var records []loop.Record
	var ready []prepared
	for _, c := range calls[:min(len(calls), maxParallel)] {
		v := t.judge(ctx, c)
		consent := v.record.Permission == string(tool.Ask) && v.record.Digest == t.state.Approved(c.ID)
		switch {
		case v.broken != nil:
			return t.failed(ctx, v.broken)
		case v.refusal != nil:
			records = append(records, loop.Ended{Message: t.refusal(*v.refusal, t.state.Tried(c.ID))})
		case v.record.Permission == string(tool.Allow) || consent:
			repeatable := v.tool.Replay == tool.Safe || v.tool.Replay == tool.Idempotent
			records = append(records, loop.Began{CallID: c.ID, Repeatable: repeatable})
			ready = append(ready, prepared{call: c, as: v.as, tool: v.tool, given: v.given})
		default:
			t.later(v.record)
		}
	}
	if err := t.Soft.Err(); err != nil {
		return err // also what the policy said may come of that
	}
	if len(records) == 0 {
		return nil
	}
	if err := t.put(ctx, harness.Usage{}, records...); err != nil {
		return err
	}
	if t.single.only {
		t.single.began = true
		return nil
	}
	return t.gather(ctx, ready)
}

// outcome is what came of one call that ran.
type outcome struct {
	result harness.ToolResult
	broken any
	stack  []byte
	// violation is what an extension did that fails the turn.
	violation error
}

// gather runs calls and stores each result as it comes. It waits for all of
// them, so that none runs on behind the turn's back, and returns what failed.
func (t *Turn) gather(ctx context.Context, calls []prepared) error {
	outcomes, far := make(chan outcome), newProgress()
	for _, p := range calls {
		p.given.Progress = func(now harness.Progress) { far.report(p.call.ID, now) }
		go func() { outcomes <- t.run(ctx, p) }()
	}
	var errs []error
	var broken *outcome
	var violated error
	for range calls {
		o := t.next(outcomes, far, calls)
		if violated == nil {
			violated = o.violation
		}
		switch {
		case o.broken != nil:
			broken = &o
		case o.result.Unknown && ctx.Err() != nil:
			errs = append(errs, ctx.Err()) // nobody knows what it did: that is for whoever resumes
		default:
			if err := t.put(ctx, harness.Usage{}, loop.Ended{Message: resultMessage(o.result)}); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if broken != nil {
		// On this goroutine, where whoever drives the turn can catch it.
		panic(fmt.Sprintf("%v\n%s", broken.broken, broken.stack))
	}
	if violated != nil && len(errs) == 0 {
		return t.failed(ctx, violated)
	}
	return first(errs)
}

// first returns the first error that is not the end of the turn's context, else
// the first one.
func first(errs []error) error {
	for _, err := range errs {
		if err != context.Canceled && err != context.DeadlineExceeded { //nolint:errorlint // the context's own, as it gives them
			return err
		}
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// run executes one call with exactly the tool that was judged. The tool's own
// panics are results; one outside of it is handed on.
func (t *Turn) run(ctx context.Context, p prepared) (o outcome) {
	defer func() {
		if broken := recover(); broken != nil {
			o = outcome{broken: broken, stack: debug.Stack()}
		}
	}()
	var v violation
	r := t.Steps.Tools.Execute(ctx, t.guarded(p.as, p.tool, &v), p.as, p.given)
	r.Name = p.call.Name
	return outcome{result: r, violation: v.get()}
}

// refusal returns the message that answers a call which cannot run. tried says
// that it began before.
func (t *Turn) refusal(r harness.ToolResult, tried bool) harness.Message {
	if t.Steps.Tools.Redact != nil {
		r.Text = t.Steps.Tools.Redact(r.Text)
	}
	r.Text, r.Unknown = tool.Clip(r.Text, tool.MaxResult), tried
	return resultMessage(r)
}

func resultMessage(r harness.ToolResult) harness.Message {
	return harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &r}}}
}

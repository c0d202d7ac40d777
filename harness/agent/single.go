package agent

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/tool"
)

// single is how far one step of a [Turn] has come.
type single struct {
	// only says that the turn is driven step by step.
	only bool
	// stored says that something was stored that must not wait for a model call.
	stored bool
	// began says that calls may run now.
	began bool
}

// Step carries the run on from state s by one step, for drivers that keep each
// step for itself: up to a whole answer with the verdicts on its calls, until
// calls have begun, or until the run rests. Calls that began are then run with
// [Turn.Execute], each for itself. Otherwise it is [Turn.Drive].
func (t *Turn) Step(ctx context.Context, s loop.State) error {
	t.single = single{only: true}
	return t.Drive(ctx, s)
}

// over reports whether the step ends before cmd.
func (s single) over(cmd loop.Command) bool {
	if !s.only {
		return false
	}
	_, asks := cmd.(loop.CallModel)
	return s.began || asks && s.stored
}

// put takes in that records were stored.
func (s *single) put(records []loop.Record) {
	for _, r := range records {
		switch r.(type) {
		case loop.Condensed, loop.Uncondensed:
			// What a refusal taught is known to this turn only: it goes on.
		default:
			s.stored = true
		}
	}
}

// Execute runs one call that began in state s, and stores its result through the
// turn's sink. Right before, the policy is asked again: it may be long ago that the
// call began. If it does not allow the call any more, or not as it was agreed to,
// the call is not run and its result says so. Nothing is stored, and the context's
// error returned, if ctx ended before anybody could say what the call did.
func (t *Turn) Execute(ctx context.Context, s loop.State, id string) error {
	if err := t.resume(ctx, s); err != nil {
		return t.failed(ctx, err)
	}
	c := s.Call(id)
	v := t.judge(ctx, c)
	if err := t.Soft.Err(); err != nil {
		return err
	}
	r := v.record
	consent := r.Permission == string(tool.Ask) && r.Digest == s.Approved(id)
	switch {
	case v.broken != nil:
		return t.failed(ctx, v.broken)
	case v.refusal != nil:
		return t.put(ctx, harness.Usage{}, loop.Ended{Message: t.refusal(*v.refusal, false)})
	case r.Permission == string(tool.Allow), consent:
		return t.gather(ctx, []prepared{{call: c, as: v.as, tool: v.tool, given: v.given}})
	case r.Permission == string(tool.Deny):
		return t.put(ctx, harness.Usage{}, loop.Ended{Message: loop.Result(c, "permission denied: "+r.Reason, true, false)})
	default:
		text := fmt.Sprintf("not run: what %s would do has changed since it was allowed; make the call again", c.Name)
		return t.put(ctx, harness.Usage{}, loop.Ended{Message: loop.Result(c, text, true, false)})
	}
}

// resume gets the turn ready to go on from state s.
func (t *Turn) resume(ctx context.Context, s loop.State) error {
	t.state = s
	if t.Soft == nil {
		t.Soft = ctx
	}
	if t.Told == nil {
		t.Told = new(Told)
	}
	return t.enter(ctx, s)
}

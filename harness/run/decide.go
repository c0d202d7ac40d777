package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// Decide implements [harness.Engine]. Decisions about a run that is active in
// this process come too late: [harness.ErrBusy]. Of two that come at once one is
// taken; the other is [harness.ErrBusy] or [harness.ErrStale], or, if it comes
// after the first, [harness.ErrNotFound].
//
// An approval for the session or for always stores its rule in the engine's
// grants first, together with what the tool is now, and takes it back if the
// decision cannot be stored. It is refused if the tool changed since it was
// shown: approved once, it is shown again as it is.
func (l *Local) Decide(ctx context.Context, lease harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	s, _, err := l.take(ctx, lease.Session, "")
	if err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	a, err := l.decide(ctx, lease, id, ds)
	if err != nil {
		l.giveUp(lease.Session, s)
		return nil, fmt.Errorf("decide: %w", err)
	}
	if a.info.Status != harness.RunRunning {
		l.giveUp(lease.Session, s)
		a.finish(resultOf(a.info, a.state), nil)
		return a, nil
	}
	l.begin(ctx, s, a)
	return a, nil
}

// Approve lets the call of p run, once, as it was shown in p. It is
// [Local.Decide] for the commonest case. by says who decided.
func (l *Local) Approve(ctx context.Context, lease harness.Lease, id harness.RunID, p harness.Pending, by string) (harness.RunHandle, error) {
	return l.Resolve(ctx, lease, id, p, harness.DecideApprove, "", by)
}

// Decline refuses the call of p, or leaves its question unanswered. The model
// is told the reason; the run goes on.
func (l *Local) Decline(ctx context.Context, lease harness.Lease, id harness.RunID, p harness.Pending, reason, by string) (harness.RunHandle, error) {
	return l.Resolve(ctx, lease, id, p, harness.DecideDecline, reason, by)
}

// Resolve settles p as how says: text is the result of an uncertain call or the
// answer to a question; a retry and an abort have none.
func (l *Local) Resolve(ctx context.Context, lease harness.Lease, id harness.RunID, p harness.Pending, how harness.DecisionHow, text, by string) (harness.RunHandle, error) {
	return l.Decide(ctx, lease, id, harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: how, Text: text, By: by})
}

// Prune removes the runs that ended before the time, and returns how many. What
// was said in them stays in the conversations; runs that have not ended stay.
func (l *Local) Prune(ctx context.Context, before time.Time) (int, error) {
	n, err := l.o.Journal.Prune(ctx, before)
	if err != nil {
		return n, fmt.Errorf("prune runs: %w", err)
	}
	return n, nil
}

// decide stores decisions, and that the run goes on if nothing else waits or a
// rule was given that may cover it.
func (l *Local) decide(ctx context.Context, lease harness.Lease, id harness.RunID, ds []harness.Decision) (*active, error) {
	info, state, numbers, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Status.Closed() {
		return nil, fmt.Errorf("run %s has ended (%s) and waits for nothing: %w", id, info.Status, harness.ErrNotFound)
	}
	records, after, err := decisions(info, state, ds)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	var steps agent.Steps
	if after.Status() == harness.RunRunning || grants(ds) {
		if steps, err = l.steps(ctx, info.Config); err != nil {
			return nil, err
		}
	}
	given, err := l.grant(ctx, info, state, steps.Tools, ds)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	a := l.stretch(lease, info, state, steps, attempts(info, state))
	a.numbers = numbers
	if err := a.once(ctx, lostUsage(info, state), records...); err != nil {
		l.unsure(id, lease, err)
		return nil, errors.Join(err, l.revoke(context.WithoutCancel(ctx), given))
	}
	l.mended(id)
	return a, nil
}

// attempts is how many model attempts a run has made.
func attempts(info harness.Run, s loop.State) int {
	if info.Partial == nil {
		return s.Attempts()
	}
	return max(s.Attempts(), info.Partial.Attempt)
}

// unsure notes that nobody knows whether another stretch of the run was stored:
// if it was, the journal takes the run for running and it is interrupted.
func (l *Local) unsure(id harness.RunID, lease harness.Lease, err error) {
	if final(err) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken[id] = lease.Generation
}

// decisions returns the records that decisions about a run lead to, and the
// state after them. A run that nobody drives is taken up first.
func decisions(info harness.Run, state loop.State, ds []harness.Decision) ([]loop.Record, loop.State, error) {
	var records []loop.Record
	add := func(rs ...loop.Record) {
		for _, r := range rs {
			state, _ = loop.Step(state, r)
		}
		records = append(records, rs...)
	}
	if info.Status != harness.RunAwaiting {
		add(loop.Resume(state, harness.ResumeContinue, info.Partial, info.Config.Model)...)
	}
	decided, err := loop.Decide(state, ds...)
	if err != nil {
		return nil, state, err
	}
	add(decided...)
	// A rule that was given along may cover what still waits: it is judged again.
	switch on := len(state.Waiting()) == 0 || grants(ds); {
	case state.Status().Closed():
	case !on && state.Status() != harness.RunAwaiting:
		add(loop.Rested{Status: harness.RunAwaiting})
	case on && state.Status() == harness.RunAwaiting:
		add(loop.Resumed{How: harness.ResumeDecided})
	}
	return records, state, nil
}

// waiting returns what a run that nobody drives waits for, or will wait for
// once it goes on.
func waiting(info harness.Run, state loop.State) []harness.Pending {
	if info.Status != harness.RunAwaiting {
		state, _ = loop.Step(state, loop.Resumed{How: harness.ResumeContinue})
	}
	return state.Waiting()
}

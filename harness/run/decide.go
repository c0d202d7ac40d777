package run

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
)

// Decide implements [harness.Engine].
func (l *Local) Decide(ctx context.Context, lease harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	s, _, err := l.take(ctx, lease.Session, "")
	if err != nil {
		return nil, err
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

// decide stores decisions, and that the run goes on if nothing else waits.
func (l *Local) decide(ctx context.Context, lease harness.Lease, id harness.RunID, ds []harness.Decision) (*active, error) {
	info, state, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Status.Closed() {
		return nil, fmt.Errorf("run %s has ended (%s) and waits for nothing: %w", id, info.Status, harness.ErrNotFound)
	}
	steps, err := l.o.Steps(ctx, info.Config)
	if err != nil {
		return nil, err
	}
	records, err := decisions(info, state, ds)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	attempt := state.Attempts()
	if info.Partial != nil {
		attempt = max(attempt, info.Partial.Attempt)
	}
	a := l.stretch(lease, info, state, steps, attempt)
	if err := a.once(ctx, lostUsage(info, state), records...); err != nil {
		return nil, err
	}
	l.mended([]Closing{{Run: id}})
	return a, nil
}

// decisions returns the records that decisions about a run lead to. A run that
// nobody drives is taken up first.
func decisions(info harness.Run, state loop.State, ds []harness.Decision) ([]loop.Record, error) {
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
		return nil, err
	}
	add(decided...)
	switch left := len(state.Waiting()) > 0; {
	case state.Status().Closed():
	case left && state.Status() != harness.RunAwaiting:
		add(loop.Rested{Status: harness.RunAwaiting})
	case !left && state.Status() == harness.RunAwaiting:
		add(loop.Resumed{How: harness.ResumeDecided})
	}
	return records, nil
}

// waiting returns what a run that nobody drives waits for, or will wait for
// once it goes on.
func waiting(info harness.Run, state loop.State) []harness.Pending {
	if info.Status != harness.RunAwaiting {
		state, _ = loop.Step(state, loop.Resumed{How: harness.ResumeContinue})
	}
	return state.Waiting()
}

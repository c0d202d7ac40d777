package run

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
)

// Get implements [harness.Engine]. Of a run that has not ended the backend is asked;
// if it does not answer within some seconds, what was handed over is told, and why
// that is all.
func (r *Remote) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	info, err := r.o.Home.Get(ctx, id)
	if err != nil {
		return info, fmt.Errorf("run %s: %w", id, err)
	}
	if info.Status.Closed() {
		return info, nil
	}
	m, err := r.mirror(ctx, id)
	if err != nil {
		return info, err
	}
	within, end := context.WithTimeout(ctx, answerWithin)
	defer end()
	s := m.state
	job, err := r.get(within, m)
	if err == nil && job.Run.Cursor > m.info.Cursor {
		s, err = r.state(within, m)
	}
	if err == nil {
		info = overlaid(m.info, job)
	} else {
		info = r.unasked(ctx, m.info, err)
	}
	if ctx.Err() != nil {
		return info, fmt.Errorf("run %s: %w", id, ctx.Err())
	}
	if info.Status != harness.RunRunning && !info.Status.Closed() || info.Interrupted {
		info.Pending, info.Steers = waiting(info, s), saidInto(s)
	}
	return info, nil
}

// state returns the state that a run is in at the backend.
func (r *Remote) state(ctx context.Context, m *mirror) (loop.State, error) {
	entries, err := r.o.Backend.Read(ctx, m.info.ID, m.info.Cursor)
	if err != nil {
		return m.state, err
	}
	s := m.state
	for _, e := range entries {
		rec, err := recordOf(e)
		if err != nil {
			return s, err
		}
		s, _ = loop.Step(s, rec)
	}
	return s, nil
}

// overlaid returns a run as the backend has it, with what its session knows better.
func overlaid(home harness.Run, j Job) harness.Run {
	run := home
	run.Status, run.Stop, run.Error = j.Run.Status, j.Run.Stop, j.Run.Error
	run.Usage, run.Updated = j.Run.Usage, j.Run.Updated
	run.Partial, run.Interrupted = j.Run.Partial, j.Run.Interrupted
	run.Worker, run.Held, run.Waits = j.Run.Worker, j.Run.Held, j.Run.Waits
	run.Unfetched = max(0, j.Run.Cursor-home.Cursor)
	run.Cursor = max(home.Cursor, j.Run.Cursor)
	if p := run.Partial; p != nil && p.Text+p.Thinking == "" {
		run.Partial = nil // it became void
	}
	return run
}

// unasked returns a run of which the backend told nothing, with the reason.
func (r *Remote) unasked(ctx context.Context, home harness.Run, err error) harness.Run {
	home.Interrupted = false
	switch {
	case errors.Is(err, errOlder):
		home.Interrupted, home.Waits = true, r.o.Engine+" was put back from an older copy and does not have what was handed over of it; drop it"
	case errors.Is(err, harness.ErrNotFound) && home.Cursor <= 1:
		home.Interrupted, home.Waits = true, "it was not handed to "+r.o.Engine+" yet; resume it to try again"
	case errors.Is(err, harness.ErrNotFound):
		home.Interrupted, home.Waits = true, r.o.Engine+" does not have it any more; drop it"
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		home.Unreachable = fmt.Sprintf("%s did not answer within %d seconds", r.o.Engine, int(answerWithin.Seconds()))
	default:
		home.Unreachable = fmt.Sprintf("%s cannot be reached: %v", r.o.Engine, err)
	}
	return home
}

// List implements [harness.Engine]. A run that has ended and was not handed over
// yet is still among the unfinished ones. A backend that does not answer within some
// seconds is told in the runs.
func (r *Remote) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	limit := f.Limit
	f.Limit = 0
	all, err := r.o.Home.List(ctx, f)
	if err != nil {
		return nil, err
	}
	var runs []harness.Run
	for _, have := range all {
		if have.Engine != r.o.Engine {
			continue
		}
		if runs = append(runs, have); len(runs) == limit {
			break
		}
	}
	r.overlay(ctx, runs)
	return runs, ctx.Err()
}

// few is how many runs are asked for one by one; of more the backend lists those
// of the store that have not ended or were not handed over.
const few = 8

// overlay brings those of the runs up to date that are of this engine and have not
// ended.
func (r *Remote) overlay(ctx context.Context, runs []harness.Run) {
	var open []int
	for i, have := range runs {
		if have.Engine == r.o.Engine && !have.Status.Closed() {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return
	}
	within, end := context.WithTimeout(ctx, answerWithin)
	defer end()
	jobs, err := r.jobs(within, runs, open)
	for _, i := range open {
		j, ok := jobs[runs[i].ID]
		switch {
		case ok && j.Run.Cursor < runs[i].Cursor:
			runs[i] = r.unasked(ctx, runs[i], errOlder)
		case ok:
			runs[i] = overlaid(runs[i], j)
		case err != nil:
			runs[i] = r.unasked(ctx, runs[i], err)
		default:
			runs[i] = r.unasked(ctx, runs[i], harness.ErrNotFound)
		}
	}
}

// jobs returns what the backend has of runs.
func (r *Remote) jobs(ctx context.Context, runs []harness.Run, open []int) (map[harness.RunID]Job, error) {
	jobs := map[harness.RunID]Job{}
	if len(open) > few {
		for _, f := range []JobFilter{{Store: r.o.Store, Unfinished: true}, {Store: r.o.Store, Unacknowledged: true}} {
			all, err := r.o.Backend.List(ctx, f)
			if err != nil {
				return jobs, err
			}
			for _, j := range all {
				jobs[j.Run.ID] = j
			}
		}
		return jobs, nil
	}
	for _, i := range open {
		j, err := r.o.Backend.Get(ctx, runs[i].ID)
		switch {
		case err == nil:
			jobs[j.Run.ID] = j
		case !errors.Is(err, harness.ErrNotFound):
			return jobs, err
		}
	}
	return jobs, nil
}

// Attach implements [harness.Remote]. Of a run that rests the handle has the result.
func (r *Remote) Attach(ctx context.Context, l harness.Lease, id harness.RunID) (harness.RunHandle, error) {
	if l.Session == "" {
		return r.watchOnly(ctx, id)
	}
	leave, err := r.sit(ctx, l.Session, "")
	if err != nil {
		return nil, fmt.Errorf("attach to run %s: %w", id, err)
	}
	defer leave()
	return r.attach(ctx, l, id)
}

// attach returns a handle on a run that hands over what it does.
func (r *Remote) attach(ctx context.Context, l harness.Lease, id harness.RunID) (harness.RunHandle, error) {
	if have := r.find(id); have != nil {
		return have, nil
	}
	m, err := r.mirror(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	f := r.following(l, m, m.info.Cursor)
	if m.info.Status.Closed() {
		f.finish(resultOf(m.info, m.state))
		return f, nil
	}
	job, err := r.get(ctx, m)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		f.broke(fmt.Errorf("attach to run %s: %w", id, err))
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("attach: %w", r.silent(id, err))
	case job.Run.Status == harness.RunRunning:
		r.begin(ctx, f)
		return f, nil
	}
	return r.goOn(ctx, l, m, nil, m.info.Cursor)
}

// watchOnly returns a handle that hands nothing over.
func (r *Remote) watchOnly(ctx context.Context, id harness.RunID) (harness.RunHandle, error) {
	job, err := r.o.Backend.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", r.silent(id, err))
	}
	m := &mirror{info: job.Run}
	m.info.Cursor, m.info.Usage = 0, harness.Usage{}
	entries, err := r.o.Backend.Read(ctx, id, 0)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", r.silent(id, err))
	}
	for _, e := range entries {
		e.Record = 0
		if _, _, err := m.take(e); err != nil {
			return nil, fmt.Errorf("attach: %w", err)
		}
	}
	f := r.following(harness.Lease{}, m, m.info.Cursor)
	if m.info.Status != harness.RunRunning {
		f.finish(resultOf(m.info, m.state))
		return f, nil
	}
	r.begin(ctx, f)
	return f, nil
}

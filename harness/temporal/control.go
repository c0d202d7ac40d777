package temporal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"cairn/harness"
	"cairn/harness/run"
)

// Submit implements [run.Backend].
func (b *Backend) Submit(ctx context.Context, s run.Submission) error {
	id := s.Run.ID
	prefer, err := b.driveHere(s.Here)
	if err != nil {
		return fmt.Errorf("submit run %s: %w", id, err)
	}
	for _, data := range s.Artifacts {
		if err := b.blobs.putArtifact(ctx, data); err != nil {
			return fmt.Errorf("submit run %s: %w", id, err)
		}
	}
	in := input{Run: s.Run, First: s.First, Carried: s.Carried, Prefer: prefer, Settings: Settings{
		Queue: b.at.common(s.Carried.Needs), Beat: b.o.Lease, Claim: b.o.Claim, MaxEvents: b.o.MaxEvents,
	}}
	job := run.Job{Run: s.Run, Store: s.Carried.Store, Needs: s.Carried.Needs}
	job.Run.Cursor, job.Run.Status = 1, harness.RunRunning
	if s.Here {
		b.live.Begin(id, 0)
	}
	_, err = b.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflowID(id), TaskQueue: b.at.queue, Memo: map[string]any{memoJob: job},
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, flowType, in)
	var had *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &had):
		return nil
	case err != nil:
		if s.Here {
			b.live.End(id)
		}
		return failed("submit", id, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh[id] = b.o.Now()
	return nil
}

// updateWithin is how long a workflow may take to change its run: more than a
// server needs to give a worker up that went silent.
const updateWithin = 2 * time.Minute

// errSilent means that a workflow does not do anything.
var errSilent = errors.New("its workflow does not answer; see what the server says of it")

// update has the workflow of a run change it, and returns when that is stored.
func (b *Backend) update(ctx context.Context, op string, id harness.RunID, name string, arg any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, updateWithin+b.o.Lease, errSilent)
	defer cancel()
	h, err := b.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID(id), UpdateName: name, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errSilent):
		return fmt.Errorf("%s run %s: %w", op, id, errSilent)
	case err != nil:
		return failed(op, id, err)
	}
	return nil
}

// Resume implements [run.Backend].
func (b *Backend) Resume(ctx context.Context, id harness.RunID, how harness.ResumeHow, here bool) error {
	switch how {
	case harness.ResumeContinue, harness.ResumeRetry, harness.ResumeDrop, harness.ResumeClose:
	default:
		return fmt.Errorf("resume run %s: unknown way %q; use continue, retry, drop or close", id, how)
	}
	j, err := b.free(ctx, id)
	switch {
	case err != nil:
		return err
	case j.Run.Status.Closed():
		return fmt.Errorf("resume run %s: %w (%s)", id, errEnded, j.Run.Status)
	case j.Run.Worker != nil:
		return fmt.Errorf("resume run %s: %w", id, &harness.HeldError{Session: j.Run.Session, Run: id, Holder: *j.Run.Worker})
	}
	prefer, err := b.driveHere(here)
	if err != nil {
		return fmt.Errorf("resume run %s: %w", id, err)
	}
	if here {
		b.live.Begin(id, j.Run.Cursor)
	}
	if err := b.update(ctx, "resume", id, toResume, resuming{How: how, Prefer: prefer}); err != nil {
		if here {
			b.live.End(id)
		}
		return err
	}
	return nil
}

// free returns a run once nobody drives it any more whose driver shows no sign of
// life: the server takes it for alive a while longer. One that shows any is left
// at once.
func (b *Backend) free(ctx context.Context, id harness.RunID) (run.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, b.o.Lease+askWithin)
	defer cancel()
	last, err := b.lastSign(ctx, id)
	if err != nil {
		return run.Job{}, err
	}
	for signs := 0; ; {
		j, err := b.Get(ctx, id)
		if err != nil || j.Run.Worker == nil {
			return j, err
		}
		sign, err := b.lastSign(ctx, id)
		if !sign.Equal(last) {
			last, signs = sign, signs+1
		}
		if err != nil || signs > 1 { // one may have been on its way when it died
			return j, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return j, nil
		}
	}
}

// lastSign is when, by the server's clock, a driver of the run last showed that it
// lives.
func (b *Backend) lastSign(ctx context.Context, id harness.RunID) (last time.Time, err error) {
	d, err := b.describe(ctx, id)
	if err != nil {
		return last, err
	}
	for _, a := range d.pending {
		if at := a.GetLastHeartbeatTime().AsTime(); a.GetLastHeartbeatTime() != nil && at.After(last) {
			last = at
		}
	}
	return last, nil
}

// Decide implements [run.Backend].
func (b *Backend) Decide(ctx context.Context, id harness.RunID, here bool, ds ...harness.Decision) error {
	prefer, err := b.driveHere(here)
	if err != nil {
		return fmt.Errorf("decide: run %s: %w", id, err)
	}
	j, err := b.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case j.Run.Status.Closed():
		return fmt.Errorf("decide: run %s has ended (%s) and waits for nothing: %w", id, j.Run.Status, harness.ErrNotFound)
	}
	// One that goes on may be driven here already; its decision is refused.
	here = here && j.Run.Status != harness.RunRunning
	if here {
		b.live.Begin(id, j.Run.Cursor)
	}
	if err := b.update(ctx, "decide", id, toDecide, deciding{Decisions: ds, Prefer: prefer}); err != nil {
		if here {
			b.live.End(id)
		}
		return err
	}
	return nil
}

// Ask implements [run.Jobs].
func (b *Backend) Ask(ctx context.Context, id harness.RunID, a run.Ask) error {
	d, err := b.describe(ctx, id)
	switch {
	case err != nil:
		return err
	case !d.open:
		return nil
	}
	ctx, cancel := d.patience(ctx)
	defer cancel()
	err = d.explain(b.update(ctx, "ask", id, toAsk, asking{a}))
	switch {
	case errors.Is(err, errEnded):
		return nil
	case err != nil:
		return err
	case a == run.AskCancel:
		b.stop(id) // the server tells it too, a moment later
	}
	return nil
}

// stop stops what is under way here of a run that is to be cancelled.
func (b *Backend) stop(id harness.RunID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.driven[id] {
		s.stop(errAsked)
	}
}

// Acknowledge implements [run.Jobs]. While a run goes on its workflow notes that
// only every 50 entries, because each time takes some of the events that its history
// may have: until then other processes count entries as not fetched that the session
// has. This process does not.
func (b *Backend) Acknowledge(ctx context.Context, id harness.RunID, cursor int) error {
	d, err := b.describe(ctx, id)
	switch {
	case err != nil:
		return err
	case !d.open:
		return nil
	}
	s, err := query[standing](ctx, b, id, askJob)
	switch {
	case err != nil:
		return err
	case s.Job.Acknowledged >= cursor:
		return nil
	case s.Job.Run.Status == harness.RunRunning && cursor-s.Job.Acknowledged < seldom:
		b.confirm(id, cursor)
		return nil
	}
	err = b.update(ctx, "acknowledge", id, toAcknowledge, acknowledging{cursor})
	if errors.Is(err, harness.ErrNotFound) {
		// It may have ended just now, because it was acknowledged by another process.
		if d, e := b.describe(ctx, id); e == nil && !d.open {
			return nil
		}
	}
	return err
}

// confirm remembers that the session has entries.
func (b *Backend) confirm(id harness.RunID, cursor int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.fetched) >= maxFetched {
		clear(b.fetched)
	}
	b.fetched[id] = max(b.fetched[id], cursor)
}

// confirmed brings a job up to date with what was acknowledged here.
func (b *Backend) confirmed(j *run.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j.Acknowledged = max(j.Acknowledged, min(b.fetched[j.Run.ID], j.Run.Cursor))
}

// maxFetched bounds the runs of which it is remembered what was acknowledged.
const maxFetched = 1_000

// seldom is how many entries are acknowledged at once of a run that goes on.
const seldom = 50

// Live implements [run.Backend].
func (b *Backend) Live(ctx context.Context, id harness.RunID) (<-chan harness.Event, bool) {
	return b.live.Follow(ctx, id)
}

// Prune implements [run.Jobs]. What is stored apart of the runs stays: others may
// have parts in common with them.
func (b *Backend) Prune(ctx context.Context, p run.Prune) (int, error) {
	var closed []described
	var open []described
	err := b.each(ctx, false, func(d described) bool {
		if p.Store != "" && d.job.Store != p.Store {
			return true
		}
		if d.open {
			open = append(open, d)
		} else {
			closed = append(closed, d)
		}
		return true
	})
	if err != nil {
		return 0, fmt.Errorf("prune: %w", err)
	}
	jobs, err := b.standing(ctx, open)
	if err != nil {
		return 0, fmt.Errorf("prune: %w", err)
	}
	for _, j := range jobs {
		if j.Run.Status.Closed() {
			closed = append(closed, described{job: j, open: j.Acknowledged < j.Run.Cursor})
		}
	}
	slices.SortStableFunc(closed, func(a, b described) int { return b.job.Run.Updated.Compare(a.job.Run.Updated) })
	n := 0
	for i, d := range closed {
		if b.isPruned(d.job.Run.ID) {
			continue
		}
		old := !p.Before.IsZero() && d.job.Run.Updated.Before(p.Before)
		if !old && (p.Keep <= 0 || i < p.Keep) || d.open && !p.Force {
			continue
		}
		if err := b.remove(ctx, d); err != nil {
			return n, fmt.Errorf("prune: %w", err)
		}
		n++
	}
	return n, nil
}

func (b *Backend) isPruned(id harness.RunID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pruned[id]
}

// remove takes a run from the server.
func (b *Backend) remove(ctx context.Context, d described) error {
	id := d.job.Run.ID
	if d.open {
		if err := b.client.TerminateWorkflow(ctx, workflowID(id), d.runID, "pruned"); err != nil {
			return failed("remove", id, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	_, err := b.client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: b.at.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID(id), RunId: d.runID},
	})
	if err != nil {
		return failed("remove", id, err)
	}
	// The server takes its time; to this process it is gone.
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pruned[id] = true
	return nil
}

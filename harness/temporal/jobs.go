package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"cairn/harness"
	"cairn/harness/run"
)

// idPrefix begins the workflow ids of runs.
const idPrefix = "cairn-run-"

func workflowID(id harness.RunID) string { return idPrefix + string(id) }

// failed wraps an error of the server about a run.
func failed(op string, id harness.RunID, err error) error {
	var missing *serviceerror.NotFound
	var stuck *serviceerror.QueryFailed
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%s run %s: %w", op, id, harness.ErrNotFound)
	case errors.As(err, &stuck):
		return fmt.Errorf("%s run %s: %w: %w", op, id, errStuck, told(err))
	}
	return fmt.Errorf("%s run %s: %w", op, id, inWords(told(err)))
}

// errStuck means that a workflow cannot go on in the processes that there are.
var errStuck = errors.New("it cannot be followed here, perhaps because another version of this program began it or went on with it")

// described is what the server itself knows of a run.
type described struct {
	job  run.Job
	open bool
	// cut says that the workflow was ended on the server, and not by the run.
	cut bool
	// stuck says that its task fails again and again.
	stuck   bool
	pending []*workflowpb.PendingActivityInfo
	runID   string
}

func (b *Backend) describe(ctx context.Context, id harness.RunID) (described, error) {
	if b.isPruned(id) {
		return described{}, fmt.Errorf("get run %s: %w", id, harness.ErrNotFound)
	}
	w, err := b.client.DescribeWorkflow(ctx, workflowID(id), "")
	if err != nil {
		return described{}, failed("get", id, err)
	}
	r := w.RawResponse
	i := r.GetWorkflowExecutionInfo()
	d := described{pending: r.GetPendingActivities(), runID: i.GetExecution().GetRunId()}
	d.stuck = r.GetPendingWorkflowTask().GetAttempt() >= stuckFrom
	if d.open, d.cut = ended(i.GetStatus()); d.cut {
		return d, fmt.Errorf("get run %s: its workflow was ended on the server (%s): %w", id, strings.ToLower(i.GetStatus().String()), harness.ErrNotFound)
	}
	if i.GetType().GetName() != flowType {
		return d, fmt.Errorf("get run %s: it is a workflow of the type %s, which this program does not know: %w", id, i.GetType().GetName(), harness.ErrNewer)
	}
	d.job, err = b.remembered(i.GetMemo())
	if err != nil {
		return d, fmt.Errorf("get run %s: %w", id, err)
	}
	return d, nil
}

const (
	// stuckFrom is from which attempt on a workflow's task is taken to fail always,
	// stuckWithin how long is waited for one of which that is so.
	stuckFrom   = 3
	stuckWithin = 3 * time.Second
)

// patience bounds what is asked of a workflow that may not be able to answer.
func (d described) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if !d.stuck {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, stuckWithin, errStuck)
}

// explain says of an error that came of asking the workflow why, if that is known.
func (d described) explain(err error) error {
	if err == nil || !d.stuck || errors.Is(err, errStuck) {
		return err
	}
	return fmt.Errorf("run %s: %w: %w", d.job.Run.ID, errStuck, err)
}

// ended reads the status of a workflow. A run ends by itself with
// WORKFLOW_EXECUTION_STATUS_COMPLETED only.
func ended(s enums.WorkflowExecutionStatus) (open, cut bool) {
	open = s == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	return open, !open && s != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
}

// remembered returns what the memo says of a run.
func (b *Backend) remembered(m *commonpb.Memo) (j run.Job, err error) {
	if err := b.converter.FromPayload(m.GetFields()[memoJob], &j); err != nil {
		return j, fmt.Errorf("memo: %w", err)
	}
	p, ok := m.GetFields()[memoRest]
	if !ok {
		return j, nil
	}
	var s rest
	if err := b.converter.FromPayload(p, &s); err != nil {
		return j, fmt.Errorf("memo: %w", err)
	}
	r := &j.Run
	r.Status, r.Stop, r.Error, r.Cursor, r.Usage, r.Updated = s.Status, s.Stop, s.Error, s.Cursor, s.Usage, s.Updated
	j.Acknowledged = s.Acknowledged
	return j, nil
}

// Get implements [run.Jobs].
func (b *Backend) Get(ctx context.Context, id harness.RunID) (run.Job, error) {
	d, err := b.describe(ctx, id)
	if err != nil {
		return run.Job{}, err
	}
	return b.complete(ctx, d)
}

// complete asks the workflow how the run stands.
func (b *Backend) complete(ctx context.Context, d described) (run.Job, error) {
	id := d.job.Run.ID
	if !d.open {
		return d.job, nil
	}
	ctx, cancel := d.patience(ctx)
	defer cancel()
	s, err := query[standing](ctx, b, id, askJob)
	if err != nil {
		return d.job, d.explain(err)
	}
	j := s.Job
	b.confirmed(&j)
	r := &j.Run
	r.Unfetched = max(0, r.Cursor-j.Acknowledged)
	if r.Status != harness.RunRunning {
		b.live.End(id)
		return j, nil
	}
	for _, a := range d.pending {
		b.seen(r, a)
	}
	if r.Worker != nil {
		r.Waits = "" // of a call that is still to begin
	}
	if r.Worker == nil && r.Waits == "" {
		r.Waits = nobody
	}
	r.Interrupted = s.Orphan && r.Worker == nil
	return j, nil
}

// nobody says that a run waits for a worker.
const nobody = "no worker has taken it"

// seen takes in what an activity under way tells of its run.
func (b *Backend) seen(r *harness.Run, a *workflowpb.PendingActivityInfo) {
	if a.GetState() == enums.PENDING_ACTIVITY_STATE_SCHEDULED {
		if f := a.GetLastFailure(); r.Waits == "" {
			r.Waits = nobody
			if f.GetApplicationFailureInfo() != nil && f.GetMessage() != "" {
				r.Waits = f.GetMessage()
			}
		}
		return
	}
	r.Worker, r.Waits = holder(a.GetLastWorkerIdentity()), ""
	var s sign
	if d := a.GetHeartbeatDetails(); d == nil || b.converter.FromPayloads(d, &s) != nil {
		return
	}
	if p := s.partial(); p != nil {
		r.Partial = p
	}
}

// askWithin is how long a workflow may take to answer a question, tryWithin for
// how long one try is waited for: a question that was handed to a process which
// ended is answered by nobody.
const (
	askWithin = 30 * time.Second
	tryWithin = 5 * time.Second
)

// passes reports whether a question that was not answered is worth another try.
// This process works on workflows itself, so a server that has seen nobody do so
// lately has not heard of it yet, or the machine is busy.
func passes(err error) bool {
	var early *serviceerror.WorkflowNotReady
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &early) || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "query timed out") || strings.Contains(err.Error(), "no poller seen")
}

// query asks the workflow of a run.
func query[T any](ctx context.Context, b *Backend, id harness.RunID, what string, args ...any) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	for {
		once, stop := context.WithTimeout(ctx, tryWithin)
		r, err := b.client.QueryWorkflow(once, workflowID(id), "", what, args...)
		stop()
		switch {
		case err == nil:
			if err := r.Get(&v); err != nil {
				return v, fmt.Errorf("read run %s: %w", id, err)
			}
			return v, nil
		case ctx.Err() != nil || !passes(err):
			return v, failed("read", id, err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return v, failed("read", id, err)
		}
	}
}

// Read implements [run.Jobs].
func (b *Backend) Read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	d, err := b.describe(ctx, id)
	if err != nil {
		return nil, err
	}
	if !d.open {
		var f final
		if err := b.client.GetWorkflow(ctx, workflowID(id), d.runID).Get(ctx, &f); err != nil {
			return nil, failed("read", id, err)
		}
		return slices.Clip(f.Entries[min(max(after, 0), len(f.Entries)):]), nil
	}
	ctx, cancel := d.patience(ctx)
	defer cancel()
	entries, err := b.read(ctx, id, after)
	return entries, d.explain(err)
}

// read asks the workflow for entries.
func (b *Backend) read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	var entries []run.Entry
	for {
		p, err := query[page](ctx, b, id, askEntries, after)
		if err != nil {
			return nil, err
		}
		entries = append(entries, p.Entries...)
		if !p.More || len(p.Entries) == 0 {
			return entries, nil
		}
		after = p.Entries[len(p.Entries)-1].Seq
	}
}

// Artifact implements [run.Jobs].
func (b *Backend) Artifact(ctx context.Context, _ harness.RunID, name string) ([]byte, error) {
	return b.blobs.artifact(ctx, name)
}

// listed is how many runs a list has at most if no limit is given.
const listed = 1_000

// List implements [run.Jobs]. The server's lists lag behind a little; runs that
// were submitted by this process are in them at once.
func (b *Backend) List(ctx context.Context, f run.JobFilter) ([]run.Job, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = listed
	}
	found := map[harness.RunID]bool{}
	var open []described
	var jobs []run.Job
	add := func(j run.Job) {
		if matches(f, j) {
			jobs = append(jobs, j)
		}
	}
	err := b.each(ctx, f.Unfinished || f.Unacknowledged, func(d described) bool {
		found[d.job.Run.ID] = true
		switch {
		case d.cut:
		case f.Store != "" && d.job.Store != f.Store, f.Session != "" && d.job.Run.Session != f.Session:
		case d.open:
			open = append(open, d)
		default:
			add(d.job)
		}
		return len(open)+len(jobs) < limit
	})
	if err != nil {
		return nil, err
	}
	for _, id := range b.unlisted(found) {
		d, err := b.describe(ctx, id)
		switch {
		case errors.Is(err, harness.ErrNotFound):
		case err != nil:
			return nil, err
		case d.open:
			open = append(open, d)
		default:
			add(d.job)
		}
	}
	standing, err := b.standing(ctx, open)
	if err != nil {
		return nil, err
	}
	for _, j := range standing {
		add(j)
	}
	slices.SortStableFunc(jobs, func(a, b run.Job) int { return b.Run.Started.Compare(a.Run.Started) })
	return jobs[:min(limit, len(jobs))], nil
}

func matches(f run.JobFilter, j run.Job) bool {
	return (f.Store == "" || f.Store == j.Store) && (f.Session == "" || f.Session == j.Run.Session) &&
		(!f.Unfinished || !j.Run.Status.Closed()) && (!f.Unacknowledged || j.Acknowledged < j.Run.Cursor)
}

// unlisted returns the runs submitted here that a list does not have yet.
func (b *Backend) unlisted(found map[harness.RunID]bool) []harness.RunID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []harness.RunID
	for id, since := range b.fresh {
		if found[id] || b.o.Now().Sub(since) > listedWithin {
			delete(b.fresh, id)
		} else {
			ids = append(ids, id)
		}
	}
	return ids
}

// listedWithin is how long the server may take until a run is in its lists.
const listedWithin = time.Minute

// standing asks several workflows at once how they stand. Of one that cannot say it
// the result has what the server knows, and why: the others are not to suffer.
func (b *Backend) standing(ctx context.Context, open []described) ([]run.Job, error) {
	jobs, errs := make([]run.Job, len(open)), make([]error, len(open))
	turns := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i, d := range open {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if d, errs[i] = b.describe(ctx, d.job.Run.ID); errs[i] == nil {
				jobs[i], errs[i] = b.complete(ctx, d)
				if errs[i] != nil && !errors.Is(errs[i], harness.ErrNotFound) && ctx.Err() == nil {
					jobs[i] = d.job
					jobs[i].Run.Waits, errs[i] = errs[i].Error(), nil
				}
			}
			if errors.Is(errs[i], harness.ErrNotFound) {
				errs[i] = nil // it was removed meanwhile
			}
		})
	}
	all.Wait()
	jobs = slices.DeleteFunc(jobs, func(j run.Job) bool { return j.Run.ID == "" })
	return jobs, errors.Join(errs...)
}

// each calls take with the runs on the server, newest first, until it returns
// false.
func (b *Backend) each(ctx context.Context, open bool, take func(described) bool) error {
	q := "WorkflowType = '" + flowType + "'"
	if open {
		q += " AND ExecutionStatus = 'Running'"
	}
	var next []byte
	for {
		r, err := b.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: q, PageSize: 200, NextPageToken: next})
		if err != nil {
			return fmt.Errorf("list runs: %w", inWords(err))
		}
		for _, i := range r.GetExecutions() {
			id, ok := strings.CutPrefix(i.GetExecution().GetWorkflowId(), idPrefix)
			if !ok || b.isPruned(harness.RunID(id)) {
				continue
			}
			j, err := b.remembered(i.GetMemo())
			if err != nil {
				// Nobody can say whose it is; the others are not to suffer.
				b.o.Logger.Warn("list runs", slog.String("run", id), slog.String("error", err.Error()))
				continue
			}
			d := described{job: j, runID: i.GetExecution().GetRunId()}
			if d.open, d.cut = ended(i.GetStatus()); !take(d) {
				return nil
			}
		}
		if next = r.GetNextPageToken(); len(next) == 0 {
			return nil
		}
	}
}

// Watch implements [run.Jobs].
func (b *Backend) Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	d, err := b.describe(ctx, id)
	if err != nil {
		return nil, err
	}
	changed := make(chan struct{}, 1)
	go func() {
		defer close(changed)
		for ctx.Err() == nil {
			if b.watch(ctx, id, d.runID, changed) {
				<-ctx.Done()
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}()
	return changed, nil
}

// watch follows the history of a run; over says that it has ended.
func (b *Backend) watch(ctx context.Context, id harness.RunID, runID string, changed chan<- struct{}) (over bool) {
	events := b.client.GetWorkflowHistory(ctx, workflowID(id), runID, true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return false
		}
		switch e.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
			select {
			case changed <- struct{}{}:
			default:
			}
		default:
		}
	}
	return ctx.Err() == nil
}

package temporal

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// listen takes queries and updates. What a validator refuses leaves no trace.
func (f *flow) listen(ctx workflow.Context) error {
	job := func() (standing, error) { return standing{f.job, f.orphan, f.full}, nil }
	took := func() (carried, error) { return carried{f.in.Run, f.in.Carried}, nil }
	if err := workflow.SetQueryHandler(ctx, askJob, job); err != nil {
		return fmt.Errorf("query %s: %w", askJob, err)
	}
	if err := workflow.SetQueryHandler(ctx, askCarried, took); err != nil {
		return fmt.Errorf("query %s: %w", askCarried, err)
	}
	if err := workflow.SetQueryHandler(ctx, askEntries, f.page); err != nil {
		return fmt.Errorf("query %s: %w", askEntries, err)
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, toResume, f.resume, workflow.UpdateHandlerOptions{Validator: f.mayResume}); err != nil {
		return fmt.Errorf("update %s: %w", toResume, err)
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, toDecide, f.decide, workflow.UpdateHandlerOptions{Validator: f.mayDecide}); err != nil {
		return fmt.Errorf("update %s: %w", toDecide, err)
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, toAsk, f.ask, workflow.UpdateHandlerOptions{Validator: f.mayAsk}); err != nil {
		return fmt.Errorf("update %s: %w", toAsk, err)
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, toSteer, f.steer, workflow.UpdateHandlerOptions{Validator: f.maySteer}); err != nil {
		return fmt.Errorf("update %s: %w", toSteer, err)
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, toAcknowledge, f.acknowledge, workflow.UpdateHandlerOptions{}); err != nil {
		return fmt.Errorf("update %s: %w", toAcknowledge, err)
	}
	return nil
}

// pageSize is how many bytes of entries a query returns, unless the first has
// more. It is below the size from which payloads are stored apart.
const pageSize = 48 << 10

// page returns the entries past number after that fit one answer.
func (f *flow) page(after int) (page, error) {
	var p page
	size := 0
	for _, e := range f.entries[min(max(after, 0), len(f.entries)):] {
		data, err := json.Marshal(e)
		if err != nil {
			return p, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		if size += len(data); size > pageSize && len(p.Entries) > 0 {
			p.More = true
			break
		}
		p.Entries = append(p.Entries, e)
	}
	return p, nil
}

func (f *flow) mayResume(r resuming) error {
	drops := r.How == harness.ResumeDrop || r.How == harness.ResumeClose
	switch {
	case f.state.Status().Closed():
		return refused(fmt.Errorf("resume run %s: %w (%s)", f.in.Run.ID, errEnded, f.state.Status()))
	case f.full && !drops:
		return refused(fmt.Errorf("resume run %s: %w", f.in.Run.ID, errFull))
	default:
		return nil
	}
}

// resume goes on with the run or ends it. It returns when that is stored.
func (f *flow) resume(ctx workflow.Context, r resuming) error {
	drops := r.How == harness.ResumeDrop || r.How == harness.ResumeClose
	how := ending{off: r.How == harness.ResumeDrop, stop: harness.StopCancelled}
	if how.off {
		how.stop = harness.StopDropped
	}
	info := f.job.Run
	switch {
	case f.running() && drops:
		f.end = &how
		f.halt(true)
		return workflow.Await(ctx, func() bool { return !f.running() })
	case f.running():
		if f.afresh {
			f.attempt = run.Attempts(info, f.state)
			f.put(ctx, run.LostUsage(info, f.state), loop.Resume(f.state, r.How, info.Partial, info.Config.Model)...)
			f.job.Run.Partial, f.afresh = nil, false
		}
		f.move(r.Prefer)
		return nil
	case drops:
		f.put(ctx, run.LostUsage(info, f.state), loop.Cancel(f.state, info.Partial, info.Config.Model, how.off, how.stop)...)
		return f.remember(ctx)
	case info.Status == harness.RunAwaiting && !slices.ContainsFunc(f.state.Waiting(), certain):
		return nil // it would come to rest at once, for the same
	}
	f.begin(r.Prefer)
	f.put(ctx, run.LostUsage(info, f.state), loop.Resume(f.state, r.How, info.Partial, info.Config.Model)...)
	f.job.Run.Partial = nil
	return nil
}

// certain reports whether p is about a call that did not begin, which is judged
// again when its run is resumed.
func certain(p harness.Pending) bool { return !p.Uncertain }

// begin gets ready for another stretch.
func (f *flow) begin(prefer string) {
	f.attempt = run.Attempts(f.job.Run, f.state)
	f.prefer, f.orphan, f.begun, f.lost = prefer, false, false, 0
	f.job.Asked, f.end = run.AskNothing, nil
}

func (f *flow) mayDecide(d deciding) error {
	info := f.job.Run
	switch {
	case f.state.Status().Closed():
		return refused(fmt.Errorf("run %s has ended (%s) and waits for nothing: %w", info.ID, info.Status, harness.ErrNotFound))
	case f.running():
		return refused(fmt.Errorf("run %s goes on: %w", info.ID, harness.ErrBusy))
	}
	if _, _, err := run.Decided(info, f.state, d.Decisions...); err != nil {
		return refused(fmt.Errorf("run %s: %w", info.ID, err))
	}
	return nil
}

// decide takes decisions in.
func (f *flow) decide(ctx workflow.Context, d deciding) error {
	// Another update may have come in between.
	if err := f.mayDecide(d); err != nil {
		return err
	}
	info := f.job.Run
	records, after, err := run.Decided(info, f.state, d.Decisions...)
	if err != nil {
		return refused(err)
	}
	if after.Status() == harness.RunRunning {
		f.begin(d.Prefer)
	}
	f.put(ctx, run.LostUsage(info, f.state), records...)
	if f.running() {
		f.job.Run.Partial = nil
		return nil
	}
	return f.remember(ctx)
}

func (f *flow) mayAsk(a asking) error {
	switch {
	case a.Ask != run.AskPause && a.Ask != run.AskCancel:
		return refused(fmt.Errorf("%q cannot be asked of a run; ask for pause or cancel", a.Ask))
	case f.state.Status().Closed():
		return refused(fmt.Errorf("run %s: %w", f.in.Run.ID, errEnded))
	default:
		return nil
	}
}

// ask stops the run. A cancel is not taken back by a pause.
func (f *flow) ask(ctx workflow.Context, a asking) error {
	info := f.job.Run
	switch {
	case f.running() && a.Ask == run.AskCancel:
		f.job.Asked, f.end = run.AskCancel, &ending{stop: harness.StopCancelled}
		f.halt(true)
	case f.running() && f.job.Asked == run.AskNothing:
		f.job.Asked = run.AskPause
		f.halt(false)
	case !f.running() && !info.Status.Closed() && a.Ask == run.AskCancel:
		f.put(ctx, run.LostUsage(info, f.state), loop.Cancel(f.state, info.Partial, info.Config.Model, false, harness.StopCancelled)...)
		return f.remember(ctx)
	}
	return nil
}

// acknowledge takes in that the session has the entries up to a number.
func (f *flow) acknowledge(ctx workflow.Context, a acknowledging) error {
	f.job.Acknowledged = max(f.job.Acknowledged, min(a.Cursor, f.job.Run.Cursor))
	if f.over() {
		return f.remember(ctx)
	}
	return nil
}

// remember notes in the memo how the run stands, for lists.
func (f *flow) remember(ctx workflow.Context) error {
	r := f.job.Run
	return workflow.UpsertMemo(ctx, map[string]any{memoRest: rest{
		Status: r.Status, Stop: r.Stop, Error: r.Error, Cursor: r.Cursor, Usage: r.Usage, Updated: r.Updated, Acknowledged: f.job.Acknowledged,
	}})
}

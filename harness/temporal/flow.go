package temporal

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// flow is one run as a workflow. Whatever it does depends on its input, on what
// activities and updates brought, and on the server's time, and on nothing else:
// it is done again from the history by whoever takes the run over.
type flow struct {
	in      input
	job     run.Job
	entries []run.Entry
	state   loop.State
	attempt int
	// open are the calls that began and have not ended, repeatable those of them
	// that may run again.
	open       []string
	repeatable map[string]bool
	// begun says that hooks were told of the stretch.
	begun bool
	// prefer is the task queue that activities go to first, orphan says that nobody
	// took them there.
	prefer string
	orphan bool
	// end says how the run is to be ended.
	end *ending
	// busy are the activities under way, in the order in which they began.
	busy []*activityRun
	// lost counts the workers in a row that died with a step, afresh says that one
	// did and nobody has taken the run up since, full that the history is full.
	lost   int
	afresh bool
	full   bool
}

// ending is how a run is ended before its time.
type ending struct {
	off  bool
	stop harness.StopReason
}

// maxHistory is how many bytes the history of a run may have: a server ends a
// workflow at 50 MiB by itself.
const maxHistory = 40 << 20

// maxLost is how many workers in a row may die with a step before the run is taken
// to be what kills them.
const maxLost = 20

// runFlow is the workflow.
func runFlow(ctx workflow.Context, in input) (final, error) {
	// Runs that were recorded go on as they began: what changes the order of
	// commands asks for a version of its own.
	workflow.GetVersion(ctx, "run", workflow.DefaultVersion, 1)
	f := newFlow(in)
	f.append(in.First)
	if err := f.listen(ctx); err != nil {
		return final{}, err
	}
	for {
		if err := workflow.Await(ctx, func() bool { return f.running() || f.over() }); err != nil {
			return final{}, err
		}
		if f.over() {
			break
		}
		f.stretch(ctx)
		if err := f.remember(ctx); err != nil {
			return final{}, err
		}
	}
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return final{}, err
	}
	return final{f.job, f.entries}, nil
}

func newFlow(in input) *flow {
	f := &flow{in: in, prefer: in.Prefer, repeatable: map[string]bool{}}
	f.job = run.Job{Run: in.Run, Store: in.Carried.Store, Needs: in.Carried.Needs}
	f.job.Run.Cursor, f.job.Run.Usage, f.job.Run.Partial = 0, harness.Usage{}, nil
	return f
}

func (f *flow) running() bool { return f.state.Status() == harness.RunRunning }

// over reports whether nothing is left to be kept here.
func (f *flow) over() bool {
	return f.state.Status().Closed() && f.job.Acknowledged >= f.job.Run.Cursor
}

// append adds entries with their numbers.
func (f *flow) append(entries ...run.Entry) {
	r := &f.job.Run
	for _, e := range entries {
		if f.forestalls(e) {
			continue
		}
		e.Seq, e.Record = len(f.entries)+1, 0
		if e.Message != nil || e.Condensed != nil {
			e.Record = run.AwayRecord + e.Seq
		}
		record, err := run.RecordOf(e)
		if err != nil {
			// A newer worker made it. The task is tried again until one of that
			// version gets it.
			panic(fmt.Errorf("run %s: %w", r.ID, err))
		}
		f.state, _ = loop.Step(f.state, record)
		f.entries = append(f.entries, e)
		f.follow(record)
		r.Cursor, r.Updated, r.Usage = e.Seq, e.At, r.Usage.Add(e.Usage)
		if e.Message != nil && e.Message.Role == harness.RoleAssistant || e.Status.Closed() {
			r.Partial = nil
		}
		if e.Status != "" {
			r.Status, r.Stop, r.Error = e.Status, e.Stop, e.Error
		}
	}
}

// follow keeps the calls under way.
func (f *flow) follow(r loop.Record) {
	switch r := r.(type) {
	case loop.Began:
		f.open = append(f.open, r.CallID)
		f.repeatable[r.CallID] = r.Repeatable
	case loop.Ended:
		for _, p := range r.Message.Parts {
			if p.Result != nil {
				f.open = slices.DeleteFunc(f.open, func(id string) bool { return id == p.Result.CallID })
			}
		}
	case loop.Resumed:
		f.open = nil
	case loop.Answered:
		f.open, f.repeatable = nil, map[string]bool{}
	default:
	}
}

// put appends records of the workflow's own.
func (f *flow) put(ctx workflow.Context, u harness.Usage, records ...loop.Record) {
	entries, err := run.EntriesOf(workflow.Now(ctx).UTC(), u, records...)
	if err != nil {
		panic(fmt.Errorf("run %s: %w", f.job.Run.ID, err)) // they are the loop's own kinds
	}
	f.append(entries...)
}

// stretch carries the run on until it rests.
func (f *flow) stretch(ctx workflow.Context) {
	var lost harness.Usage
	for f.running() {
		if f.afresh {
			lost = run.LostUsage(f.job.Run, f.state)
		}
		have := workflow.GetInfo(ctx)
		f.full = f.full || have.GetCurrentHistoryLength() > f.in.MaxEvents || have.GetCurrentHistorySize() > maxHistory
		switch {
		case f.end != nil:
			f.put(ctx, lost, loop.Cancel(f.state, f.job.Run.Partial, f.in.Run.Config.Model, f.end.off, f.end.stop)...)
		case f.job.Asked == run.AskPause:
			f.put(ctx, lost, loop.Rested{Status: harness.RunPaused})
		case f.full:
			f.put(ctx, lost, f.tooLong(have.GetCurrentHistoryLength()))
		case len(f.open) > 0:
			f.tools(ctx)
		case f.waits():
			f.put(ctx, harness.Usage{}, loop.Rested{Status: harness.RunAwaiting})
		default:
			lost = f.step(ctx)
		}
	}
	f.job.Asked, f.end, f.begun, f.lost, f.afresh = run.AskNothing, nil, false, 0, false
}

// waits reports whether all that is left is that a person decides. That is so
// without a worker only after one was lost.
func (f *flow) waits() bool {
	rest, ok := f.state.Next().(loop.Rest)
	return ok && rest.Status == harness.RunAwaiting
}

// tooLong ends a run that has become too long for a workflow.
func (f *flow) tooLong(events int) loop.Record {
	if events <= f.in.MaxEvents {
		return loop.Rested{Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{
			Kind: "history",
			Text: fmt.Sprintf("this turn has more than %d MiB in its history, more than a workflow should have; send a message to go on in a new one", maxHistory>>20),
		}}
	}
	return loop.Rested{Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{
		Kind: "history",
		Text: fmt.Sprintf("this turn has more than %s in its history, more than a workflow should have; send a message to go on in a new one", harness.Count(f.in.MaxEvents, "event")),
	}}
}

// step has a worker carry the run on by one step. It returns what is to be booked
// if the stretch ends now.
func (f *flow) step(ctx workflow.Context) harness.Usage {
	d := f.perform(ctx, &activityRun{name: stepType})
	f.begun = f.begun || !d.Gone
	f.attempt = max(f.attempt, d.Attempt)
	left := f.job.Run.Partial
	f.append(d.Entries...)
	if f.afresh && !d.Gone {
		f.job.Run.Partial = nil // the entries have it
	}
	if !f.running() || d.Stopped || d.Gone {
		f.job.Run.Partial = d.Partial
	}
	if d.Gone && d.Partial == nil {
		f.job.Run.Partial = left
	}
	f.afresh = f.afresh && (d.Gone || len(d.Entries) == 0)
	if f.state.Status().Closed() {
		f.job.Run.Partial = nil
	}
	switch asked := f.end != nil || f.job.Asked != run.AskNothing; {
	case d.Gone:
		// Whoever goes on says how: a worker that takes the run over, or a person.
		f.lost++
		if f.afresh = true; f.lost >= maxLost {
			f.again(ctx, run.LostUsage(f.job.Run, f.state))
		}
	case d.Stopped && asked:
		return d.Lost
	case d.Stopped && (d.Partial != nil || d.Lost != harness.Usage{}):
		f.again(ctx, d.Lost)
	case !d.Stopped:
		f.lost = 0
	}
	return harness.Usage{}
}

// again goes on after the driver was lost: what it left of an answer stays in the
// history and out of the context, and what was under way is in doubt.
func (f *flow) again(ctx workflow.Context, u harness.Usage) {
	if f.lost >= maxLost {
		f.put(ctx, u, loop.Rested{Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{
			Kind: "worker", Text: fmt.Sprintf("%d workers in a row died with this step; look at their logs, then resume the run", f.lost),
		}})
		return
	}
	if p := f.job.Run.Partial; p != nil {
		f.attempt = max(f.attempt, p.Attempt)
	}
	f.put(ctx, u, loop.Resume(f.state, harness.ResumeRetry, f.job.Run.Partial, f.in.Run.Config.Model)...)
	f.job.Run.Partial = nil
}

// tools runs the calls that began, at the same time.
func (f *flow) tools(ctx workflow.Context) {
	var last []run.Entry
	doubt, deadly := false, false
	all := workflow.NewWaitGroup(ctx)
	for _, id := range slices.Clone(f.open) {
		all.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer all.Done()
			a := &activityRun{name: toolType, call: id, once: !f.repeatable[id]}
			d := f.perform(ctx, a)
			for _, e := range d.Entries {
				if e.Status == "" {
					f.append(e)
				} else {
					last = append(last, e) // the others are still to be heard of
				}
			}
			doubt, deadly = doubt || len(d.Entries) == 0, deadly || a.lost >= maxLost
		})
	}
	all.Wait(ctx)
	switch {
	case !f.running():
	case len(last) > 0:
		f.append(last[0])
	case doubt && f.end == nil && f.job.Asked == run.AskNothing:
		if deadly {
			f.lost = maxLost
		}
		f.again(ctx, harness.Usage{})
	}
}

// errDecode means that what an activity returned cannot be read.
var errDecode = errors.New("cannot be read here")

package temporal

import (
	"errors"
	"fmt"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// longest is how long an activity may take that shows signs of life: longer than
// any tool runs.
const longest = 30 * 24 * time.Hour

// activityRun is an activity under way.
type activityRun struct {
	name string
	// call is the call that it runs; once says that it may run once only.
	call string
	once bool
	stop workflow.CancelFunc
	// own says that it waits for the preferred process, back that it is to do so
	// again; vain counts how often nobody else came.
	own, back bool
	vain      int
	// lost counts the workers that died with it.
	lost int
}

// perform runs an activity where the run is driven, and elsewhere if nobody takes
// it there.
func (f *flow) perform(ctx workflow.Context, a *activityRun) done {
	f.busy = append(f.busy, a)
	defer func() { f.busy = slices.DeleteFunc(f.busy, func(b *activityRun) bool { return a == b }) }()
	for {
		var d done
		ctx, stop := workflow.WithCancel(workflow.WithActivityOptions(ctx, f.placed(a)))
		a.stop = stop
		t := task{Run: f.in.Run.ID, Cursor: f.job.Run.Cursor, Attempt: f.attempt, Begun: f.begun, Call: a.call, Once: a.once}
		if t.Afresh = f.afresh && a.call == ""; t.Afresh {
			t.Partial = f.job.Run.Partial
		}
		err := workflow.ExecuteActivity(ctx, a.name, t).Get(ctx, &d)
		stop()
		switch again, d := f.outcome(a, d, err); {
		case !again:
			return d
		case f.stopping(a):
			return done{Stopped: true, Unknown: true}
		}
	}
}

// stopping reports whether the activity is not to be begun any more.
func (f *flow) stopping(a *activityRun) bool {
	return f.end != nil || f.job.Asked == run.AskPause && a.call == ""
}

// placed says where and how an activity runs. A second attempt by the server's own
// account is one after a refusal: a worker that died is the workflow's to judge.
func (f *flow) placed(a *activityRun) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		TaskQueue: f.in.Queue, StartToCloseTimeout: longest, HeartbeatTimeout: f.in.Beat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
			NonRetryableErrorTypes: []string{"TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose"},
		},
	}
	a.own = f.prefer != "" && (!f.orphan || a.back)
	switch a.back = false; {
	case a.own:
		o.TaskQueue, o.ScheduleToStartTimeout = f.prefer, f.in.Claim
	case f.prefer != "":
		// The preferred process may only have been slow, and be the only one.
		o.ScheduleToStartTimeout = min(4*f.in.Claim<<min(a.vain, 16), maxVain)
	}
	return o
}

// maxVain bounds how long an activity waits for others before the preferred
// process is tried again.
const maxVain = time.Hour

// outcome reads what came of an activity; again says that it is to be run again.
func (f *flow) outcome(a *activityRun, d done, err error) (again bool, _ done) {
	var timeout *temporal.TimeoutError
	var activity *temporal.ActivityError
	if err == nil && a.own {
		f.orphan = false
	}
	switch {
	case err == nil && d.Gone && a.call != "" && !a.once, err == nil && d.Unknown && d.Stopped && a.call != "" && !a.once:
		return true, d // the call may simply run again
	case err == nil:
		return false, d
	case temporal.IsCanceledError(err):
		return true, d // it had not begun
	case errors.As(err, &timeout) && timeout.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START:
		if a.own {
			f.orphan = true
		} else {
			a.vain, a.back = a.vain+1, true
		}
		return true, d
	case errors.As(err, &timeout):
		var last sign
		if timeout.HasLastHeartbeatDetails() && timeout.LastHeartbeatDetails(&last) == nil {
			d.Partial = last.partial()
		}
		if a.lost++; a.call != "" && !a.once && a.lost < maxLost {
			return true, d
		}
		return false, done{Gone: true, Partial: d.Partial}
	case errors.As(err, &activity):
		return false, f.broke(a, activity)
	default:
		// The task is tried again: what is missing may come back.
		panic(fmt.Errorf("run %s: the result of a step %w: %w", f.in.Run.ID, errDecode, err))
	}
}

// broke is what comes of an activity that failed as none should. A call that may
// run again ends the run all the same: it would fail again, without end.
func (f *flow) broke(a *activityRun, err *temporal.ActivityError) done {
	if a.once {
		return done{Unknown: true}
	}
	what, text := "the step", err.Error()
	if a.call != "" {
		what = "what " + f.state.Call(a.call).Name + " returned"
	}
	if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) {
		text = app.Message()
	}
	entries, e := run.EntriesOf(f.job.Run.Updated, harness.Usage{}, loop.Rested{
		Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{Kind: "worker", Text: what + " could not be stored: " + text},
	})
	if e != nil {
		panic(e) // it is the loop's own kind
	}
	return done{Entries: entries}
}

// halt stops the activities under way: all of them, or those that a pause stops.
func (f *flow) halt(all bool) {
	for _, a := range f.busy {
		if a.stop != nil && (all || a.call == "") {
			a.stop()
		}
	}
}

// move has the activities that nobody has begun done elsewhere.
func (f *flow) move(prefer string) {
	f.prefer, f.orphan = prefer, false
	for _, a := range f.busy {
		if a.stop != nil {
			a.stop()
		}
	}
}

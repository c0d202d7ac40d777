package temporal

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// The names that are on the server. A change that runs under way could not follow
// gets a new number; see also the versions in [flow.run].
const (
	flowType = "cairn-run-1"
	stepType = "cairn-step-1"
	toolType = "cairn-tool-1"

	askJob     = "job"
	askEntries = "entries"
	askCarried = "carried"

	toResume      = "resume"
	toDecide      = "decide"
	toAsk         = "ask"
	toAcknowledge = "acknowledge"

	memoJob  = "job"
	memoRest = "rest"
)

// input is what a workflow begins with.
type input struct {
	Run     harness.Run `json:"run"`
	First   run.Entry   `json:"first"`
	Carried run.Carried `json:"carried"`
	Settings
	// Prefer is the task queue of the process that drives the run, if it is free.
	Prefer string `json:"prefer,omitempty"`
}

// Settings are the part of the options that a run keeps, because its workflow
// depends on them.
type Settings struct {
	// Queue is the task queue of the workers that may drive the run.
	Queue string `json:"queue"`
	// Beat is after how long without a sign of life a worker is taken for dead.
	Beat time.Duration `json:"beat"`
	// Claim is how long the preferred process may take to begin.
	Claim time.Duration `json:"claim"`
	// MaxEvents is how many events the run's history may have.
	MaxEvents int `json:"max_events"`
}

// task is what an activity is to do. All else it asks the workflow for, so that
// the history does not grow with each step by all the steps before.
type task struct {
	Run harness.RunID `json:"run"`
	// Cursor is the number of the last entry, Attempt of the last model attempt.
	Cursor  int `json:"cursor"`
	Attempt int `json:"attempt,omitempty"`
	// Begun says that hooks know of the stretch.
	Begun bool `json:"begun,omitempty"`
	// Afresh says that the worker before died, Partial is what it left of an answer.
	Afresh  bool             `json:"afresh,omitempty"`
	Partial *harness.Partial `json:"partial,omitempty"`
	// Call is the call to be run, empty for a step. Once says that nobody may run
	// it again without being asked.
	Call string `json:"call,omitempty"`
	Once bool   `json:"once,omitempty"`
}

// done is what came of a task.
type done struct {
	// Entries have no numbers yet.
	Entries []run.Entry `json:"entries,omitempty"`
	// Partial is the half answer that is left.
	Partial *harness.Partial `json:"partial,omitempty"`
	Attempt int              `json:"attempt,omitempty"`
	// Stopped says that the task was left before its end: it was to be, or the
	// worker ends. Lost is what is to be booked then.
	Stopped bool          `json:"stopped,omitempty"`
	Lost    harness.Usage `json:"lost,omitzero"`
	// Unknown says that nobody knows what the call did.
	Unknown bool `json:"unknown,omitempty"`
	// Gone says that a worker had the task before and died.
	Gone bool `json:"gone,omitempty"`
}

// standing is the answer to the query for the job.
type standing struct {
	Job run.Job `json:"job"`
	// Orphan says that the process that was to drive the run does not.
	Orphan bool `json:"orphan,omitempty"`
	// Full says that the run cannot go on.
	Full bool `json:"full,omitempty"`
}

// rest is what the memo says of a run that rests.
type rest struct {
	Status       harness.RunStatus  `json:"status"`
	Stop         harness.StopReason `json:"stop,omitempty"`
	Error        *harness.RunError  `json:"error,omitempty"`
	Cursor       int                `json:"cursor"`
	Usage        harness.Usage      `json:"usage"`
	Updated      time.Time          `json:"updated"`
	Acknowledged int                `json:"acknowledged"`
}

// page is some entries of a run.
type page struct {
	Entries []run.Entry `json:"entries"`
	More    bool        `json:"more,omitempty"`
}

// carried is what the run took along.
type carried struct {
	Run     harness.Run `json:"run"`
	Carried run.Carried `json:"carried"`
}

// final is what the workflow of a run returns that was handed over.
type final struct {
	Job     run.Job     `json:"job"`
	Entries []run.Entry `json:"entries"`
}

type (
	// resuming and the others are the arguments of the updates.
	resuming struct {
		How    harness.ResumeHow `json:"how"`
		Prefer string            `json:"prefer,omitempty"`
	}
	deciding struct {
		Decisions []harness.Decision `json:"decisions"`
		Prefer    string             `json:"prefer,omitempty"`
	}
	asking struct {
		Ask run.Ask `json:"ask"`
	}
	acknowledging struct {
		Cursor int `json:"cursor"`
	}
)

// sentinel is an error that comes back over the server, with its type there.
type sentinel struct {
	name string
	is   error
}

// sentinels are in the order in which they are looked for, which the history
// depends on.
func sentinels() []sentinel {
	return []sentinel{
		{"decision", loop.ErrDecision},
		{"stale", harness.ErrStale},
		{"busy", harness.ErrBusy},
		{"ended", errEnded},
		{"full", errFull},
		{"unfit", run.ErrUnfit},
		{"not_found", harness.ErrNotFound},
	}
}

var (
	errEnded = errors.New("the run has ended")
	// errFull means that a run has as many events as its server is made for.
	errFull = errors.New("the history of the run is full; start a new turn")
)

// refused returns err as the server hands it on.
func refused(err error) error {
	if err == nil {
		return nil
	}
	for _, s := range sentinels() {
		if errors.Is(err, s.is) {
			return temporal.NewNonRetryableApplicationError(err.Error(), s.name, nil)
		}
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), "other", nil)
}

// said is an error that came from the other side.
type said struct {
	text string
	is   error
}

// Error implements error.
func (e *said) Error() string { return e.text }

// Unwrap returns the sentinel.
func (e *said) Unwrap() error { return e.is }

// told is the inverse of refused.
func told(err error) error {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return err
	}
	for _, s := range sentinels() {
		if s.name == app.Type() {
			return &said{app.Message(), s.is}
		}
	}
	return fmt.Errorf("temporal: %s", app.Message())
}

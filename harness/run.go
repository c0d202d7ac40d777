package harness

import (
	"context"
	"time"
)

// RunStatus is where a run stands.
type RunStatus string

// The statuses of a run. Interrupted is not among them: it is derived, a
// running run without a living owner ([Run.Interrupted]).
const (
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
	RunAwaiting  RunStatus = "awaiting_input"
	RunPaused    RunStatus = "paused"
	RunCancelled RunStatus = "cancelled"
	RunFailed    RunStatus = "failed"
)

// Closed reports whether the run has ended for good. A failed or paused run
// may still be continued.
func (s RunStatus) Closed() bool { return s == RunCompleted || s == RunCancelled }

// StopReason says why a reply or a run ended.
type StopReason string

// The reasons. Those of the model first, then cairn's own.
const (
	StopEnd       StopReason = "end_turn"
	StopTools     StopReason = "tool_use"
	StopLength    StopReason = "max_tokens"
	StopRefusal   StopReason = "refusal"
	StopSafety    StopReason = "safety"
	StopPause     StopReason = "pause_turn"
	StopOther     StopReason = "other"
	StopSteps     StopReason = "max_iterations"
	StopEmpty     StopReason = "empty_reply"
	StopCancelled StopReason = "cancelled"
	StopError     StopReason = "error"
	StopDropped   StopReason = "dropped"
)

// RunConfig is the configuration a run began with and keeps.
type RunConfig struct {
	// Agent is "name@version".
	Agent string `json:"agent"`
	// Model is "provider/model".
	Model string `json:"model"`
	// System is the system prompt.
	System string `json:"system,omitempty"`
	// NoMemory says that nothing is recalled, and that the memory tools are not
	// offered.
	NoMemory bool `json:"no_memory,omitempty"`
	// MaxSteps bounds the model calls of the turn; 0 means 50.
	MaxSteps int `json:"max_steps,omitempty"`
}

// Partial is streamed text that is not a message yet. It is replaced as it
// grows and removed by the transaction that stores the answer.
type Partial struct {
	// Attempt counts the model calls of the run, from 1.
	Attempt  int       `json:"attempt"`
	Text     string    `json:"text,omitempty"`
	Thinking string    `json:"thinking,omitempty"`
	At       time.Time `json:"at"`
}

// RunError is a failure as data.
type RunError struct {
	// Kind is one word for programs, such as "rate_limit" or "auth".
	Kind string `json:"kind"`
	// Text is one sentence for people, with what to do.
	Text string `json:"text"`
}

// Error implements error.
func (e *RunError) Error() string { return e.Text }

// Run is the execution of one turn.
type Run struct {
	ID      RunID     `json:"id"`
	Session SessionID `json:"session"`
	// Request makes a start idempotent: a second start with it returns the
	// first one's run.
	Request string `json:"request,omitempty"`
	// Engine names what persists the run, such as "bbolt".
	Engine string     `json:"engine"`
	Status RunStatus  `json:"status"`
	Stop   StopReason `json:"stop,omitempty"`
	Error  *RunError  `json:"error,omitempty"`
	Config RunConfig  `json:"config"`
	// First is the record number of the user message that began it.
	First int `json:"first"`
	// Cursor is the number of the last journal entry.
	Cursor int    `json:"cursor"`
	Usage  Usage  `json:"usage"`
	Host   string `json:"host,omitempty"`
	Dir    string `json:"dir,omitempty"`
	// Driver is the session's generation under which the run was last driven.
	Driver  int       `json:"driver,omitempty"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	// Partial is the streamed text on disk, nil if there is none.
	Partial *Partial `json:"partial,omitempty"`
	// Interrupted says that the run is stored as running and nobody drives it:
	// its driver died or lost the session. It is filled in on reading and never
	// stored.
	Interrupted bool `json:"interrupted,omitempty"`
	// Pending are the decisions that the run waits for, or will wait for once an
	// interrupted one goes on. Only [Engine].Get fills it in; it is never stored.
	Pending []Pending `json:"pending,omitempty"`
	// Steers are what was said into the run and waits until it goes on, filled in
	// like Pending.
	Steers []Steer `json:"steers,omitempty"`

	// The rest is about a run that is kept elsewhere ([Run.Away]); it is filled in
	// on reading by its engine and never stored.

	// Worker is who drives it, nil if nobody does.
	Worker *Holder `json:"worker,omitempty"`
	// Held is for how much longer Worker has the run unless it is heard of again,
	// when the run was read; 0 if the engine needs no such time or does not tell.
	Held time.Duration `json:"-"`
	// Waits says why a run that is to go on is driven by nobody: "no worker has
	// taken it", or why those that looked at it refused.
	Waits string `json:"waits,omitempty"`
	// Unfetched counts the entries that its session was not handed over yet.
	Unfetched int `json:"unfetched,omitempty"`
	// Unreachable says why its engine could not be asked: what is told of the run
	// is what was handed over.
	Unreachable string `json:"unreachable,omitempty"`
}

// Result is how a run ended or stands.
type Result struct {
	Run     RunID      `json:"run"`
	Session SessionID  `json:"session"`
	Status  RunStatus  `json:"status"`
	Stop    StopReason `json:"stop,omitempty"`
	// Text is the text of the last answer.
	Text  string    `json:"text,omitempty"`
	Usage Usage     `json:"usage"`
	Error *RunError `json:"error,omitempty"`
	// Pending are the decisions that wait.
	Pending []Pending `json:"pending,omitempty"`
	// Unasked are the calls that were denied because nobody could be asked.
	Unasked []Pending `json:"unasked,omitempty"`
}

// EventType names an [Event] in the machine interface. The names are stable.
type EventType string

// The types of events.
const (
	// EventRunStarted says that the user's message is on disk.
	EventRunStarted EventType = "run_started"
	// EventText and EventThinking carry streamed text at an offset.
	EventText     EventType = "text_delta"
	EventThinking EventType = "thinking_delta"
	// EventReset says that the text of this attempt so far is void.
	EventReset EventType = "attempt_reset"
	// EventMessage carries a whole stored message.
	EventMessage EventType = "message"
	// EventToolStart and EventToolResult frame a tool.
	EventToolStart  EventType = "tool_start"
	EventToolResult EventType = "tool_result"
	// EventProgress says in Progress how far the tool in Call is. The last one of a
	// call counts; none comes after its result.
	EventProgress EventType = "tool_progress"
	// EventUnclaimed says in Text that nobody has taken the run for some seconds,
	// and why; resuming it drives it here.
	EventUnclaimed EventType = "unclaimed"
	// EventWaiting is a sign of life from something slow.
	EventWaiting EventType = "waiting"
	// EventRetry says that a call will be made again after a wait, or at once with
	// the model that Text names.
	EventRetry EventType = "retry"
	// EventRecovery says that the loop mended something.
	EventRecovery EventType = "recovery"
	// EventApproval, EventQuestion and EventUncertain ask a person, one event
	// for each decision that waits, in Pending.
	EventApproval  EventType = "approval_required"
	EventQuestion  EventType = "input_required"
	EventUncertain EventType = "recovery_required"
	// EventSteered carries in Message what a person said into the run and in Steer
	// its id. It waits; the EventMessage with the same id says that the model is
	// told it next.
	EventSteered EventType = "steered"
	// EventDecided says in Text what a person decided about Call.
	EventDecided EventType = "decided"
	// EventCondensed says in Condensed how old messages were condensed; Record is
	// the number of that record.
	EventCondensed EventType = "context_condensed"
	// EventMemory says that a note or fact was written.
	EventMemory EventType = "memory_written"
	// EventResult ends a stretch of the run: it ended, or waits.
	EventResult EventType = "run_result"
)

// Event is one thing that happened in a run. An event with a Seq is an
// acknowledgement: the journal entry of that number is on disk. Events without
// one are for the eye; a reader that fell behind loses nothing that counts.
type Event struct {
	Type    EventType `json:"type"`
	Session SessionID `json:"session"`
	Run     RunID     `json:"run"`
	// Seq is the journal entry's number, 0 if nothing was journaled.
	Seq int `json:"seq,omitempty"`
	// Record is the number of the stored message.
	Record int `json:"record,omitempty"`
	// Attempt and Offset place streamed text: Text begins at byte Offset of
	// the attempt's text.
	Attempt int         `json:"attempt,omitempty"`
	Offset  int         `json:"offset,omitempty"`
	Text    string      `json:"text,omitempty"`
	Message *Message    `json:"message,omitempty"`
	Call    *ToolCall   `json:"call,omitempty"`
	Result  *ToolResult `json:"result,omitempty"`
	// Steer is the id of what a person said into the run.
	Steer string `json:"steer,omitempty"`
	// Progress is set for EventProgress.
	Progress *Progress `json:"progress,omitempty"`
	// Pending is the decision that is asked for; Call is its call.
	Pending *Pending `json:"pending,omitempty"`
	// Wait is in whole seconds, of EventRetry and EventWaiting.
	Wait  int       `json:"wait_seconds,omitempty"`
	Error *RunError `json:"error,omitempty"`
	// Outcome is set for EventResult, Condensed for EventCondensed.
	Outcome   *Result    `json:"outcome,omitempty"`
	Condensed *Condensed `json:"condensed,omitempty"`
	At        time.Time  `json:"at"`
}

// ResumeHow says what to do with the half answer of an unfinished run.
type ResumeHow string

// The ways to resume.
const (
	// ResumeContinue keeps the half answer as a message marked interrupted
	// and asks the model to go on from there.
	ResumeContinue ResumeHow = "continue"
	// ResumeRetry keeps it in the history, out of the context, and asks again.
	ResumeRetry ResumeHow = "retry"
	// ResumeDrop ends the run as cancelled; the half answer stays in history.
	ResumeDrop ResumeHow = "drop"
	// ResumeClose ends the run as cancelled because another message follows; the
	// half answer stays in the context.
	ResumeClose ResumeHow = "close"
	// ResumeDecided is how a run goes on after the decisions that it waited
	// for; only [Engine].Decide uses it.
	ResumeDecided ResumeHow = "decided"
)

// StartRequest asks for a run.
type StartRequest struct {
	Lease   Lease
	Message Message
	Config  RunConfig
	// Request is the caller's id of this start; empty means a fresh one.
	Request string
	Dir     string
}

// RunFilter chooses runs.
type RunFilter struct {
	Session SessionID
	// Unfinished keeps the runs that have not ended.
	Unfinished bool
	Limit      int
}

// RunHandle follows one run. Leaving it does not stop the run.
type RunHandle interface {
	ID() RunID
	// Events returns the run's events after journal entry after, without a
	// gap, then live ones, until the run rests (a run_result event) or ctx
	// ends. For a slow reader streamed text is merged, never dropped.
	Events(ctx context.Context, after int) <-chan Event
	// Wait returns when the run rests: it ended, failed, paused or waits.
	Wait(ctx context.Context) (Result, error)
}

// Engine executes runs durably. Failures of a turn are data in the [Result];
// errors are about the request itself.
type Engine interface {
	// Start stores the message and begins the run; it returns when the
	// message is on disk. Interrupted, paused and failed runs of the session
	// are closed as cancelled in the same transaction.
	Start(ctx context.Context, r StartRequest) (RunHandle, error)
	// Resume goes on with an unfinished run.
	Resume(ctx context.Context, l Lease, id RunID, how ResumeHow) (RunHandle, error)
	// Decide answers decisions that a run waits for. They are on disk when it
	// returns, all or nothing, and the run goes on once nothing waits any more:
	// the handle follows it, or is at rest. An interrupted run is taken up
	// first. The rule of an approval for the session or for always is stored as
	// a [Grant] before, and the run goes on at once with whatever else that
	// covers. [ErrNotFound] if the call does not wait, [ErrStale] if
	// what waits is not what was shown, [ErrBusy] while something of the session
	// is active in this process, [ErrLost] if the lease was lost.
	Decide(ctx context.Context, l Lease, id RunID, ds ...Decision) (RunHandle, error)
	// Cancel stops the active run; what was streamed stays as an interrupted
	// message. A run at rest that has not ended is ended with Resume and
	// [ResumeDrop], which takes the lease that writing needs: [ErrNotFound].
	Cancel(ctx context.Context, id RunID) error
	// Pause stops the run so that it can be resumed, and waits for that.
	Pause(ctx context.Context, id RunID) error
	Get(ctx context.Context, id RunID) (Run, error)
	List(ctx context.Context, f RunFilter) ([]Run, error)
	// Close pauses the active runs and waits for them.
	Close(ctx context.Context) error
}

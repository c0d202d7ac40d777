// Package loop is the agent loop without its input and output. A [State] is
// the fold of the records so far, and [State.Next] says what must happen before
// the next record can exist. Nothing here blocks, reads a clock, draws a random
// number or can fail, so one loop serves the direct driver, the journaled
// driver and a Temporal workflow, and none of them can differ. The one thing to
// know: drivers decide nothing; they carry out a [Command] and report a [Record].
package loop

import (
	"cairn/harness"
)

// Bounds of the recoveries in one turn.
const (
	// DefaultSteps bounds the model calls of a turn.
	DefaultSteps = 50
	// MaxTruncations bounds the times a reply cut at its token budget is asked
	// to go on.
	MaxTruncations = 3
	// MaxEmpty bounds the nudges after a reply without content.
	MaxEmpty = 2
	// MaxPauses bounds the times a paused reply is sent back.
	MaxPauses = 5
	// MaxCondense bounds how often old messages are condensed, be it in one
	// piece or in several.
	MaxCondense = 3
	// MinKept is how many messages of the turn a condensing leaves at least.
	MinKept = 4
)

// A Record is a fact about a run: the outcome of a command. The set is closed.
type Record interface{ record() }

type (
	// Started is the user's message and the configuration it was sent with.
	Started struct {
		Message harness.Message   `json:"-"`
		Config  harness.RunConfig `json:"config"`
	}
	// Answered is a whole reply. Message is nil if the reply was empty, which
	// is not stored because providers refuse it when it is sent back.
	Answered struct {
		Message *harness.Message   `json:"-"`
		Stop    harness.StopReason `json:"stop"`
		Usage   harness.Usage      `json:"usage"`
		Attempt int                `json:"attempt"`
	}
	// Judged is the policy's verdict on a call: "allow", "ask" or "deny", or
	// "later" if it can be judged only when a call before it has ended, because
	// both touch the same or that one may make it possible.
	Judged struct {
		CallID     string `json:"call"`
		Permission string `json:"permission"`
		// Rule is the text of the rule that decided, empty if none did.
		Rule   string `json:"rule,omitempty"`
		Reason string `json:"reason,omitempty"`
		// Sequential says that the calls of this reply run one after the other.
		Sequential bool `json:"sequential,omitempty"`
		// Unasked says that a person would have been asked if there was one.
		Unasked bool `json:"unasked,omitempty"`
		// Impossible says that nobody forbids a denied call: it cannot be carried
		// out, such as an edit of a file that is not there.
		Impossible bool `json:"impossible,omitempty"`
		// Proposal is what a person is shown, Digest what it stands for, Tool the
		// fingerprint of the tool as it was then. A proposal may be large, so it is
		// left out if it is that of the verdict before: see [State.Trim].
		Proposal *harness.Proposal `json:"proposal,omitempty"`
		Digest   string            `json:"digest,omitempty"`
		Tool     string            `json:"tool,omitempty"`
	}
	// Decided is a person's consent to a call as it was shown, or their refusal.
	Decided struct {
		CallID   string `json:"call"`
		Approved bool   `json:"approved,omitempty"`
		Digest   string `json:"digest,omitempty"`
		// Reason is what a refusal tells the model.
		Reason string             `json:"reason,omitempty"`
		By     string             `json:"by,omitempty"`
		Scope  harness.GrantScope `json:"scope,omitempty"`
		Rule   string             `json:"rule,omitempty"`
	}
	// Resolved is what a person said about an uncertain call or a question.
	// What they gave as its result follows in [Ended], an abort in the records
	// that end the run.
	Resolved struct {
		CallID string              `json:"call"`
		How    harness.DecisionHow `json:"how"`
		By     string              `json:"by,omitempty"`
	}
	// Began is written before a tool runs, so that a crash leaves a trace.
	Began struct {
		CallID string `json:"call"`
		// Repeatable says that the call may run again if its end is never seen.
		Repeatable bool `json:"repeatable,omitempty"`
	}
	// Ended is the result of one call: a tool message with exactly one result.
	Ended struct {
		Message harness.Message `json:"-"`
	}
	// Noted is a message that the loop itself adds, such as the request to go on.
	Noted struct {
		Message harness.Message `json:"-"`
		Reason  string          `json:"reason"`
	}
	// Cut is half an answer that a stop or a crash left, now a message. If Off,
	// it stays in the history and out of the context.
	Cut struct {
		Message harness.Message `json:"-"`
		Off     bool            `json:"off,omitempty"`
	}
	// Condensed says how old messages, also of this turn, enter the context from
	// here on. It comes in the place of an answer.
	Condensed struct {
		Condensed harness.Condensed `json:"-"`
		// Turn is how many of the turn's messages that takes out of the context,
		// the oldest of those that are in it.
		Turn int `json:"turn,omitempty"`
		// More says that the next record goes on with it: a long conversation is
		// condensed piece by piece.
		More bool `json:"more,omitempty"`
		// Fruitless says that it saved next to nothing, so that it is not tried
		// again in this run.
		Fruitless bool `json:"fruitless,omitempty"`
	}
	// Uncondensed says why old messages could not be condensed, in words for
	// people; they were told before if it is empty. In this run it is not tried
	// again.
	Uncondensed struct {
		Reason string `json:"reason,omitempty"`
	}
	// Resumed begins another stretch of the run: whatever was under way when
	// the last one ended is in doubt.
	Resumed struct {
		How harness.ResumeHow `json:"how"`
	}
	// Rested ends a stretch: the run is over, or failed, paused or waiting.
	Rested struct {
		Status harness.RunStatus  `json:"status"`
		Stop   harness.StopReason `json:"stop,omitempty"`
		Error  *harness.RunError  `json:"error,omitempty"`
	}
)

func (Started) record()     {}
func (Answered) record()    {}
func (Judged) record()      {}
func (Decided) record()     {}
func (Resolved) record()    {}
func (Began) record()       {}
func (Ended) record()       {}
func (Noted) record()       {}
func (Cut) record()         {}
func (Condensed) record()   {}
func (Uncondensed) record() {}
func (Resumed) record()     {}
func (Rested) record()      {}

// A Command is what the driver must do next. The set is closed.
type Command interface{ command() }

type (
	// CallModel asks for the next reply. Its outcome is [Answered], or before that
	// [Condensed] or [Uncondensed] if Condense is set: then it comes again.
	CallModel struct {
		// Step counts the model calls of the turn, from 1.
		Step int
		// Grow says how often to double the reply budget.
		Grow int
		// NoTools withholds the tools: only words are wanted.
		NoTools bool
		// Condense says that old messages may be condensed first, More that this
		// goes on with what the last record began.
		Condense, More bool
	}
	// Judge asks the policy about one call. Its outcome is [Judged].
	Judge struct{ Call harness.ToolCall }
	// Exec runs tools at the same time, each between [Began] and [Ended]. A call
	// whose verdict has changed since is not run: its outcome is [Judged]. One
	// that cannot run only ends. What the driver leaves out comes again.
	Exec struct{ Calls []harness.ToolCall }
	// Settle answers a call that is not run. Its outcome is [Ended].
	Settle struct {
		Call    harness.ToolCall
		Text    string
		Unknown bool
	}
	// Note adds a message. Its outcome is [Noted].
	Note struct {
		Reason string
		Text   string
	}
	// Rest ends the stretch. Its outcome is [Rested].
	Rest struct {
		Status  harness.RunStatus
		Stop    harness.StopReason
		Error   *harness.RunError
		Pending []harness.Pending
	}
	// Done means that the run rests and nothing is left to do.
	Done struct{}
)

func (CallModel) command() {}
func (Judge) command()     {}
func (Exec) command()      {}
func (Settle) command()    {}
func (Note) command()      {}
func (Rest) command()      {}
func (Done) command()      {}

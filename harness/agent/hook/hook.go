// Package hook is what a program can observe of an agent's runs: one [Event] for
// each stage. The one thing to know: hooks only look. They are told copies, after
// the fact and beside the run, so that one that is slow, hangs or panics changes
// nothing in it; what is to change a run is an extension of the agent.
package hook

import (
	"context"
	"time"

	"cairn/harness"
)

// Func is told what happens. The events of one run come one call after the other
// and in the order of the run; those of runs that go on at the same time come at
// the same time, so that a Func of several agents, or of a runtime, must be safe
// for concurrent use. Each Func of a run is told on its own: none waits for
// another, and the run waits for none, but a moment at its end so that the last
// event is usually seen before the result is returned. What is left by then still
// comes, unless the program ends.
//
// A panic is logged and costs that one event. ctx has the values of the run's
// context and not its end. Nobody but the run's own configuration decides what an
// event holds: it is what the model, the tools and the person said, and may be
// secret.
type Func func(ctx context.Context, e Event)

// Event is one thing that happened, one of the types of this package. The set is
// closed.
type Event interface {
	// Name is what the event is called in logs and metrics, such as "agent_start".
	Name() string
	// Where says in which run and when it happened.
	Where() Place
	event()
}

// Place is where and when something happened.
type Place struct {
	Session harness.SessionID `json:"session"`
	Run     harness.RunID     `json:"run"`
	// Step counts the iterations of the turn, from 1; 0 is before the first.
	Step int `json:"step,omitempty"`
	// Attempt counts the attempts at model calls in the run, from 1.
	Attempt int       `json:"attempt,omitempty"`
	At      time.Time `json:"at"`
}

// Where implements [Event] for all that embed a Place.
func (p Place) Where() Place { return p }

func (p Place) event() {}

type (
	// AgentStart begins a turn, or another stretch of one.
	AgentStart struct {
		Place

		// Message is the user's.
		Message harness.Message `json:"message"`
		// Resumed says that the turn began in an earlier stretch.
		Resumed bool `json:"resumed,omitempty"`
	}
	// AgentEnd ends a stretch, and the turn if the result says so. It is the last
	// event of its run, unless that is resumed.
	AgentEnd struct {
		Place

		Result harness.Result `json:"result"`
	}
	// IterationStart begins a model call and the tools that come of it.
	IterationStart struct{ Place }
	// IterationEnd ends what IterationStart began.
	IterationEnd struct{ Place }
	// LLMRequest is a request that is about to be sent. A step has several if
	// refusals teach limits.
	LLMRequest struct {
		Place

		// Model is "provider/model".
		Model  string `json:"model"`
		System string `json:"system,omitempty"`
		// MaxOutput bounds the reply in tokens; 0 leaves that to the model.
		MaxOutput int `json:"max_output,omitempty"`
		// Messages and Tools count those in the request, Estimate is its size in
		// tokens without the reply.
		Messages int `json:"messages"`
		Tools    int `json:"tools"`
		Estimate int `json:"estimate"`
		// PrefixKey is the same for requests that begin with the same model, system
		// prompt and tools, of which a provider may have cached the prefix.
		PrefixKey string `json:"prefix_key"`
	}
	// LLMResponse is a whole reply that is stored.
	LLMResponse struct {
		Place

		// Message is nil if the reply was empty.
		Message *harness.Message   `json:"message,omitempty"`
		Stop    harness.StopReason `json:"stop"`
		Usage   harness.Usage      `json:"usage"`
		// Model is "provider/model" of the model that really answered.
		Model string `json:"model,omitempty"`
	}
	// ToolCallStart is a call that begins to run: it may.
	ToolCallStart struct {
		Place

		Call harness.ToolCall `json:"call"`
	}
	// ToolCallEnd is the result of a call, also of one that did not run.
	ToolCallEnd struct {
		Place

		Call   harness.ToolCall   `json:"call"`
		Result harness.ToolResult `json:"result"`
	}
	// Checkpoint says that what happened so far is where the run is kept.
	Checkpoint struct {
		Place

		// Seq is the number of the last record in the run's journal.
		Seq    int               `json:"seq"`
		Status harness.RunStatus `json:"status"`
		// Phase is the kind of that record, such as "answered" or "began".
		Phase string `json:"phase"`
	}
	// Retry is another try of a model call or a tool.
	Retry struct {
		Place

		Kind RetryKind `json:"kind"`
		// What is the name of the model or tool.
		What string `json:"what"`
		// Attempt failed with Error, and Next follows it after Wait. Of a tool,
		// Wait is not known.
		Attempt int               `json:"attempt"`
		Next    int               `json:"next"`
		Wait    time.Duration     `json:"wait,omitempty"`
		Error   *harness.RunError `json:"error,omitempty"`
	}
	// ContextCondensed says that old messages left the context.
	ContextCondensed struct {
		Place

		// Dropped counts the messages that left it, Cleared the results of tools
		// that were pruned.
		Dropped int `json:"dropped,omitempty"`
		Cleared int `json:"cleared,omitempty"`
		// SummaryChars is the length of the note that stands for them, and
		// Summarized says that there is one.
		SummaryChars int  `json:"summary_chars,omitempty"`
		Summarized   bool `json:"summarized,omitempty"`
		// Before and After are the size of the request in tokens, estimated.
		Before int `json:"before,omitempty"`
		After  int `json:"after,omitempty"`
	}
	// Repetition says that the model made the same calls with the same results
	// again and again, and was told so.
	Repetition struct {
		Place

		// Tool is the name of the last of the calls.
		Tool string `json:"tool"`
	}
	// Recovery says that the run went on from something that would have ended it.
	Recovery struct {
		Place

		// Reason is one word, such as "truncated_text", "context_overflow" or, where
		// old messages could not be condensed and are left out, "uncondensed".
		Reason string `json:"reason"`
		// Tries counts the recoveries of this kind in the stretch, 0 if nobody does.
		Tries int `json:"tries,omitempty"`
		// MaxOutput is the budget of the reply that is asked for now, 0 if it is the
		// same as before.
		MaxOutput int `json:"max_output,omitempty"`
	}
	// TodosUpdated is a new task list of the model.
	TodosUpdated struct {
		Place

		Todos      []Todo `json:"todos"`
		Completed  int    `json:"completed"`
		Total      int    `json:"total"`
		InProgress int    `json:"in_progress"`
	}
	// Fallback says that another model is asked, because one failed.
	Fallback struct {
		Place

		// From and To are "provider/model".
		From  string            `json:"from,omitempty"`
		To    string            `json:"to"`
		Error *harness.RunError `json:"error,omitempty"`
	}
	// Error ends a stretch as failed.
	Error struct {
		Place

		Error harness.RunError `json:"error"`
	}
)

// RetryKind says what is tried again.
type RetryKind string

// The kinds of retries.
const (
	RetryModel RetryKind = "model"
	RetryTool  RetryKind = "tool"
)

// Todo is one item of a task list.
type Todo struct {
	Text string `json:"text"`
	// Status is "pending", "in_progress" or "completed".
	Status string `json:"status"`
}

// Name implements [Event].
func (AgentStart) Name() string { return "agent_start" }

// Name implements [Event].
func (AgentEnd) Name() string { return "agent_end" }

// Name implements [Event].
func (IterationStart) Name() string { return "loop_iteration_start" }

// Name implements [Event].
func (IterationEnd) Name() string { return "loop_iteration_end" }

// Name implements [Event].
func (LLMRequest) Name() string { return "llm_request" }

// Name implements [Event].
func (LLMResponse) Name() string { return "llm_response" }

// Name implements [Event].
func (ToolCallStart) Name() string { return "tool_call_start" }

// Name implements [Event].
func (ToolCallEnd) Name() string { return "tool_call_end" }

// Name implements [Event].
func (Checkpoint) Name() string { return "checkpoint" }

// Name implements [Event].
func (Retry) Name() string { return "retry" }

// Name implements [Event].
func (ContextCondensed) Name() string { return "context_condensed" }

// Name implements [Event].
func (Repetition) Name() string { return "repetition" }

// Name implements [Event].
func (Recovery) Name() string { return "recovery" }

// Name implements [Event].
func (TodosUpdated) Name() string { return "todos_updated" }

// Name implements [Event].
func (Fallback) Name() string { return "fallback" }

// Name implements [Event].
func (Error) Name() string { return "error" }

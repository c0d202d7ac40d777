// Package tool is what tools are: a description with a JSON schema inferred
// from a Go struct, a permission, a replay policy, and a function. The one
// thing to know: nothing that goes wrong in a call is an error of the program;
// unknown names, bad arguments, panics and timeouts become results that the
// model can read.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// Permission says whether a call needs consent.
type Permission string

// The permissions.
const (
	Allow Permission = "allow"
	Ask   Permission = "ask"
	Deny  Permission = "deny"
)

// Replay says what may happen to a call that began and was not seen to end.
type Replay string

// The replay policies.
const (
	// Manual, the default: a person decides.
	Manual Replay = "manual"
	// Safe: a second execution does no harm.
	Safe Replay = "safe"
	// Idempotent: the tool recognises the repeated execution key.
	Idempotent Replay = "idempotent"
)

// DefaultTimeout bounds a call of a tool that sets no timeout.
const DefaultTimeout = 300 * time.Second

// Call is one execution as a tool sees it.
type Call struct {
	// Key is the execution key: equal for all executions of one call.
	Key     string
	Session harness.SessionID
	Run     harness.RunID
	// Message is the record number of the user's message that began the turn:
	// the source of what a tool saves.
	Message int
	// Dir is the working directory of the run.
	Dir   string
	Input json.RawMessage
	// Foreign says that tool, file or MCP text entered the turn before.
	Foreign bool
}

// Tool is one thing the model may do.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
	Permission  Permission
	Replay      Replay
	// Sequential tools of one reply run one after the other, in order.
	Sequential bool
	// Timeout is 0 for DefaultTimeout.
	Timeout time.Duration
	// Judge, if set, may turn Permission into a stricter one for a call.
	Judge func(Call) (Permission, string)
	// Run does it. Its error becomes a failed result of that one line.
	Run func(ctx context.Context, c Call) (string, error)
}

// Spec is the tool as models see it.
func (t Tool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema}
}

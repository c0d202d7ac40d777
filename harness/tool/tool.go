// Package tool is what tools are: a description with a JSON schema inferred
// from a Go struct, a permission, a replay policy, and a function. The one
// thing to know: nothing that goes wrong in a call is an error of the program;
// unknown names, bad arguments, panics and timeouts become results that the
// model can read.
package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	// Foreign says that tool, file or MCP text entered the turn before, attached
	// files among it.
	Foreign bool
	// Attempt counts the tries within one execution, from 1.
	Attempt int
	// State, if not empty, is the [harness.Proposal] State that a person agreed
	// to. A tool must not act on anything in another state.
	State string
	// Progress, if set, is told how far the call is; see [Call.Report].
	Progress func(harness.Progress)
	// shown takes the images of the result; see [Call.Show].
	shown *shown
}

// AccessKind says what a call does to something.
type AccessKind string

// The kinds of access.
const (
	// AccessRun runs the shell text Command.
	AccessRun AccessKind = "run"
	// AccessRead and AccessWrite touch the file or directory Path.
	AccessRead  AccessKind = "read"
	AccessWrite AccessKind = "write"
	// AccessFetch reads the address URL.
	AccessFetch AccessKind = "fetch"
)

// Access is one thing that a call would touch, as rules match it.
type Access struct {
	Kind AccessKind
	// Command is the whole text for the shell.
	Command string
	// Path is absolute and real: all links in it are resolved, also for a file
	// that does not exist yet. Root is the allowed directory that it is in, real
	// as well; empty if it is in none.
	Path, Root string
	// URL is the address in full.
	URL string
}

// Retry says how often a call that failed for a passing reason, as [Transient]
// marks it, is made again. It counts for safe and idempotent tools only. Each
// try may take the tool's whole timeout; one that timed out is the last.
type Retry struct {
	// Attempts are all tries, the first one too; 0 and 1 mean no retry.
	Attempts int
	// Wait is the pause before the second try; it doubles up to 30 s. 0 means
	// 0.5 s.
	Wait time.Duration
	// If, when set, says that a result which is no error is worth another try.
	If func(result string) bool
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
	// Touches, if set, returns what a call would touch, for the rules. A tool
	// without it is matched by its name alone. An error is a reason not to run
	// the call at all, in words for the model.
	Touches func(Call) ([]Access, error)
	// Propose, if set, says what a call would do, for the person who is asked.
	// Without it the arguments are shown. An error is as in Touches.
	Propose func(ctx context.Context, c Call) (harness.Proposal, error)
	// Retry is what a passing failure leads to; see [Transient].
	Retry Retry
	// Question says that a call asks the person something. Its Proposal is of
	// the kind question and the answer becomes the result. It is asked whenever
	// somebody can be, whatever else allows it, and no consent stands for it;
	// Run is called only where nobody can be asked, and tells the model so.
	Question bool
	// Whole says that results go into the conversation as they are and are never
	// kept apart, up to 52,000 characters: for a tool that pages what is kept.
	Whole bool
	// Source, if not empty, names what is behind a tool that this program does not
	// bring, such as a server: a tool of the same name with another one is another
	// tool.
	Source string
	// Run does it. Its error becomes a failed result of that one line.
	Run func(ctx context.Context, c Call) (string, error)
}

// Accesses returns what a call would touch, none if the tool does not say. A
// tool that breaks over it has seen arguments that it did not expect.
func (t Tool) Accesses(c Call) (all []Access, err error) {
	if t.Touches == nil {
		return nil, nil
	}
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the tool could not say what it would touch: %v", broken)
		}
	}()
	return t.Touches(c)
}

// Proposal says what a call would do: the arguments, if the tool does not say
// more. A tool that breaks over it has seen arguments that it did not expect.
func (t Tool) Proposal(ctx context.Context, c Call) (p harness.Proposal, err error) {
	if t.Propose == nil {
		var body bytes.Buffer
		if err := json.Indent(&body, c.Input, "", "  "); err != nil {
			return p, fmt.Errorf("the arguments cannot be shown: %w", err)
		}
		return harness.Proposal{Kind: harness.ProposalCall, Subject: t.Name, Body: body.String()}, nil
	}
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the tool could not say what it would do: %v", broken)
		}
	}()
	return t.Propose(ctx, c)
}

// Fingerprint is a digest of what a model and a person were told of the tool:
// its name, description and schema, and its source if it has one. A tool with another
// one is another tool.
func (t Tool) Fingerprint() string {
	h := sha256.New()
	parts := [][]byte{[]byte(t.Name), []byte(t.Description), t.Schema}
	if t.Source != "" {
		parts = append(parts, []byte(t.Source))
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Spec is the tool as models see it.
func (t Tool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema}
}

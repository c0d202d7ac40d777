// Package policy decides whether a tool call may run. The one thing to know:
// it fails closed; what is not clearly allowed is asked, and what cannot be
// asked is denied.
package policy

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/tool"
)

// Verdict is a decision about one call, recorded with the run.
type Verdict struct {
	Permission tool.Permission
	// Reason says why, in words for the person and the model.
	Reason string
	// Rule is the text of the rule that decided, with its grant if it came from
	// one; empty if no rule did.
	Rule string
	// Unasked says that it is a denial only because nobody can be asked.
	Unasked bool
	// Session and Always are rules that would allow the call, to be offered
	// with an approval for the session and for always; empty if there is none.
	// If it is Unasked, Always is the rule that a person may write beforehand.
	Session, Always string
}

// Policy judges calls. Implementations are safe for concurrent use.
type Policy interface {
	// Judge returns the verdict on call c of tool t, which the model asked for
	// as call.
	Judge(ctx context.Context, c tool.Call, t tool.Tool, call harness.ToolCall) Verdict
}

// opinion asks the tool's own judge. One that breaks has seen arguments it did
// not expect, so the call is denied.
func opinion(t tool.Tool, c tool.Call) (p tool.Permission, why string) {
	defer func() {
		if broken := recover(); broken != nil {
			p, why = tool.Deny, fmt.Sprintf("the tool could not judge the call: %v", broken)
		}
	}()
	return t.Judge(c)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}

// stricter reports whether a is stricter than b. An unknown permission is as
// strict as asking.
func stricter(a, b tool.Permission) bool { return rank(a) > rank(b) }

func rank(p tool.Permission) int {
	switch p {
	case tool.Allow:
		return 0
	case tool.Deny:
		return 2
	default:
		return 1
	}
}

package agent

import (
	"errors"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// KindSpending is the kind of failure of a run whose next model call a spending
// limit did not allow.
const KindSpending = "spending"

// Failure turns a failed model call into data: a word for programs and a
// sentence for people that ends in what to do.
func Failure(err error) *harness.RunError {
	if e, ok := extensionFailure(err); ok {
		return e
	}
	var e *model.Error
	if policy.OverBudget(err) {
		return &harness.RunError{Kind: KindSpending, Text: err.Error()}
	}
	if !errors.As(err, &e) {
		return &harness.RunError{Kind: "internal", Text: err.Error()}
	}
	text := e.Error()
	// A sentence that ends in a question says already what to look at.
	if hint := advice(e); hint != "" && !strings.HasSuffix(text, "?") {
		text = strings.TrimSuffix(text, ".") + "; " + hint
	}
	return &harness.RunError{Kind: string(e.Kind), Text: text}
}

// advice says what can be done, in words that hold on every front end: keys and
// commands of a screen are the screen's to name.
func advice(e *model.Error) string {
	switch e.Kind {
	case model.KindAuth:
		return "check the key, or choose another model (cairn models lists them)"
	case model.KindNotFound:
		return "choose another model (cairn models lists them)"
	case model.KindRateLimit, model.KindServer:
		return "ask again later"
	case model.KindQuota:
		return "check the account's credit, or choose another model"
	case model.KindOverflow:
		return "condense the conversation, or choose a model with a larger window"
	case model.KindNetwork:
		return "check the connection and the address, then ask again"
	case model.KindIncomplete, model.KindIdle:
		return "the text so far is kept; ask again for the rest"
	case model.KindProtocol:
		if e.Status >= 300 && e.Status < 400 {
			return "" // the sentence says it already
		}
		return "check the provider's address in the configuration"
	default:
		return ""
	}
}

package loop

import (
	"errors"
	"fmt"

	"cairn/harness"
)

// ErrDecision means that a decision does not answer what is asked, such as an
// approval of an uncertain call.
var ErrDecision = errors.New("not an answer to what is asked")

// Decide returns the records that decisions about a waiting run lead to. Those
// of an abort end the run. It is all or nothing: [harness.ErrNotFound] if a call
// does not wait, [harness.ErrStale] if it waits with something else than what
// was shown, [ErrDecision] if the decision does not fit.
func Decide(s State, ds ...harness.Decision) ([]Record, error) {
	if len(ds) == 0 {
		return nil, fmt.Errorf("nothing was decided: %w", ErrDecision)
	}
	waiting := map[string]harness.Pending{}
	for _, p := range s.Waiting() {
		waiting[p.Call.ID] = p
	}
	var records []Record
	abort := false
	for _, d := range ds {
		p, ok := waiting[d.Call]
		if !ok {
			return nil, fmt.Errorf("call %s does not wait for a decision: %w", d.Call, harness.ErrNotFound)
		}
		delete(waiting, d.Call)
		rs, err := decide(p, d)
		if err != nil {
			return nil, err
		}
		records = append(records, rs...)
		abort = abort || d.How == harness.DecideAbort
	}
	if abort {
		for _, r := range records {
			s, _ = Step(s, r)
		}
		records = append(records, Cancel(s, nil, "", false, harness.StopCancelled)...)
	}
	return records, nil
}

// decide returns the records of one decision.
func decide(p harness.Pending, d harness.Decision) ([]Record, error) {
	resolved := Resolved{CallID: d.Call, How: d.How, By: d.By}
	switch {
	case d.Digest != p.Digest && (!p.Uncertain || d.Digest != ""):
		return nil, fmt.Errorf("call %s is not what was shown any more: %w", d.Call, harness.ErrStale)
	case p.Digest == "" && d.How == harness.DecideApprove && !p.Uncertain:
		// An older version did not keep what it showed. Resuming asks anew.
		return nil, fmt.Errorf("what call %s would do was not kept; resume the run to be shown it: %w", d.Call, harness.ErrStale)
	case !scoped(d):
		return nil, fmt.Errorf("call %s: the scope %q with the rule %q: %w (the session and always need a rule, once has none)", d.Call, d.Scope, d.Rule, ErrDecision)
	case p.Uncertain && d.How == harness.DecideResult:
		return []Record{resolved, Ended{Message: Result(p.Call, d.Text, false, false)}}, nil
	case p.Uncertain && d.How == harness.DecideRetry:
		return []Record{resolved}, nil
	case p.Question() && d.How == harness.DecideAnswer:
		return []Record{resolved, Ended{Message: Result(p.Call, d.Text, false, false)}}, nil
	case d.How == harness.DecideAbort:
		return []Record{resolved}, nil
	case !p.Uncertain && !p.Question() && d.How == harness.DecideApprove:
		scope := d.Scope
		if scope == "" {
			scope = harness.ScopeOnce
		}
		return []Record{Decided{CallID: d.Call, Approved: true, Digest: p.Digest, By: d.By, Scope: scope, Rule: d.Rule}}, nil
	case !p.Uncertain && d.How == harness.DecideDecline:
		return []Record{Decided{CallID: d.Call, Digest: p.Digest, By: d.By, Reason: d.Text}}, nil
	case p.Uncertain && d.Digest != "":
		// Consent was asked for when it was shown; it began since.
		return nil, fmt.Errorf("%q for call %s (%s): %w", d.How, d.Call, asked(p), harness.ErrStale)
	default:
		return nil, fmt.Errorf("%q for call %s (%s): %w", d.How, d.Call, asked(p), ErrDecision)
	}
}

// scoped reports whether d's scope and rule fit each other, and what is decided.
func scoped(d harness.Decision) bool {
	switch d.Scope {
	case "", harness.ScopeOnce:
		return d.Rule == ""
	case harness.ScopeSession, harness.ScopeAlways:
		return d.Rule != "" && d.How == harness.DecideApprove
	default:
		return false
	}
}

// asked says what may answer p.
func asked(p harness.Pending) string {
	switch {
	case p.Uncertain:
		return "its outcome is uncertain: give a result, retry or abort"
	case p.Question():
		return "it is a question: answer, decline or abort"
	default:
		return "it asks for consent: approve, decline or abort"
	}
}

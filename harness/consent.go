package harness

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ProposalKind says what a [Proposal] would do, and so how it is shown.
type ProposalKind string

// The kinds of proposals.
const (
	// ProposalCall is any call: its Body are the arguments.
	ProposalCall ProposalKind = "call"
	// ProposalCommand runs Body in a shell.
	ProposalCommand ProposalKind = "command"
	// ProposalEdit changes the file Subject as Diff says.
	ProposalEdit ProposalKind = "edit"
	// ProposalFetch reads the address Subject.
	ProposalFetch ProposalKind = "fetch"
	// ProposalQuestion asks the person Body; Choices may answer it.
	ProposalQuestion ProposalKind = "question"
)

// Proposal is what a call would do, in full, as it is shown to the person who
// decides. It is stored with the run, so that after a restart exactly the same
// is shown again. All of its text comes from outside and is not safe to print.
type Proposal struct {
	Kind ProposalKind `json:"kind"`
	// Subject is what would be touched: a real path, an address. One line.
	Subject string `json:"subject,omitempty"`
	// Body is the whole text that is to be agreed to, never cut.
	Body string `json:"body,omitempty"`
	// Diff is a unified diff of the file as it is and as it would be; Added
	// and Removed count its lines.
	Diff    string `json:"diff,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	// About are short facts such as "in ~/src/ledger" and "timeout 60 s".
	About []string `json:"about,omitempty"`
	// Why is the model's own reason, if it gave one.
	Why string `json:"why,omitempty"`
	// Choices are answers that are offered to a question.
	Choices []string `json:"choices,omitempty"`
	// State is a digest of what the proposal was made from, such as the file's
	// content. What is no longer in this state is not what was shown.
	State string `json:"state,omitempty"`
	// Session and Always are the rules that can be offered together with an
	// approval, for the session and for always; empty means not offered.
	Session string `json:"session_rule,omitempty"`
	Always  string `json:"always_rule,omitempty"`
}

// Pending is one call that waits for a person: an approval, a question, or an
// uncertain outcome.
type Pending struct {
	Call ToolCall `json:"call"`
	// Uncertain says that the call began and nobody saw it end.
	Uncertain bool `json:"uncertain,omitempty"`
	// Reason says why it is asked; Rule is the text of the rule that asks, empty
	// if none does.
	Reason string `json:"reason,omitempty"`
	Rule   string `json:"rule,omitempty"`
	// Proposal is what is agreed to. It is nil for an uncertain call that ran
	// without a question, and in runs of older versions.
	Proposal *Proposal `json:"proposal,omitempty"`
	// Changed says that a person agreed to the call before, and that it was not
	// run because what it would do was not the same any more.
	Changed bool `json:"changed,omitempty"`
	// Digest stands for the tool, the exact arguments, what is shown of the
	// proposal and its state. A decision names it, so that it can never count
	// for anything else.
	Digest string `json:"digest,omitempty"`
}

// Question reports whether the call asks for an answer and not for consent.
func (p Pending) Question() bool {
	return !p.Uncertain && p.Proposal != nil && p.Proposal.Kind == ProposalQuestion
}

// Because says why it is asked, with the rule that asks, or that let a call run
// of which nobody saw the end, in words that are not safe to print; empty if there
// is nothing to say but that the tool asks.
func (p Pending) Because() string {
	switch {
	case p.Rule == "", strings.Contains(p.Reason, p.Rule):
		return p.Reason
	case p.Reason == "" && p.Uncertain:
		return "the rule " + p.Rule + " let it run"
	case p.Reason == "":
		return "the rule " + p.Rule + " asks"
	default:
		return p.Reason + " (rule: " + p.Rule + ")"
	}
}

// Wants says what the tool wants, as it goes on after the tool's name: "wants to
// run". It is not safe to print, and means nothing for a question.
func (p Pending) Wants() string {
	switch q := p.Proposal; {
	case p.Uncertain:
		return "began, and nobody saw it end"
	case q == nil:
		return "wants to be called with"
	case q.Kind == ProposalCommand:
		return "wants to run"
	case q.Kind == ProposalEdit:
		return fmt.Sprintf("wants to change %s (+%d -%d)", q.Subject, q.Added, q.Removed)
	case q.Kind == ProposalFetch:
		return "wants to read " + q.Subject
	case q.Subject != "" && q.Subject != p.Call.Name:
		return "wants to be called on " + q.Subject + " with"
	default:
		return "wants to be called with"
	}
}

// DecisionHow says what a person decided.
type DecisionHow string

// The decisions. Approve and Decline answer an approval, Answer and Decline a
// question, Result, Retry and Abort an uncertain call.
const (
	// DecideApprove lets the call run, once.
	DecideApprove DecisionHow = "approve"
	// DecideDecline refuses it; Text tells the model why.
	DecideDecline DecisionHow = "decline"
	// DecideAnswer answers a question with Text.
	DecideAnswer DecisionHow = "answer"
	// DecideResult gives Text as the result of the uncertain call.
	DecideResult DecisionHow = "result"
	// DecideRetry lets the uncertain call run again.
	DecideRetry DecisionHow = "retry"
	// DecideAbort ends the run as cancelled.
	DecideAbort DecisionHow = "abort"
)

// GrantScope says for how long an approval counts.
type GrantScope string

// The scopes of an approval.
const (
	ScopeOnce    GrantScope = "once"
	ScopeSession GrantScope = "session"
	ScopeAlways  GrantScope = "always"
)

// Decision answers one [Pending].
type Decision struct {
	// Call is the id of the call.
	Call string
	// Digest is that of the Pending as it was shown; [ErrStale] if the call
	// waits with another one by now. Empty only for uncertain calls.
	Digest string
	How    DecisionHow
	// Text is the reason of a refusal, the answer, or the result.
	Text string
	// Scope and Rule go with an approval: a scope but once needs a rule and
	// stores it as a [Grant] first. The zero Scope is once, which has none.
	Scope GrantScope
	Rule  string
	// By says who decided and where, such as "ada at /dev/pts/3 (chat)".
	By string
}

// Grant is a standing permission that a person gave.
type Grant struct {
	// ID is g<n>, with a word in front where the permissions of two stores count.
	ID string `json:"id"`
	// Session is empty for a grant of always.
	Session SessionID `json:"session,omitempty"`
	// Rule is the rule's text, such as "run_command(git status)".
	Rule string `json:"rule"`
	// Tool is a digest of the tool's name, description and schema when the
	// grant was given. The grant ends when the tool is no longer the same.
	// Empty if it was written by hand.
	Tool string    `json:"tool,omitempty"`
	By   string    `json:"by,omitempty"`
	At   time.Time `json:"at"`
}

// Grants keeps standing permissions. Methods are safe for concurrent use.
type Grants interface {
	// List returns the grants of always and those of the session (none if it
	// is empty), oldest first.
	List(ctx context.Context, session SessionID) ([]Grant, error)
	// Save stores a grant and returns it with its ID and time. An equal one
	// (session, rule, tool) is returned instead of stored twice. A grant with
	// an ID replaces that one's Rule and Tool; [ErrNotFound] if it is gone.
	// A session that is not stored yet is [ErrNotFound].
	Save(ctx context.Context, g Grant) (Grant, error)
	// Revoke removes a grant, or returns [ErrNotFound].
	Revoke(ctx context.Context, id string) error
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// noPerson is why a call is not run when nobody decides.
const noPerson = "nobody can be asked here"

// unmanned is a policy where nobody can be asked: what would ask is denied.
type unmanned struct{ next policy.Policy }

// Judge implements [policy.Policy].
func (u unmanned) Judge(ctx context.Context, c tool.Call, t tool.Tool, call harness.ToolCall) policy.Verdict {
	v := u.next.Judge(ctx, c, t, call)
	switch {
	case v.Permission != tool.Ask:
		return v
	case t.Question:
		v.Permission = tool.Allow // the tool says itself that nobody is there
		return v
	}
	v.Permission, v.Unasked = tool.Deny, true
	if v.Reason == "" {
		v.Reason = noPerson
	} else {
		v.Reason = noPerson + ": " + v.Reason
	}
	return v
}

// ask has the caller decide everything that waits in state s, in order, and
// returns the records with which the turn goes on. It returns an error only if
// ctx ended meanwhile.
func (a *Agent) ask(ctx context.Context, s loop.State) ([]loop.Record, error) {
	var records []loop.Record
	for _, p := range s.Waiting() {
		rs, err := a.askOne(ctx, s, p)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			s, _ = loop.Step(s, r)
		}
		records = append(records, rs...)
		if s.Status().Closed() {
			return records, nil
		}
	}
	return append(records, loop.Resumed{How: harness.ResumeDecided}), nil
}

// askOne has the caller decide p. What is no decision about p declines it.
func (a *Agent) askOne(ctx context.Context, s loop.State, p harness.Pending) ([]loop.Record, error) {
	d, err := a.o.Approve(ctx, clonePending(p))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		var records []loop.Record
		if d, err = fitting(p, d); err == nil {
			records, err = loop.Decide(s, d)
		}
		if err == nil {
			return records, nil
		}
	}
	no := harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideDecline, Text: "no decision was made: " + err.Error()}
	if p.Uncertain {
		no.How = harness.DecideAbort // it cannot be declined any more
	}
	return loop.Decide(s, no)
}

// errNoGrants means that an approval is to count for more than one call.
var errNoGrants = errors.New("this agent keeps no standing permissions; approve once")

// fitting returns d with the call and digest of p where it leaves them out.
func fitting(p harness.Pending, d harness.Decision) (harness.Decision, error) {
	if d.Call == "" {
		d.Call = p.Call.ID
	}
	if d.Digest == "" {
		d.Digest = p.Digest
	}
	switch {
	case d.Call != p.Call.ID:
		return d, fmt.Errorf("the decision is about call %s and not %s: %w", d.Call, p.Call.ID, loop.ErrDecision)
	case d.Scope != "" && d.Scope != harness.ScopeOnce, d.Rule != "":
		return d, errNoGrants
	}
	return d, nil
}

// clonePending returns a copy that shares nothing with p.
func clonePending(p harness.Pending) harness.Pending {
	p.Call.Input = slices.Clone(p.Call.Input)
	if p.Proposal != nil {
		proposal := *p.Proposal
		proposal.About, proposal.Choices = slices.Clone(proposal.About), slices.Clone(proposal.Choices)
		p.Proposal = &proposal
	}
	return p
}

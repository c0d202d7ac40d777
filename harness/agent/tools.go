package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/tool"
)

// maxParallel bounds the tools that run at the same time.
const maxParallel = 8

// judge asks the policy about one call and returns the record of its verdict,
// and the call as the tool is to get it.
func (t *Turn) judge(ctx context.Context, c harness.ToolCall) (loop.Judged, tool.Call) {
	call := t.toolCall(c)
	r := loop.Judged{CallID: c.ID, Permission: string(tool.Allow), Rule: "not runnable"}
	tl, input, refusal := t.Steps.Tools.Prepare(c)
	if refusal != nil {
		// What cannot run needs no consent: the set answers it, in words for
		// the model.
		return r, call
	}
	call.Input = input
	r.Sequential = tl.Sequential
	if t.waits(tl, call) {
		r.Permission, r.Rule = "later", ""
		return r, call
	}
	v := t.Steps.Policy.Judge(ctx, call, tl, c)
	r.Permission, r.Rule, r.Reason, r.Unasked = string(v.Permission), v.Rule, v.Reason, v.Unasked
	if v.Permission != tool.Ask && !v.Unasked {
		return r, call
	}
	p, err := propose(ctx, tl, call)
	if err != nil {
		r.Permission, r.Rule, r.Reason, r.Unasked = string(tool.Deny), "not possible", err.Error(), false
		return r, call
	}
	p.Session, p.Always = v.Session, v.Always
	r.Proposal, r.Digest = &p, digest(tl, input, p)
	call.State = p.State
	return r, call
}

// waits reports whether a call before this one, of the same answer, is still
// open and writes what this one touches: what it would do can be said only
// then.
func (t *Turn) waits(tl tool.Tool, c tool.Call) bool {
	touched := writes(tl, c)
	if len(touched) == 0 {
		return false
	}
	for _, before := range t.state.Before(c.Key) {
		other, input, refusal := t.Steps.Tools.Prepare(before)
		if refusal != nil {
			continue
		}
		call := t.toolCall(before)
		call.Input = input
		for path := range writes(other, call) {
			if touched[path] {
				return true
			}
		}
	}
	return false
}

// writes returns the files that a call would write.
func writes(tl tool.Tool, c tool.Call) map[string]bool {
	if tl.Touches == nil {
		return nil
	}
	all, err := tl.Touches(c)
	if err != nil {
		return nil // whoever judges the call says so
	}
	paths := map[string]bool{}
	for _, a := range all {
		if a.Kind == tool.AccessWrite {
			paths[a.Path] = true
		}
	}
	return paths
}

// propose says what a call would do. A tool that breaks over it has seen
// arguments that it did not expect.
func propose(ctx context.Context, tl tool.Tool, c tool.Call) (p harness.Proposal, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the tool could not say what it would do: %v", broken)
		}
	}()
	if tl.Propose != nil {
		return tl.Propose(ctx, c)
	}
	body := []byte(c.Input)
	var v any
	if json.Unmarshal(c.Input, &v) == nil {
		if nice, err := json.MarshalIndent(v, "", "  "); err == nil {
			body = nice
		}
	}
	return harness.Proposal{Kind: harness.ProposalCall, Subject: tl.Name, Body: string(body)}, nil
}

// digest stands for the tool, the exact arguments and what the proposal was
// made from.
func digest(tl tool.Tool, input json.RawMessage, p harness.Proposal) string {
	args := []byte(input)
	var v any
	if json.Unmarshal(input, &v) == nil {
		if canonical, err := json.Marshal(v); err == nil {
			args = canonical
		}
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{tl.Fingerprint(), string(args), p.State}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// exec runs calls at the same time. Right before, the policy is asked again,
// because the rules, the tools or the files may have changed meanwhile; a call
// that it holds up is not run.
func (t *Turn) exec(ctx context.Context, calls []harness.ToolCall) error {
	var began []loop.Record
	var ready []harness.ToolCall
	given := map[string]tool.Call{}
	for _, c := range calls {
		r, call := t.judge(ctx, c)
		consent := r.Permission == string(tool.Ask) && r.Digest == t.state.Approved(c.ID)
		if r.Permission != string(tool.Allow) && !consent {
			t.later(r)
			continue
		}
		repeatable := true
		if tl, ok := t.Steps.Tools.Lookup(c.Name); ok {
			repeatable = tl.Replay == tool.Safe || tl.Replay == tool.Idempotent
		}
		began = append(began, loop.Began{CallID: c.ID, Repeatable: repeatable})
		ready, given[c.ID] = append(ready, c), call
	}
	if len(ready) == 0 {
		return nil
	}
	if err := t.put(ctx, harness.Usage{}, began...); err != nil {
		return err
	}
	return t.gather(ctx, ready, given)
}

// gather runs calls and stores each result as it comes. It waits for all of
// them, so that none runs on behind the turn's back, and returns the first
// failure.
func (t *Turn) gather(ctx context.Context, calls []harness.ToolCall, given map[string]tool.Call) error {
	results := make(chan harness.ToolResult)
	slots := make(chan struct{}, maxParallel)
	for _, c := range calls {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results <- t.Steps.Tools.Run(ctx, c, given[c.ID])
		}()
	}
	var errs []error
	for range calls {
		res := <-results
		if err := ctx.Err(); err != nil && res.Unknown {
			errs = append(errs, err) // nobody knows what it did: that is for whoever resumes
			continue
		}
		m := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &res}}}
		if err := t.put(ctx, harness.Usage{}, loop.Ended{Message: m}); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (t *Turn) toolCall(c harness.ToolCall) tool.Call {
	return tool.Call{
		Key: c.ID, Session: t.Session, Run: t.Run, Message: t.First, Dir: t.Dir,
		Input: c.Input, Foreign: t.foreign(),
	}
}

// foreign reports whether text that neither the person nor the model wrote
// came into this turn. What the memory tools say is cairn's own.
func (t *Turn) foreign() bool {
	for _, m := range t.state.Messages() {
		for _, p := range m.Parts {
			if p.Kind == harness.PartResult && p.Result.Name != "save_memory" && p.Result.Name != "recall_memories" {
				return true
			}
		}
	}
	return false
}

package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
)

// judgement is what the policy says of one call, and what was judged.
type judgement struct {
	record loop.Judged
	// as is what extensions made of the call; broken is what one did that fails
	// the turn.
	as     harness.ToolCall
	broken error
	tool   tool.Tool
	given  tool.Call
	// refusal answers a call that cannot run: there is no such tool, or its
	// arguments do not fit.
	refusal *harness.ToolResult
}

// judge asks the policy about one call.
func (t *Turn) judge(ctx context.Context, c harness.ToolCall) judgement {
	w := t.rewrite(ctx, c)
	c = w.call
	v := judgement{given: t.toolCall(c), record: loop.Judged{CallID: c.ID}, as: c, broken: w.broken}
	r := &v.record
	if err := cmp.Or(w.broken, w.no); err != nil {
		r.Permission, r.Reason = string(tool.Allow), "nothing is run: the result says why"
		v.refusal = &harness.ToolResult{CallID: c.ID, Name: c.Name, Text: "not run: " + err.Error(), Failed: true}
		return v
	}
	if v.tool, v.given.Input, v.refusal = t.Steps.Tools.Prepare(c); v.refusal != nil {
		// What cannot run needs no consent: the set answers it, in words for
		// the model.
		r.Permission, r.Reason = string(tool.Allow), "nothing is run: the result says why"
		return v
	}
	r.Sequential, r.Tool = v.tool.Sequential, v.tool.Fingerprint()
	ahead := t.ahead(ctx, c.ID)
	touched, err := v.tool.Accesses(v.given)
	switch {
	case err != nil:
		impossible(r, ahead, err)
		return v
	case collide(ahead, touched):
		// What it would do can be said only when they have ended.
		r.Permission = later
		return v
	}
	verdict := t.Steps.Policy.Judge(ctx, v.given, v.tool, c)
	r.Permission, r.Rule, r.Reason, r.Unasked = string(verdict.Permission), verdict.Rule, verdict.Reason, verdict.Unasked
	if verdict.Permission != tool.Ask && !verdict.Unasked {
		return v
	}
	p, err := v.tool.Proposal(ctx, v.given)
	if err != nil {
		impossible(r, ahead, err)
		return v
	}
	p.Session, p.Always = verdict.Session, verdict.Always
	r.Proposal, r.Digest = &p, digest(v.tool, v.given.Input, p)
	v.record = t.state.Trim(v.record)
	v.given.State = p.State
	return v
}

// later is the verdict on a call that cannot be judged yet.
const later = "later"

// impossible is the verdict on a call that cannot be carried out: a denial, or
// none yet if a command ahead of it may make it possible.
func impossible(r *loop.Judged, ahead []tool.Access, err error) {
	*r = loop.Judged{CallID: r.CallID, Sequential: r.Sequential, Tool: r.Tool}
	if slices.ContainsFunc(ahead, func(a tool.Access) bool { return a.Kind == tool.AccessRun }) {
		r.Permission = later
		return
	}
	r.Permission, r.Reason, r.Impossible = string(tool.Deny), err.Error(), true
}

// ahead returns what the calls of the same answer before the one with the id
// touch that have not ended.
func (t *Turn) ahead(ctx context.Context, id string) []tool.Access {
	var all []tool.Access
	for _, before := range t.state.Before(id) {
		w := t.rewrite(ctx, before)
		if before = w.call; w.no != nil || w.broken != nil {
			continue
		}
		other, input, refusal := t.Steps.Tools.Prepare(before)
		if refusal != nil {
			continue
		}
		given := t.toolCall(before)
		given.Input = input
		// One that cannot say what it touches is denied, and never runs.
		if touched, err := other.Accesses(given); err == nil {
			all = append(all, touched...)
		}
	}
	return all
}

// collide reports whether one side writes a file that the other touches, or one
// below a directory that it touches.
func collide(a, b []tool.Access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Path == "" || y.Path == "" || x.Kind != tool.AccessWrite && y.Kind != tool.AccessWrite {
				continue
			}
			if below(x.Path, y.Path) || below(y.Path, x.Path) {
				return true
			}
		}
	}
	return false
}

// below reports whether path is dir or in it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// digest stands for the tool, the exact arguments and what a person was shown,
// with the state from which it was made. What only explains it (facts about it,
// the reason, the rules on offer) is left out.
func digest(tl tool.Tool, input json.RawMessage, p harness.Proposal) string {
	h := sha256.New()
	for _, part := range []string{
		tl.Fingerprint(), canonical(input), p.State, string(p.Kind), p.Subject, p.Body, p.Diff,
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// canonical returns the arguments in one spelling: keys in order, no spaces.
// Numbers stay as they were written, because rounding would make two equal.
func canonical(input json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(input)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(input)
	}
	return string(text)
}

func (t *Turn) toolCall(c harness.ToolCall) tool.Call {
	return tool.Call{
		Key: c.ID, Session: t.Session, Run: t.Run, Message: t.First, Dir: t.Dir,
		Input: c.Input, Foreign: t.foreign(),
	}
}

// foreign reports whether text that neither the person nor the model wrote came
// into this turn: a file, or what a tool gave that ran. What the memory tools say
// is cairn's own, and so is what is said instead of a run or of an answer.
func (t *Turn) foreign() bool {
	if t.state.Files() {
		return true
	}
	own := recall.Tools()
	for _, name := range t.state.Ran() {
		if slices.Contains(own, name) {
			continue
		}
		if tl, ok := t.Steps.Tools.Lookup(name); !ok || !tl.Question {
			return true
		}
	}
	return false
}

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// approval is the decision that allows p and calls like it.
func approval(p harness.Pending, scope harness.GrantScope, rule string) harness.Decision {
	return harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove, Scope: scope, Rule: rule, By: "ada"}
}

// shell gives the office a tool that runs commands, as far as rules can tell.
func (o *office) shell() {
	o.t.Helper()
	o.tools = []tool.Tool{o.tool("run", tool.WithTouches(func(c tool.Call) ([]tool.Access, error) {
		var in words1
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return nil, err
		}
		return []tool.Access{{Kind: tool.AccessRun, Command: in.Text}}, nil
	}))}
	o.policy = policy.Rules{Grants: o.grants, Interactive: true}
}

func TestGrantForTheSessionDoesNotCoverOtherArguments(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s)
		o.shell()
		o.model = again("run", "git status", "git status -s", "git push", "git status; touch P")
		w := o.enter(1, nil)
		info := w.waits()
		h, err := w.Decide(t.Context(), w.lease, info.ID, approval(info.Pending[0], harness.ScopeSession, "run(git status)"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || len(res.Pending) != 1 || !strings.Contains(string(res.Pending[0].Call.Input), "git push") || o.count("") != 2 {
			t.Fatalf("the run is %+v, %v; what ran is %q", res, err, o.effects())
		}
		// A grant of the session outlives the process, because it was stored.
		w.leave()
		w = o.enter(2, nil)
		h, err = w.Decline(t.Context(), w.lease, info.ID, res.Pending[0], "", "ada")
		if err != nil {
			t.Fatal(err)
		}
		res, err = h.Wait(t.Context())
		if err != nil || len(res.Pending) != 1 || !strings.Contains(string(res.Pending[0].Call.Input), "touch P") || o.count("") != 2 {
			t.Fatalf("the run is %+v, %v; what ran is %q", res, err, o.effects())
		}
		list, err := o.grants.List(t.Context(), "s")
		if err != nil || len(list) != 1 || list[0].Session != "s" || list[0].Rule != "run(git status)" || list[0].By != "ada" || list[0].Tool == "" {
			t.Errorf("granted is %+v, %v", list, err)
		}
		if others, err := o.grants.List(t.Context(), ""); err != nil || len(others) != 0 {
			t.Errorf("granted for always is %+v, %v", others, err)
		}
	})
}

// atOnce is a model that makes calls with these arguments in one answer.
func atOnce(name string, inputs ...string) answering {
	return func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
		if r.Messages[len(r.Messages)-1].Role == harness.RoleTool {
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}, Stop: harness.StopEnd}, nil
		}
		reply := model.Reply{Stop: harness.StopTools}
		for i, in := range inputs {
			call := &harness.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: name, Input: json.RawMessage(`{"text":"` + in + `"}`)}
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: call})
		}
		return reply, nil
	}
}

// Who allows more than one call is not asked about the others that this covers,
// and is still asked about those that it does not.
func TestGrantCoversTheOtherCallsThatWait(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s)
		o.shell()
		o.model = atOnce("run", "ls a", "git push", "ls b", "ls c")
		w := o.enter(1, nil)
		info := w.waits()
		h, err := w.Decide(t.Context(), w.lease, info.ID, approval(info.Pending[0], harness.ScopeSession, "run(ls)"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunAwaiting || len(res.Pending) != 1 || o.count("") != 3 {
			t.Fatalf("the run is %+v, %v; what ran is %q", res, err, o.effects())
		}
		if p := res.Pending[0]; p.Digest != info.Pending[1].Digest || p.Changed {
			t.Errorf("what still waits is %+v", p)
		}
		if text := o.over(w.Decline(t.Context(), w.lease, info.ID, res.Pending[0], "", "ada")); text != "done" || o.count("push") != 0 {
			t.Errorf("it says %q, and what ran is %q", text, o.effects())
		}
	})
}

func TestGrantThatIsTakenBackAsksAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s)
		o.shell()
		o.model = again("run", "make")
		w := o.enter(1, nil)
		info := w.waits()
		o.over(w.Decide(t.Context(), w.lease, info.ID, approval(info.Pending[0], harness.ScopeAlways, "run(make)")))
		list, err := o.grants.List(t.Context(), "")
		if err != nil || len(list) != 1 || list[0].Session != "" {
			t.Fatalf("granted is %+v, %v", list, err)
		}
		o.model = again("run", "make", "make", "make") // two messages before it
		w.leave()
		w = o.enter(2, nil)
		if res, err := w.begin(); err != nil || res.Status != harness.RunCompleted || o.count("make") != 3 {
			t.Fatalf("with the grant it is %+v, %v; what ran is %q", res, err, o.effects())
		}
		if err := o.grants.Revoke(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
		o.model = again("run", "make", "make", "make", "make")
		w.leave()
		w = o.enter(3, nil)
		if res, err := w.begin(); err != nil || res.Status != harness.RunAwaiting || o.count("make") != 3 {
			t.Errorf("without it it is %+v, %v; what ran is %q", res, err, o.effects())
		}
	})
}

// shut is a journal that takes no decision.
type shut struct{ run.Journal }

func (j shut) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	if entries[0].Kind == "decided" {
		return nil, errFull
	}
	return j.Journal.Append(ctx, l, id, after, entries...)
}

func TestGrantIsTakenBackIfTheDecisionCannotBeStored(t *testing.T) {
	t.Parallel()
	for _, had := range []bool{false, true} {
		eachStore(t, func(t *testing.T, s store) {
			o := newOffice(t, s, "write")
			w := o.enter(1, shut{o.journal})
			info := w.waits()
			if had {
				tl := o.tools[len(o.tools)-1]
				if _, err := o.grants.Save(t.Context(), harness.Grant{Rule: "write", Tool: tl.Fingerprint()}); err != nil {
					t.Fatal(err)
				}
			}
			_, err := w.Decide(t.Context(), w.lease, info.ID, approval(info.Pending[0], harness.ScopeAlways, "write"))
			if !errors.Is(err, errFull) {
				t.Fatalf("err = %v", err)
			}
			list, err := o.grants.List(t.Context(), "s")
			if want := map[bool]int{true: 1}[had]; err != nil || len(list) != want {
				t.Errorf("granted is %+v, %v; want %d", list, err, want)
			}
			if got, err := w.Get(t.Context(), info.ID); err != nil || len(got.Pending) != 1 || got.Status != harness.RunAwaiting {
				t.Errorf("the run is %+v, %v", got, err)
			}
		})
	}
}

// stingy keeps no second grant.
type stingy struct {
	harness.Grants

	left int
}

func (g *stingy) Save(ctx context.Context, gr harness.Grant) (harness.Grant, error) {
	if g.left--; g.left < 0 {
		return gr, errFull
	}
	return g.Grants.Save(ctx, gr)
}

func TestGrantsAreStoredAllOrNone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		s.grants = &stingy{Grants: s.grants, left: 1}
		o := newOffice(t, s, "write", "write")
		w := o.enter(1, nil)
		info := w.waits()
		_, err := w.Decide(t.Context(), w.lease, info.ID,
			approval(info.Pending[0], harness.ScopeAlways, "write"), approval(info.Pending[1], harness.ScopeSession, "write"))
		if !errors.Is(err, errFull) {
			t.Errorf("err = %v", err)
		}
		if list, err := o.grants.List(t.Context(), "s"); err != nil || len(list) != 0 {
			t.Errorf("granted is %+v, %v", list, err)
		}
	})
}

func TestGrantNeedsAPlaceAndTheToolThatWasShown(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		kept := s.grants
		s.grants = nil
		o := newOffice(t, s, "write")
		first := o.enter(1, nil)
		info := first.waits()
		d := approval(info.Pending[0], harness.ScopeSession, "write")
		if _, err := first.Decide(t.Context(), first.lease, info.ID, d); err == nil || !strings.Contains(err.Error(), "approve once") {
			t.Errorf("without a store: %v", err)
		}
		first.leave()
		o.grants = kept
		o.tools[len(o.tools)-1].Description = "does something else now"
		w := o.enter(2, nil)
		if _, err := w.Decide(t.Context(), w.lease, info.ID, d); !errors.Is(err, harness.ErrStale) {
			t.Errorf("for a tool that changed: %v", err)
		}
		if list, err := o.grants.List(t.Context(), "s"); err != nil || len(list) != 0 {
			t.Errorf("granted is %+v, %v", list, err)
		}
		h, err := w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada")
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || len(res.Pending) != 1 || o.count("write") != 0 {
			t.Fatalf("approved once it is %+v, %v", res, err)
		}
		if text := o.over(w.Decide(t.Context(), w.lease, info.ID, approval(res.Pending[0], harness.ScopeSession, "write"))); text != "done: for write" || o.count("write") != 1 {
			t.Errorf("approved as it is now it says %q and ran %d times", text, o.count("write"))
		}
	})
}

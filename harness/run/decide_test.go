package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// waits begins a turn and returns it where it waits for a person.
func (s *staff) waits() harness.Run {
	s.o.t.Helper()
	res, err := s.begin()
	if err != nil || res.Status != harness.RunAwaiting {
		s.o.t.Fatalf("the run is %+v, %v, want one that waits", res, err)
	}
	info, err := s.Get(s.o.t.Context(), res.Run)
	if err != nil || len(info.Pending) == 0 {
		s.o.t.Fatalf("the run waits for %+v, %v", info.Pending, err)
	}
	return info
}

// over waits for a run to end and returns the text of its answer.
func (o *office) over(h harness.RunHandle, err error) string {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
	res, err := h.Wait(o.t.Context())
	if err != nil || res.Status != harness.RunCompleted {
		o.t.Fatalf("the run is %+v, %v, want it completed", res, err)
	}
	return res.Text
}

func eachStore(t *testing.T, test func(t *testing.T, s store)) {
	t.Helper()
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func TestApprovalWaitsOverRestartsAndRunsTheCallOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write")
		first := o.enter(1, nil)
		info := first.waits()
		o.same(info.Pending[0])
		first.leave()
		// The second only looks; the third goes on without a decision, which
		// leads to the same question.
		second := o.enter(2, nil)
		again, err := second.Get(t.Context(), info.ID)
		if err != nil || again.Status != harness.RunAwaiting {
			t.Fatalf("after a restart the run is %+v, %v", again, err)
		}
		o.same(again.Pending[0])
		second.leave()
		third := o.enter(3, nil)
		h, err := third.Resume(t.Context(), third.lease, info.ID, harness.ResumeContinue)
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunAwaiting || len(res.Pending) != 1 {
			t.Fatalf("resumed without a decision it is %+v, %v", res, err)
		}
		o.same(res.Pending[0])
		// Who lost the session decides nothing.
		if _, err := first.Approve(t.Context(), first.lease, info.ID, info.Pending[0], "a ghost"); !errors.Is(err, harness.ErrLost) && !errors.Is(err, harness.ErrStale) {
			t.Errorf("a decision of a process that has gone gives %v", err)
		}
		if text := o.over(third.Approve(t.Context(), third.lease, info.ID, info.Pending[0], "ada")); text != "done: for write" || o.count("write") != 1 {
			t.Errorf("approved it says %q and ran %d times", text, o.count("write"))
		}
		third.leave()
		// A proposal may be as large as a file.
		shown := 0
		for _, e := range o.log() {
			shown += bytes.Count(e.Data, []byte(`"proposal"`))
		}
		if shown != 1 {
			t.Errorf("what was shown is stored %d times", shown)
		}
	})
}

func TestRefusalIsToldToTheModel(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write", "look")
		w := o.enter(1, nil)
		info := w.waits()
		h, err := w.Decline(t.Context(), w.lease, info.ID, info.Pending[0], "not on a Friday", "ada")
		if text := o.over(h, err); !strings.Contains(text, "permission denied by the person: not on a Friday") || o.count("write") != 0 {
			t.Errorf("declined it says %q and ran %d times", text, o.count("write"))
		}
		var decided []string
		for e := range h.Events(t.Context(), 0) {
			if e.Type == harness.EventApproval || e.Type == harness.EventDecided {
				decided = append(decided, string(e.Type)+" "+e.Call.Name+" "+e.Text)
			}
		}
		if got := strings.Join(decided, "; "); got != "approval_required write ; decided write declined by ada: not on a Friday" {
			t.Errorf("a watcher is told %q", got)
		}
	})
}

// changing is a policy that becomes another one at its n-th verdict on write.
type changing struct {
	n    atomic.Int32
	then func() policy.Verdict
}

func (c *changing) Judge(ctx context.Context, call tool.Call, t tool.Tool, tc harness.ToolCall) policy.Verdict {
	if t.Name == "write" && c.n.Add(-1) < 0 {
		return c.then()
	}
	return policy.Rules{Interactive: true}.Judge(ctx, call, t, tc)
}

func TestDenialAfterTheApprovalWins(t *testing.T) {
	t.Parallel()
	// The first verdict asks, the second comes when the run goes on, the third
	// right before the tool runs.
	for verdicts := 1; verdicts <= 2; verdicts++ {
		eachStore(t, func(t *testing.T, s store) {
			o := newOffice(t, s, "write", "look")
			c := &changing{then: func() policy.Verdict {
				return policy.Verdict{Permission: tool.Deny, Rule: "test", Reason: "no more"}
			}}
			c.n.Store(int32(verdicts))
			o.policy = c
			w := o.enter(1, nil)
			info := w.waits()
			text := o.over(w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada"))
			if !strings.Contains(text, "permission denied: no more") || o.count("write") != 0 {
				t.Errorf("after %d verdicts: %q, and it ran %d times", verdicts, text, o.count("write"))
			}
		})
	}
}

func TestOtherStateThanShownIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		eachStore(t, func(t *testing.T, s store) {
			o := newOffice(t, s, "write")
			o.setLedger("one")
			if late { // the file changes between the last verdict but one and the last
				c := &changing{}
				c.n.Store(2)
				var once sync.Once
				c.then = func() policy.Verdict {
					once.Do(func() { o.setLedger("two") })
					return policy.Verdict{Permission: tool.Ask, Rule: "test"}
				}
				o.policy = c
			}
			w := o.enter(1, nil)
			info := w.waits()
			if !late {
				o.setLedger("two")
			}
			h, err := w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada")
			if err != nil {
				t.Fatal(err)
			}
			res, err := h.Wait(t.Context())
			if err != nil || res.Status != harness.RunAwaiting || len(res.Pending) != 1 || o.count("write") != 0 {
				t.Fatalf("the run is %+v, %v, and the tool ran %d times", res, err, o.count("write"))
			}
			now := res.Pending[0]
			if now.Digest == info.Pending[0].Digest || now.Proposal.State == info.Pending[0].Proposal.State {
				t.Errorf("it waits for the same as before: %+v", now)
			}
			if _, err := w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada"); !errors.Is(err, harness.ErrStale) {
				t.Errorf("approving what was shown before gives %v", err)
			}
			if text := o.over(w.Approve(t.Context(), w.lease, info.ID, now, "ada")); text != "done: for write" || o.count("write") != 1 {
				t.Errorf("approved again it says %q and ran %d times", text, o.count("write"))
			}
		})
	}
}

// again is a model that makes the same call, by its id, with these arguments one
// after the other.
func again(name string, inputs ...string) answering {
	return func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
		n := 0
		for _, m := range r.Messages {
			if m.Role == harness.RoleTool {
				n++
			}
		}
		if n >= len(inputs) {
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}, Stop: harness.StopEnd}, nil
		}
		call := &harness.ToolCall{ID: "call_0", Name: name, Input: json.RawMessage(`{"text":"` + inputs[n] + `"}`)}
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: call}}, Stop: harness.StopTools}, nil
	}
}

func TestSameIDWithOtherArgumentsIsAskedAnew(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s)
		o.model = again("write", "a", "b", "a")
		w := o.enter(1, nil)
		info := w.waits()
		seen := map[string]bool{}
		for n, want := range []string{"a", "b", "a"} {
			p := info.Pending[0]
			if seen[p.Call.ID] || p.Call.Origin != "call_0" || !strings.Contains(p.Proposal.Body, `"`+want+`"`) || o.count("write") != n {
				t.Fatalf("question %d is about %+v, %d ran", n, p, o.count("write"))
			}
			seen[p.Call.ID] = true
			h, err := w.Approve(t.Context(), w.lease, info.ID, p, "ada")
			if err != nil {
				t.Fatal(err)
			}
			res, err := h.Wait(t.Context())
			if err != nil || len(res.Pending) != 1 && n < 2 {
				t.Fatalf("the run is %+v, %v", res, err)
			}
			info.Pending = res.Pending
		}
		if got := strings.Join(o.effects(), "\n"); strings.Count(got, " write a") != 2 || strings.Count(got, " write b") != 1 {
			t.Errorf("what ran is\n%s", got)
		}
	})
}

func TestToolThatChangedAfterTheApprovalIsNotRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(o *office)
		status harness.RunStatus
		text   string
	}{
		"vanished": {func(o *office) { o.tools = o.tools[:3] }, harness.RunCompleted, `There is no tool "write"`},
		"other words": {func(o *office) {
			tl := o.tools[3]
			tl.Description = "does something else now"
			o.tools = append(o.tools[:3:3], tl)
		}, harness.RunAwaiting, ""},
		"other arguments": {func(o *office) {
			tl := o.tools[3]
			tl.Schema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"to":{"type":"string"}}}`)
			o.tools = append(o.tools[:3:3], tl)
		}, harness.RunAwaiting, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s store) {
				o := newOffice(t, s, "write")
				first := o.enter(1, nil)
				info := first.waits()
				first.leave()
				tc.change(o)
				w := o.enter(2, nil)
				h, err := w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada")
				if err != nil {
					t.Fatal(err)
				}
				res, err := h.Wait(t.Context())
				if err != nil || res.Status != tc.status || !strings.Contains(res.Text, tc.text) || o.count("write") != 0 {
					t.Errorf("it ran %d times, the run is %+v, %v", o.count("write"), res, err)
				}
				if tc.status == harness.RunAwaiting && (len(res.Pending) != 1 || res.Pending[0].Digest == info.Pending[0].Digest) {
					t.Errorf("it waits for %+v", res.Pending)
				}
			})
		})
	}
}

func TestOneOfTwoDecisionsAtOnceCounts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write")
		w := o.enter(1, nil)
		// Another engine on the same lease stands for a process that does not
		// know of the first, and the same engine for two windows of one.
		for _, second := range []*run.Local{w.Local, o.engine(o.journal)} {
			info := w.waits()
			errs := make(chan error, 2)
			for n, e := range []*run.Local{w.Local, second} {
				go func() {
					how := harness.DecideApprove
					if n == 1 {
						how = harness.DecideDecline
					}
					h, err := e.Resolve(t.Context(), w.lease, info.ID, info.Pending[0], how, "", "ada")
					if err == nil {
						_, err = h.Wait(t.Context())
					}
					errs <- err
				}()
			}
			won := 0
			for range 2 {
				switch err := <-errs; {
				case err == nil:
					won++
				case !errors.Is(err, harness.ErrBusy) && !errors.Is(err, harness.ErrStale) && !errors.Is(err, harness.ErrNotFound):
					t.Errorf("the one who is late gets %v", err)
				}
			}
			log, err := o.journal.Read(t.Context(), info.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			decided := 0
			for _, e := range log {
				if e.Kind == "decided" {
					decided++
				}
			}
			if won != 1 || decided != 1 || o.count(info.Pending[0].Call.ID) > 1 {
				t.Errorf("%d won, %d decisions are stored", won, decided)
			}
			if got, err := w.Get(t.Context(), info.ID); err != nil || got.Status != harness.RunCompleted || got.Pending != nil {
				t.Errorf("the run is %+v, %v", got, err)
			}
		}
	})
}

func TestDecisionThatDoesNotFitChangesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write", "look")
		w := o.enter(1, nil)
		info := w.waits()
		p := info.Pending[0]
		for name, tc := range map[string]struct {
			ds  []harness.Decision
			err error
		}{
			"none":              {nil, loop.ErrDecision},
			"another digest":    {[]harness.Decision{{Call: p.Call.ID, Digest: "x", How: harness.DecideApprove}}, harness.ErrStale},
			"another call":      {[]harness.Decision{{Call: "x", Digest: p.Digest, How: harness.DecideApprove}}, harness.ErrNotFound},
			"a retry":           {[]harness.Decision{{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideRetry}}, loop.ErrDecision},
			"a good and a bad":  {[]harness.Decision{{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove}, {Call: "x"}}, harness.ErrNotFound},
			"a rule for others": {[]harness.Decision{{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "look"}}, policy.ErrRule},
			"no rule":           {[]harness.Decision{{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "write("}}, policy.ErrRule},
		} {
			if _, err := w.Decide(t.Context(), w.lease, info.ID, tc.ds...); !errors.Is(err, tc.err) {
				t.Errorf("%s: %v, want %v", name, err, tc.err)
			}
		}
		if got, err := w.Get(t.Context(), info.ID); err != nil || got.Cursor != info.Cursor || got.Status != harness.RunAwaiting {
			t.Errorf("the run moved on: %+v, %v", got, err)
		}
		if list, err := o.grants.List(t.Context(), "s"); err != nil || len(list) != 0 {
			t.Errorf("granted was %+v, %v", list, err)
		}
		o.over(w.Approve(t.Context(), w.lease, info.ID, p, "ada"))
		if _, err := w.Approve(t.Context(), w.lease, info.ID, p, "ada"); !errors.Is(err, harness.ErrNotFound) || !strings.Contains(err.Error(), "has ended (completed)") {
			t.Errorf("a decision about what is over gives %v", err)
		}
		if _, err := w.Approve(t.Context(), w.lease, "none", p, "ada"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("a decision about no run gives %v", err)
		}
	})
}

func TestDecisionWhileTheRunIsActiveIsBusy(t *testing.T) {
	t.Parallel()
	s := memory1()
	w := open(t, s, s.journal, words(2))
	h := w.start(t, "go", "")
	_, err := w.Decide(t.Context(), w.lease, h.ID(), harness.Decision{Call: "x", How: harness.DecideApprove})
	if !errors.Is(err, harness.ErrBusy) {
		t.Errorf("err = %v", err)
	}
	if err := w.Cancel(t.Context(), h.ID()); err != nil {
		t.Error(err)
	}
}

func TestMessageAndCancelWhileADecisionWaits(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "look", "write")
		w := o.enter(1, nil)
		info := w.waits()
		if _, err := w.begin(); !errors.Is(err, harness.ErrAwaiting) {
			t.Errorf("a message gives %v", err)
		}
		if err := w.Cancel(t.Context(), info.ID); !errors.Is(err, harness.ErrNotFound) || !strings.Contains(err.Error(), "drop it") {
			t.Errorf("cancel gives %v", err)
		}
		h, err := w.Resume(t.Context(), w.lease, info.ID, harness.ResumeDrop)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCancelled || len(res.Pending) != 0 {
			t.Errorf("dropped it is %+v, %v", res, err)
		}
		results, _ := o.stored()
		if o.count("write") != 0 || results["look"].Text != "done: for look" || !strings.HasPrefix(results["write"].Text, "not run") || results["write"].Unknown {
			t.Errorf("the results are %+v", results)
		}
		world{o.store, w.Local, w.lease}.branch(t)
		if res, err := w.begin(); err != nil || res.Run == info.ID {
			t.Errorf("the next message gives %+v, %v", res, err)
		}
	})
}

func TestAbortEndsTheRun(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write", "write")
		w := o.enter(1, nil)
		info := w.waits()
		h, err := w.Resolve(t.Context(), w.lease, info.ID, info.Pending[1], harness.DecideAbort, "", "ada")
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunCancelled || res.Stop != harness.StopCancelled || o.count("write") != 0 {
			t.Errorf("aborted it is %+v, %v", res, err)
		}
		world{o.store, w.Local, w.lease}.branch(t)
	})
}

func TestSomeDecisionsKeepTheRunWaiting(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write", "write")
		first := o.enter(1, nil)
		info := first.waits()
		h, err := first.Approve(t.Context(), first.lease, info.ID, info.Pending[1], "ada")
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunAwaiting || len(res.Pending) != 1 || res.Pending[0].Call.ID != info.Pending[0].Call.ID || o.count("write") != 0 {
			t.Fatalf("with one of two decided it is %+v, %v", res, err)
		}
		first.leave()
		w := o.enter(2, nil)
		if text := o.over(w.Decline(t.Context(), w.lease, info.ID, info.Pending[0], "", "ada")); o.count("write") != 1 || o.count(info.Pending[1].Call.ID) != 1 {
			t.Errorf("it says %q, and what ran is %q", text, o.effects())
		}
	})
}

func TestPruneRemovesTheRunsThatEnded(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "write")
		w := o.enter(1, nil)
		info := w.waits()
		if n, err := w.Prune(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 0 {
			t.Errorf("%d runs that wait were removed, %v", n, err)
		}
		o.over(w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada"))
		if n, err := w.Prune(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 1 {
			t.Errorf("%d runs were removed, %v", n, err)
		}
		if _, err := w.Get(t.Context(), info.ID); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("the run gives %v", err)
		}
	})
}

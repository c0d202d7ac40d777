package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/harness/tool"
)

func TestAnAwayRunThatWaitsIsDecided(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	pay, err := tool.New("pay", "Pay.", func(context.Context, tool.Call, struct{}) (string, error) { return "paid", nil })
	if err != nil {
		t.Fatal(err)
	}
	set := new(tool.Set)
	if err := set.Add(pay); err != nil {
		t.Fatal(err)
	}
	d.open(func(o *run.RemoteOptions) {
		o.Tools = func(context.Context, harness.RunConfig) (*tool.Set, error) { return set, nil }
	})
	h := d.start("pay")
	call := harness.ToolCall{ID: "c1", Name: "pay", Input: json.RawMessage(`{}`)}
	m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}}
	proposal := &harness.Proposal{Kind: harness.ProposalCall, Body: "{}"}
	d.far.put(h.ID(),
		d.entry(loop.Answered{Message: &m, Stop: harness.StopTools, Attempt: 1}),
		d.entry(loop.Judged{CallID: "c1", Permission: "ask", Proposal: proposal, Digest: "d1", Tool: pay.Fingerprint()}),
		d.entry(loop.Rested{Status: harness.RunAwaiting}))
	res := d.wait(h)
	if res.Status != harness.RunAwaiting || len(res.Pending) != 1 || res.Pending[0].Digest != "d1" {
		t.Fatalf("result %+v", res)
	}
	r, err := d.Get(d.ctx(), h.ID())
	if err != nil || len(r.Pending) != 1 || r.Unfetched != 0 {
		t.Fatalf("it is %+v, %v", r, err)
	}
	if _, err := d.Start(d.ctx(), harness.StartRequest{Lease: d.lease, Message: harness.UserText("more")}); !errors.Is(err, harness.ErrAwaiting) {
		t.Fatalf("a message gets %v", err)
	}
	yes := harness.Decision{Call: "c1", Digest: "d1", How: harness.DecideApprove, Scope: harness.ScopeSession, Rule: "pay", By: "ada"}
	d.far.decided = func(*farJob, []harness.Decision) error { return errDown }
	if _, err := d.Decide(d.ctx(), d.lease, h.ID(), yes); !errors.Is(err, errDown) {
		t.Fatalf("got %v", err)
	}
	if given, err := d.st.Grants().List(d.ctx(), "s"); err != nil || len(given) != 0 {
		t.Fatalf("a decision that was not taken left %+v, %v", given, err)
	}
	d.far.decided = func(j *farJob, ds []harness.Decision) error {
		j.add(d.entry(loop.Decided{CallID: ds[0].Call, Approved: true, Digest: ds[0].Digest, By: ds[0].By, Scope: ds[0].Scope, Rule: ds[0].Rule}),
			d.entry(loop.Resumed{How: harness.ResumeDecided}))
		return nil
	}
	h, err = d.Decide(d.ctx(), d.lease, h.ID(), yes)
	if err != nil {
		t.Fatal(err)
	}
	if given, err := d.st.Grants().List(d.ctx(), "s"); err != nil || len(given) != 1 || given[0].Tool != pay.Fingerprint() {
		t.Errorf("granted %+v, %v", given, err)
	}
	d.far.put(h.ID(), d.entry(loop.Began{CallID: "c1"}), d.entry(loop.Ended{Message: loop.Result(call, "paid", false, false)}))
	d.far.put(h.ID(), d.answers("done")...)
	if res := d.wait(h); res.Status != harness.RunCompleted || res.Text != "done" {
		t.Errorf("result %+v", res)
	}
}

// A run whose driver died may be decided about while it is followed: the same handle
// goes on, or the next one if the follower was told just before that it rests.
func TestAFollowedRunIsDecided(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("pay")
		d.far.drive(h.ID(), worker())
		synctest.Wait()
		call := harness.ToolCall{ID: "c1", Name: "pay", Input: json.RawMessage(`{}`)}
		m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}}
		d.far.change(h.ID(), func(j *farJob) {
			j.add(d.entry(loop.Answered{Message: &m, Stop: harness.StopTools, Attempt: 1}),
				d.entry(loop.Judged{CallID: "c1", Permission: "allow"}), d.entry(loop.Began{CallID: "c1"}))
			j.job.Run.Worker, j.job.Run.Interrupted = nil, true
		})
		r, err := d.Get(t.Context(), h.ID())
		if err != nil || len(r.Pending) != 1 || !r.Pending[0].Uncertain {
			t.Fatalf("it is %+v, %v", r, err)
		}
		d.far.decided = func(j *farJob, ds []harness.Decision) error {
			j.add(d.entry(loop.Resumed{How: harness.ResumeContinue}), d.entry(loop.Resolved{CallID: "c1", How: ds[0].How}),
				d.entry(loop.Ended{Message: loop.Result(call, ds[0].Text, false, false)}))
			j.job.Run.Interrupted = false
			return nil
		}
		h2, err := d.Decide(t.Context(), d.lease, h.ID(), harness.Decision{Call: "c1", How: harness.DecideResult, Text: "paid it", By: "ada"})
		if err != nil || h2 != h {
			t.Fatalf("got %v, %v", h2, err)
		}
		d.far.put(h.ID(), d.answers("done")...)
		if res := d.wait(h2); res.Status != harness.RunCompleted || res.Text != "done" {
			t.Errorf("result %+v", res)
		}
	})
}

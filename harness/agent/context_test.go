package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/hook"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// writer answers with a long text, and with a short note when it is to condense.
type writer struct {
	note  func() (model.Reply, error)
	notes int
	last  model.Request
}

func (w *writer) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if r.Purpose == model.PurposeCondense {
		w.notes++
		return w.note()
	}
	w.last = r
	return text(strings.Repeat("All of it is well and will be well. ", 60)), nil
}

// wordy returns an agent with a conversation of some turns.
func wordy(t *testing.T, w *writer, o agent.Options, turns int) *agent.Agent {
	t.Helper()
	o.Model, o.Info = w, model.Info{ID: "mock/m", Window: 64_000, MaxOutput: 4_000, PriceKnown: true, InputPrice: 1, OutputPrice: 2}
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		if _, err := a.Run(t.Context(), fmt.Sprintf("question %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func TestCondenseStandsForWhatWasSaid(t *testing.T) {
	t.Parallel()
	var seen observed
	w := &writer{note: func() (model.Reply, error) { return text("Ten questions were asked."), nil }}
	a := wordy(t, w, agent.Options{Hooks: []hook.Func{seen.see}}, 10)
	if err := a.Pin(t.Context(), harness.Origin{Record: 3}); err != nil {
		t.Fatal(err)
	}
	report, err := a.Condense(t.Context(), "the questions")
	if err != nil || report.Calls != 1 || report.Messages == 0 || report.After >= report.Before || report.Model != "mock/m" {
		t.Fatalf("report %+v, %v", report, err)
	}
	if _, err := a.Run(t.Context(), "and now?"); err != nil {
		t.Fatal(err)
	}
	var sent strings.Builder
	for _, m := range w.last.Messages {
		sent.WriteString(m.Text() + "\n")
	}
	for text, want := range map[string]bool{"Ten questions were asked.": true, "question 2": true, "question 4": false, "and now?": true} {
		if strings.Contains(sent.String(), text) != want {
			t.Errorf("the request holds %q: %v, want %v", text, !want, want)
		}
	}
	if n := len(a.Messages()); n != 22 {
		t.Errorf("%d messages are left to read, want 22", n)
	}
	if e := find[hook.ContextCondensed](t, &seen); !e.Summarized || e.Dropped != report.Messages || e.SummaryChars == 0 {
		t.Errorf("hooks are told %+v", e)
	}
	store := memoryStore(t)
	id, err := a.SaveSession(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	d, err := snapshot.Load(t.Context(), store, string(id), snapshot.Want{})
	if err != nil || d.Usage.Output != 11*2+2 {
		t.Errorf("usage %+v, %v: the note is not counted", d.Usage, err)
	}
	again, err := agent.LoadSession(t.Context(), string(id), store, agent.Options{Model: w})
	if err != nil {
		t.Fatal(err)
	}
	if pins, err := again.Pinned(t.Context()); err != nil || len(pins) != 1 || pins[0].Message.Text() != "question 2" {
		t.Errorf("after a load %+v is pinned, %v", pins, err)
	}
}

func TestCondensingThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	for name, note := range map[string]func() (model.Reply, error){
		"failed": func() (model.Reply, error) {
			return model.Reply{}, &model.Error{Kind: model.KindServer, Message: "overloaded"}
		},
		"empty": func() (model.Reply, error) { return text(" \n"), nil },
		"long":  func() (model.Reply, error) { return text(strings.Repeat("on and on ", 8_000)), nil },
	} {
		w := &writer{note: note}
		a := wordy(t, w, agent.Options{}, 10)
		before := len(a.Records())
		report, err := a.Condense(t.Context(), "")
		if name != "long" && (err == nil || report.Messages != 0) {
			t.Errorf("%s: report %+v, %v", name, report, err)
		}
		if _, err := a.Run(t.Context(), "and now?"); err != nil {
			t.Errorf("%s: the next turn: %v", name, err)
		}
		if n := len(a.Records()); n != before+2 {
			t.Errorf("%s: %d messages, want %d", name, n, before+2)
		}
	}
}

func TestCondenseIsRefusedWhileARunIsActive(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	a, err := agent.New(agent.Options{Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		close(begun)
		<-release
		return echo(ctx, r, emit)
	})})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := a.Run(t.Context(), "one")
		ended <- err
	}()
	<-begun
	_, condensed := a.Condense(t.Context(), "")
	_, pruned := a.PruneToolResults(t.Context())
	for what, err := range map[string]error{
		"condense": condensed, "prune": pruned,
		"pin": a.Pin(t.Context(), harness.Origin{Record: 1}), "unpin": a.Unpin(t.Context(), harness.Origin{Record: 1}),
	} {
		if !errors.Is(err, harness.ErrBusy) {
			t.Errorf("%s: %v", what, err)
		}
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if report, err := a.Condense(t.Context(), ""); err != nil || report.Messages != 0 {
		t.Errorf("a conversation without anything to condense: %+v, %v", report, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Condense(t.Context(), ""); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("of a closed agent: %v", err)
	}
}

func TestPrunedResultsStayReadable(t *testing.T) {
	t.Parallel()
	set := new(tool.Set)
	big := tool.Tool{Name: "big", Permission: tool.Allow, Run: func(context.Context, tool.Call) (string, error) {
		return strings.Repeat("a line of it\n", 800), nil
	}}
	if err := set.Add(big); err != nil {
		t.Fatal(err)
	}
	var last model.Request
	call := harness.ToolCall{Name: "big", Input: json.RawMessage(`{}`)}
	a, err := agent.New(agent.Options{Tools: set, Info: model.Info{ID: "mock/m", Window: 64_000}, Model: answering(
		func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			last = r
			if r.Messages[len(r.Messages)-1].Role == harness.RoleTool {
				return text("done"), nil
			}
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if _, err := a.Run(t.Context(), "look"); err != nil {
			t.Fatal(err)
		}
	}
	report, err := a.PruneToolResults(t.Context())
	if err != nil || report.Cleared == 0 || report.Calls != 0 || report.After >= report.Before {
		t.Fatalf("report %+v, %v", report, err)
	}
	if _, err := a.Run(t.Context(), "and now?"); err != nil {
		t.Fatal(err)
	}
	whole := func(msgs []harness.Message) (n int) {
		for _, m := range msgs {
			for _, p := range m.Parts {
				if p.Result != nil && len(p.Result.Text) > 5_000 {
					n++
				}
			}
		}
		return n
	}
	if n := whole(a.Messages()); n != 9 {
		t.Errorf("%d results are left to read, want 9", n)
	}
	if n := whole(last.Messages); n > 9-report.Cleared {
		t.Errorf("%d results are in the request whole, %d were pruned", n, report.Cleared)
	}
}

func TestPinsAreOfMessagesAndCountOnce(t *testing.T) {
	t.Parallel()
	s := &shelf{logs: map[harness.SessionID][]harness.Record{}}
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: s}, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	for _, of := range []harness.Origin{{}, {Record: 9}, {Session: "other", Record: 1}} {
		if err := a.Pin(t.Context(), of); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("pin %+v: %v", of, err)
		}
	}
	for range 2 {
		if err := a.Pin(t.Context(), harness.Origin{Session: "x", Record: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if pins, err := a.Pinned(t.Context()); err != nil || len(pins) != 1 || pins[0].Seq != 1 || len(s.logs["x"]) != 3 {
		t.Errorf("pinned is %+v, %v, with %d records", pins, err, len(s.logs["x"]))
	}
	for range 2 {
		if err := a.Unpin(t.Context(), harness.Origin{Record: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if pins, err := a.Pinned(t.Context()); err != nil || len(pins) != 0 || len(s.logs["x"]) != 4 {
		t.Errorf("pinned is %+v, %v, with %d records", pins, err, len(s.logs["x"]))
	}
}

func TestBudgetHoldsForTurnsAndNotes(t *testing.T) {
	t.Parallel()
	st := mem.New(nil)
	budget := &policy.Budget{Spending: st.Spending(), Limits: harness.SpendingLimits{Session: 0.000_001}}
	w := &writer{note: func() (model.Reply, error) { return text("A note."), nil }}
	a := wordy(t, w, agent.Options{}, 10)
	store := memoryStore(t)
	id, err := a.SaveSession(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	poor, err := agent.LoadSession(t.Context(), string(id), store, agent.Options{
		Model: w, Info: model.Info{ID: "mock/m", Window: 64_000, MaxOutput: 4_000, PriceKnown: true, InputPrice: 1, OutputPrice: 2}, Budget: budget,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poor.Condense(t.Context(), ""); !policy.OverBudget(err) || w.notes != 0 {
		t.Errorf("condense says %v after %d notes", err, w.notes)
	}
	res, err := poor.Run(t.Context(), "one more")
	if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != agent.KindSpending {
		t.Errorf("result %+v, %v", res, err)
	}
}

// What middleware keeps from the model is kept from it when it writes a note, too.
func TestNotesAreWrittenOfWhatMiddlewareLetsThrough(t *testing.T) {
	t.Parallel()
	var asked string
	w := &writer{note: func() (model.Reply, error) { return text("A note."), nil }}
	seeing := answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if r.Purpose == model.PurposeCondense {
			asked = r.Messages[0].Text()
		}
		return w.Stream(ctx, r, emit)
	})
	hide := between{plain: plain{"hide"}, request: func(r *model.Request) error {
		for i := range r.Messages {
			for j := range r.Messages[i].Parts {
				p := &r.Messages[i].Parts[j]
				p.Text = strings.ReplaceAll(p.Text, "question", "matter")
			}
		}
		return nil
	}}
	a, err := agent.New(agent.Options{Model: seeing, Info: model.Info{ID: "mock/m", Window: 64_000}, Extensions: []agent.Extension{hide}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := a.Run(t.Context(), fmt.Sprintf("question %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := a.Condense(t.Context(), ""); err != nil || report.Calls != 1 {
		t.Fatalf("report %+v, %v", report, err)
	}
	if strings.Contains(asked, "question") || !strings.Contains(asked, "matter 3") {
		t.Errorf("the note was asked for with %.500s", asked)
	}
}

// A store that keeps records alone says by them what notes used.
func TestTheUsageOfNotesIsKnownOverARestart(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{})
	p.fill()
	p.say("and now " + strings.Repeat("this ", 300))
	if _, err := p.Condense(t.Context(), ""); err != nil || len(p.notes) != 2 {
		t.Fatalf("%d notes, %v", len(p.notes), err)
	}
	before := saved(t, p.Agent, memoryStore(t)).Usage
	again, err := agent.Open(t.Context(), agent.Session{ID: "s", Store: p.shelf}, agent.Options{Model: answering(p.stream), Info: small(), System: "Be brief."})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, again)
	if after := saved(t, again, memoryStore(t)).Usage; after != before || after.Input < 2*700 {
		t.Errorf("it used %+v, and %+v after a restart", before, after)
	}
}

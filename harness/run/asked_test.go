package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// compact condenses the session as a person asks for it, with a note of its own.
func (a *archive) compact(word string) {
	a.t.Helper()
	c := condense.Sessions{
		Sessions: a.sessions, Transcript: a.transcript, Now: time.Now,
		Model: func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
			return speaking(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
				return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: word}}, Stop: harness.StopEnd}, nil
			}), model.Info{ID: "p/m", Window: 3_000, MaxOutput: 300}, "p/m", nil
		},
	}
	if r, err := c.Condense(a.t.Context(), a.lease, "", false, nil); err != nil || r.Messages == 0 {
		a.t.Fatalf("%+v, %v", r, err)
	}
}

// What a person condenses while a run rests counts when it goes on, also of its own
// messages, and also when it is killed once more.
func TestWhatIsCondensedWhileARunRestsCountsForIt(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		for stop := range 2 {
			t.Run(fmt.Sprintf("%s, at note %d", name, stop+1), func(t *testing.T) {
				t.Parallel()
				a := newArchive(t, open(t))
				under, n := make(chan struct{}), 0
				a.during = func(ctx context.Context) {
					if n++; n == stop+1 {
						close(under)
						<-ctx.Done()
					}
				}
				e := a.engine(nil)
				h, err := a.begin(e)
				if err != nil {
					t.Fatal(err)
				}
				<-under
				if err := e.Pause(t.Context(), h.ID()); err != nil {
					t.Fatal(err)
				}
				before, _ := a.asked()
				a.compact("The person's own note.")
				stored := a.branch()
				again := make(chan struct{})
				a.during = nil
				a.once = func() { close(again) }
				if h, err = e.Resume(t.Context(), a.lease, h.ID(), harness.ResumeContinue); err != nil {
					t.Fatal(err)
				}
				<-again
				if err := e.Pause(t.Context(), h.ID()); err != nil {
					t.Fatal(err)
				}
				if h, err = e.Resume(t.Context(), a.lease, h.ID(), harness.ResumeContinue); err != nil {
					t.Fatal(err)
				}
				if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
					t.Fatalf("%+v, %v", res, err)
				}
				a.check(stored)
				requests, _ := a.asked()
				for i, r := range requests[len(before):min(len(requests), len(before)+2)] {
					if stop == 1 && strings.Contains(r, "look at everything") {
						t.Errorf("request %d has what was condensed of the turn: %.600s", i, r)
					}
					if !strings.Contains(r, "The person's own note.") || strings.Contains(r, "question 4 ") {
						t.Errorf("request %d after it is %.600s", i, r)
					}
				}
			})
		}
	}
}

// Of a conversation that is too long to be condensed unasked a person is told once,
// not in each turn.
func TestThatMuchIsToBeCondensedIsToldOnceInAProcess(t *testing.T) {
	t.Parallel()
	st := mem.New(nil)
	lines := func(e *run.Local, id harness.SessionID) (n int) {
		lease, err := st.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			m := harness.UserText(strings.Repeat("more ", 1_500))
			if i%2 == 1 {
				m.Role = harness.RoleAssistant
			}
			if _, err := st.Transcript().Append(t.Context(), lease, harness.Record{Kind: harness.RecordMessage, Message: &m}); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			h, err := e.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "p/m", System: "Be brief."}})
			if err != nil {
				t.Fatal(err)
			}
			for ev := range h.Events(t.Context(), 0) {
				if ev.Type == harness.EventRecovery && strings.Contains(ev.Text, "/compact would condense") {
					n++
				}
			}
			if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
				t.Fatalf("%+v, %v", res, err)
			}
		}
		if err := st.Owners().Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		return n
	}
	engine := func() *run.Local {
		return run.NewLocal(run.Options{
			Journal: st.Journal(), Transcript: st.Transcript(), Sessions: st.Sessions(), Engine: "test",
			Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
				said := speaking(func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
					if err := memory.Legal(r.Messages); err != nil {
						t.Error(err)
					}
					return well(harness.Usage{}), nil
				})
				return agent.Steps{Model: said, Info: model.Info{ID: "p/m", Window: 3_000, MaxOutput: 300}, Tools: new(tool.Set), Policy: policy.Rules{}}, nil
			},
		})
	}
	e := engine()
	if a, b := lines(e, "a"), lines(e, "b"); a != 1 || b != 1 {
		t.Errorf("told %d times of one session and %d times of another", a, b)
	}
	if n := lines(engine(), "a"); n != 1 {
		t.Errorf("another process tells %d times", n)
	}
}

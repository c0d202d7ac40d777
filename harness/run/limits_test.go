package run_test

import (
	"context"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/storage/mem"
)

// strict is a model with a window of so many bytes of text. It counts the
// requests of turns, and those for what stands for old messages.
type strict struct{ bytes, requests, notes int }

// Stream implements [model.Model].
func (s *strict) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if r.Purpose == model.PurposeCondense {
		s.notes++
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "they spoke"}}, Stop: harness.StopEnd}, nil
	}
	s.requests++
	n := 0
	for _, m := range r.Messages {
		n += len(m.Text())
	}
	if n > s.bytes {
		return model.Reply{}, &model.Error{Kind: model.KindOverflow, Provider: "p", Limit: 8_192, Message: "too long"}
	}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "well"}}, Stop: harness.StopEnd}, nil
}

// A refusal that teaches the window is answered within the run: the journal has
// no more entries than that of a run that was refused nothing, but for what was
// condensed.
func TestARunThatIsRefusedGoesOnWithLess(t *testing.T) {
	t.Parallel()
	st := mem.New(nil)
	lease, err := st.Owners().Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := &strict{bytes: 30_000}
	engine := run.NewLocal(run.Options{
		Journal: st.Journal(), Transcript: st.Transcript(), Engine: "test",
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: m, Info: model.Info{ID: "p/m"}, Limits: st.Limits()}, nil
		},
	})
	var lines []string
	var cursors []int
	for range 3 {
		h, err := engine.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText(strings.Repeat("lorem ", 3_400))})
		if err != nil {
			t.Fatal(err)
		}
		for e := range h.Events(t.Context(), 0) {
			if e.Type == harness.EventRecovery && e.Seq == 0 {
				lines = append(lines, e.Text)
			}
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Text != "well" || res.Status != harness.RunCompleted {
			t.Fatalf("%+v, %v", res, err)
		}
		r, err := engine.Get(t.Context(), h.ID())
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, r.Cursor)
	}
	if m.requests != 4 || len(lines) != 1 || cursors[0] != cursors[1] || cursors[1] != cursors[2]-m.notes {
		t.Errorf("%d requests, told %q, journals end at %v", m.requests, lines, cursors)
	}
	if l, err := st.Limits().Get(t.Context(), "p/m"); err != nil || l.Window != 8_192 {
		t.Errorf("learned %+v, %v", l, err)
	}
	if err := engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

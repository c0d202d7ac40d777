package agent

import (
	"context"
	"slices"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
)

// shown is a sink that keeps what is for the eye.
type shown struct {
	Sink
	events []harness.Event
}

func (s *shown) Emit(e harness.Event) { s.events = append(s.events, e) }

func TestATurnWaitsForWhatIsOnItsWayAndTellsOfWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := &shown{}
	turn := Turn{Sink: s, Run: "r1", Steps: Steps{
		Now: time.Now,
		Ready: func(_ context.Context, waits, lacks func(string)) {
			waits("waiting for files")
			lacks("without the tools of web")
		},
	}}
	turn.ready(t.Context())
	var got []string
	for _, e := range s.events {
		got = append(got, string(e.Type)+": "+e.Text)
	}
	want := []string{string(harness.EventWaiting) + ": waiting for files", string(harness.EventRecovery) + ": without the tools of web"}
	if !slices.Equal(got, want) {
		t.Errorf("it tells %q", got)
	}
}

func TestATurnThatIsOverWaitsForNothing(t *testing.T) {
	t.Parallel()
	turn := Turn{Sink: &shown{}, Steps: Steps{
		Now: time.Now, Ready: func(context.Context, func(string), func(string)) { t.Error("it waits") },
	}}
	ended, _ := loop.Step(loop.State{}, loop.Started{Message: harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText, Text: "hi"}}}})
	ended, _ = loop.Step(ended, loop.Rested{Status: harness.RunCancelled})
	if err := turn.Drive(t.Context(), ended); err != nil {
		t.Error(err)
	}
}

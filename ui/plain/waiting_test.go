package plain

import (
	"strings"
	"testing"

	"cairn/harness"
)

// What is waited for is told: the model, or once the store that takes nothing.
func TestWaitingSaysForWhat(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := follower{p: &plain{out: &writer{to: &out}}}
	full := harness.Event{Type: harness.EventWaiting, Wait: 2, Error: &harness.RunError{Kind: "store", Text: "no space left on device"}}
	for _, e := range []harness.Event{
		{Type: harness.EventWaiting, Text: "condensing 3 messages"},
		{Type: harness.EventWaiting, Wait: 10},
		full, full,
		{Type: harness.EventRecovery, Seq: 3},
		full,
	} {
		f.event(e)
	}
	const want = "- condensing 3 messages\n" +
		"- still waiting for the model (10 s)\n" +
		"- not saved yet, trying again: no space left on device\n" +
		"- not saved yet, trying again: no space left on device\n"
	if out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
}

func TestCondensingAndRecoveriesAreOneLineEach(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := follower{p: &plain{out: &writer{to: &out}}}
	for _, e := range []harness.Event{
		{Type: harness.EventCondensed, Condensed: &harness.Condensed{Note: "short", Dropped: 12, Messages: 30, Before: 9000, After: 2500}},
		{Type: harness.EventCondensed, Condensed: &harness.Condensed{Cleared: 2}},
		{Type: harness.EventRecovery, Seq: 3, Text: "the answer was cut off; asked to go on"},
		{Type: harness.EventRecovery, Seq: 4},
	} {
		f.event(e)
	}
	const want = "- condensed 12 messages into 5 characters; 9,000 -> 2,500 tokens\n" +
		"- left out 2 old tool results\n" +
		"- the answer was cut off; asked to go on\n"
	if out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
}

// A run that failed says why, and which model it goes on with if that is another
// one than that of the next message.
func TestAnUnfinishedAnswerSaysHowItStands(t *testing.T) {
	t.Parallel()
	run := harness.Run{Status: harness.RunFailed, Config: harness.RunConfig{Model: "test/owl"}, Error: &harness.RunError{Text: "The limit is reached."}}
	p := &plain{}
	p.Chat.Words = func(err error) string { return err.Error() }
	for model, want := range map[string]string{
		"test/owl":    "an answer is unfinished (failed): The limit is reached",
		"test/parrot": "an answer is unfinished (failed): The limit is reached; it goes on with test/owl, a message asks test/parrot",
	} {
		p.setup.Run.Model = model
		if got := p.unfinishedWords(run); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

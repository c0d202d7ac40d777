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
		{Type: harness.EventWaiting, Wait: 10},
		full, full,
		{Type: harness.EventRecovery, Seq: 3},
		full,
	} {
		f.event(e)
	}
	const want = "- still waiting for the model (10 s)\n" +
		"- not saved yet, trying again: no space left on device\n" +
		"- not saved yet, trying again: no space left on device\n"
	if out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
}

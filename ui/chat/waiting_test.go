package chat

import (
	"testing"

	"cairn/harness"
)

func TestWhatIsWaitedForBeginsWithItsCause(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]harness.Event{
		"still waiting": {},
		"nothing from the model for 10 s, still waiting": {Wait: 10},
		"waiting: the server: busy":                      {Error: &harness.RunError{Kind: "overloaded", Text: "the server: busy"}},
		"not saved yet, trying again: no space left on device": {Error: &harness.RunError{
			Kind: "store", Text: "run a1: append to run a1: write /home/me/.local/share/cairn/cairn.db: no space left on device",
		}},
		"the engine does not answer, trying again: nothing listens at 127.0.0.1:5432": {Error: &harness.RunError{
			Kind: "engine", Text: "run a1 at postgres://127.0.0.1:5432/runs: nothing listens at 127.0.0.1:5432",
		}},
		"the engine does not answer, trying again: gone": {Error: &harness.RunError{Kind: "engine", Text: "gone"}},
		"not saved yet, trying again: in use":            {Error: &harness.RunError{Kind: "store", Text: "in use"}},
	} {
		if got := waitWords(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package plain_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestForgettingInPlainNeverGuesses(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		facts := w.Store.Facts()
		for _, text := range []string{"tests are \x1b[2Jtables", "tests are quick", "the sky is green"} {
			if _, _, err := facts.Save(t.Context(), harness.Fact{Text: text}, ""); err != nil {
				t.Fatal(err)
			}
		}
		k := start(t, deps(w.Deps("talk", true)))
		k.say("/forget tests").shows("several match and none is forgotten", "/forget f1  tests are ␛[2Jtables", "/forget f2  tests are quick")
		k.say("/forget f2").shows("forgot f2: tests are quick", "cairn facts restore f2 brings it back")
		k.say("/forget green sky").shows("forgot f3: the sky is green")
		for id, want := range map[string]harness.FactState{"f1": harness.StateActive, "f2": harness.StateTrashed, "f3": harness.StateTrashed} {
			if f, err := facts.Get(t.Context(), id); err != nil || f.State != want {
				t.Errorf("%s is %s, %v", id, f.State, err)
			}
		}
	})
}

func TestTheContextInPlainIsThatOfTheLastAnswer(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		k := start(t, deps(w.Deps("talk", true)))
		k.say("hello").wait(time.Second).say("/context").shows("the last request:", "test/parrot", "tokens, ", "of the window of 1,000", "remembered nothing", "2 messages")
	})
}

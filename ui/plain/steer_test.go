package plain_test

import (
	"strings"
	"testing"
	"time"

	"cairn/ui/uitest"
)

func TestWhatIsSaidIntoATurnIsHeardBeforeWhatIsQueued(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 50), " ")...))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second).say("after").shows("queued (1)").say("/steer").shows("write after it")
		k.say("/steer the other\x1b(2J").wait(time.Second).shows("- steering, before the next step: the other␛(2J")
		k.wait(time.Minute).shows("- the model is told: the other␛(2J", "cairn: echo the other␛(2J", "cairn: echo after")
		if out := k.out.String(); strings.Contains(out, "interrupted") || strings.Index(out, "echo the other") > strings.Index(out, "echo after") {
			t.Errorf("what was said into the turn came late, or stopped it:\n%s", out)
		}
	})
}

func TestWhatIsSaidIntoNoTurnIsAMessage(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		start(t, deps(w.Deps("talk", true))).say("/steer hello").wait(time.Second).shows("cairn: echo hello")
	})
}

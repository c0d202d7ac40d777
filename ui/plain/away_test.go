package plain_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

const faraway = "postgres://db:5432/runs"

var worker = harness.Holder{PID: 12, Host: "box", Purpose: "worker"}

// elsewhere are the parts of a chat whose runs are kept elsewhere.
func elsewhere(w *uitest.World, a *uitest.Away) plain.Deps {
	d := deps(w.Deps("talk", false))
	d.Chat.Engine, d.Chat.Remote = a, a
	return d
}

func TestWhatARunDidElsewhereIsWritten(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "A talk", time.Now(), "run the tests")
		a := w.Away(faraway)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunCompleted})
		r.Keep(harness.AssistantText("The tests pass."))
		k := start(t, elsewhere(w, a)).wait(time.Second)
		k.shows("- 1 step of a run on "+faraway+" was fetched", "The tests pass.").say("/runs").shows("no run is unfinished")
	})
}

func TestARunThatGoesOnElsewhereIsFollowedLineByLine(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "A talk", time.Now(), "run the tests")
		a := w.Away(faraway)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &worker, Partial: &harness.Partial{Attempt: 1, Text: "Half of "}})
		k := start(t, elsewhere(w, a)).wait(time.Second)
		k.shows("- an answer goes on elsewhere, driven by worker pid 12 on box; /stop stops it", "Half of ")
		k.say("/here").shows("- the answer is driven by worker pid 12 on box already")
		r.Tell(harness.Event{Type: harness.EventText, Attempt: 1, Offset: 8, Text: "the answer"})
		k.wait(time.Second).shows("the answer").say("/runs").shows("run r1, session talk, driven by pid 12; on " + faraway)
		k.say("/stop")
		r.Tell(harness.Event{Type: harness.EventResult, Seq: 3, Outcome: &harness.Result{Status: harness.RunCancelled}})
		k.wait(time.Second).shows("- stopped")
		if !slices.Contains(a.Did(), "cancel r1") {
			t.Errorf("did %q", a.Did())
		}
	})
}

func TestARunThatNoWorkerTakesIsDrivenHereWhenAsked(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := w.Away(faraway)
		k := start(t, elsewhere(w, a)).say("/here").shows("- no run waits for a worker").say("go").wait(time.Second)
		r := a.Run("away1")
		r.Tell(harness.Event{Type: harness.EventUnclaimed, Text: "it lacks run_command"})
		k.wait(time.Second).shows("- no worker has taken the run (it lacks run_command): /here drives it here").say("/here").wait(time.Second)
		msg := harness.AssistantText("Gone.")
		r.Tell(harness.Event{Type: harness.EventMessage, Seq: 2, Message: &msg},
			harness.Event{Type: harness.EventResult, Seq: 3, Outcome: &harness.Result{Status: harness.RunCompleted}})
		k.wait(time.Second).shows("Gone.")
		if !slices.Contains(a.Did(), "resume continue away1") {
			t.Errorf("did %q", a.Did())
		}
	})
}

func TestAnEngineThatCannotBeReachedIsSaidAndTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "A talk", time.Now(), "run the tests")
		a := w.Away(faraway)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning})
		r.Keep(harness.AssistantText("The tests pass."))
		a.Break(errors.New("connection refused"))
		k := start(t, elsewhere(w, a)).wait(time.Second)
		k.shows("- an unfinished answer is kept elsewhere: " + faraway + " cannot be reached: connection refused; /continue tries again")
		k.say("and now?").shows("the message is kept: an empty line sends it again")
		a.Break(nil)
		r.Set(func(r *harness.Run) { r.Status = harness.RunCompleted })
		k.say("/continue").wait(time.Second).shows("- 1 step of a run on "+faraway+" was fetched", "The tests pass.")
	})
}

package ui_test

import (
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// asleep leaves a run that waits for approval in a session that nobody has
// open, and returns what ran of the tool.
func asleep(w *uitest.World) *uitest.Ran {
	ran := shell(w, goTest)
	d := w.Open("talk", 80, 24)
	d.Type("run the tests").Press("enter").Wait(2 * time.Second).Stop()
	w.Crash()
	return ran
}

func TestARunThatWaitsIsApprovedFromTheListOfRuns(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := asleep(w)
		w.Tell("other", "Other talk", time.Now(), "hello", "hello other")
		d := w.Open("other", 80, 24)
		d.Shows("hello other", "1 unfinished run: /runs")
		d.Type("/runs").Press("enter").Wait(time.Second).Shows("Runs", "waits for approval", "run the tests", "1 unfinished")
		d.Type("y").Wait(time.Second).Shows("Approve or refuse", goTest, "check that the new case fails first")
		if got := ran.Calls(); len(got) != 0 {
			t.Fatalf("it ran before it was approved: %q", got)
		}
		d.Type("y").Wait(2*time.Second).Shows("The run is done.", "done", "0 unfinished")
		if got := ran.Calls(); len(got) != 1 {
			t.Fatalf("it ran %d times", len(got))
		}
		d.Press("enter").Wait(time.Second).Shows("run the tests", "All done.").Hides("read-only", "approval needed")
	})
}

func TestARunThatWaitsIsRefusedFromTheListOfRuns(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := asleep(w)
		d := w.Open("other", 80, 24)
		d.Type("/runs").Press("enter").Wait(time.Second).Type("n").Wait(time.Second).Type("n").Wait(2 * time.Second)
		d.Shows("0 unfinished").Press("esc").Hides("Runs")
		if got := ran.Calls(); len(got) != 0 {
			t.Errorf("what was refused ran: %q", got)
		}
	})
}

func TestARunThatGoesOnFromTheListIsFollowedAndTakenOver(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Asking("shell", command(goTest))
		w.Model.Then(uitest.Calls("shell", `{"command":"x"}`), uitest.Says(strings.SplitAfter(strings.Repeat("word ", 300), " ")...))
		w.Open("talk", 80, 24).Type("run the tests").Press("enter").Wait(2 * time.Second).Stop()
		w.Crash()
		d := w.Open("other", 80, 24)
		d.Type("/runs").Press("enter").Wait(time.Second).Type("y").Wait(time.Second).Type("y").Wait(2 * time.Second).Shows("running here")
		d.Press("enter").Wait(2*time.Second).Shows("word word", "read-only", "(runs)")
		d.Press("ctrl+x", "w").Wait(3*time.Second).Shows("owns the session now", "an answer is paused", "word word").Hides("read-only")
		d.Type("c").Wait(2 * time.Second).Hides("an answer is paused")
	})
}

func TestAWaitingRunOpensItsDialogFromTheListOfRuns(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := asleep(w)
		d := w.Open("other", 80, 24)
		d.Type("/runs").Press("enter", "enter").Wait(time.Second).Shows("approval needed", goTest)
		d.Type("y").Wait(2 * time.Second).Shows("All done.")
		if got := ran.Calls(); len(got) != 1 {
			t.Errorf("it ran %d times", len(got))
		}
	})
}

func TestARunOfThisWindowIsDecidedInItsChat(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Press("esc").Type("/runs").Press("enter").Wait(time.Second).Shows("waits for approval").Type("y").Shows("It is open here: enter shows it")
		d.Press("enter").Wait(time.Second).Hides("Runs ")
	})
}

func TestAnotherWindowHasTheRun(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, goTest)
		wanted(w, 80, 24)
		d := w.Open("other", 80, 24)
		d.Type("/runs").Press("enter").Wait(time.Second).Type("y").Shows("open in pid 101 on pts/101 (chat): decide there")
	})
}

func TestAnInterruptedRunIsDroppedFromTheListOfRuns(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(time.Hour))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(2 * time.Second).Stop()
		w.Crash()
		d = w.Open("other", 80, 24)
		d.Type("/runs").Press("enter").Wait(time.Second).Shows("interrupted").Type("d").Shows("d again drops it").Type("d").Wait(time.Second)
		d.Shows("Dropped.", "dropped", "0 unfinished", "1 recent")
		open, err := w.Engine.List(t.Context(), harness.RunFilter{Unfinished: true})
		if err != nil || len(open) != 0 {
			t.Errorf("unfinished: %+v, %v", open, err)
		}
		d.Press("f1").Shows("Help · runs").Press("esc").Shows("Runs").Press("esc").Hides("Dropped")
	})
}

func TestARunThatWaitsIsDroppedFromTheListOfRuns(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := asleep(w)
		d := w.Open("other", 80, 24)
		d.Type("/runs").Press("enter").Wait(time.Second).Type("dd").Wait(time.Second).Shows("Dropped.", "0 unfinished")
		d.Press("enter").Wait(time.Second).Shows("run the tests").Hides("read-only", "approval needed")
		d.Type("and now").Press("enter").Wait(2 * time.Second).Shows("All done.")
		if got := ran.Calls(); len(got) != 0 {
			t.Errorf("what was dropped ran: %q", got)
		}
	})
}

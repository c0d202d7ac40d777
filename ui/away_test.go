package ui_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

const faraway = "postgres://db:5432/runs"

var worker = harness.Holder{PID: 12, Host: "box", Purpose: "worker"}

// elsewhere opens a window of a world whose runs are kept elsewhere.
func elsewhere(w *uitest.World, a *uitest.Away, id harness.SessionID, width int) *uitest.Driver {
	d := w.Deps(id, false)
	d.Engine, d.Remote = a, a
	return w.Start(d, width, 24)
}

// talk stores a conversation whose last message began a run elsewhere.
func talk(w *uitest.World) *uitest.Away {
	w.Tell("talk", "A talk", time.Now(), "run the tests")
	return w.Away(faraway)
}

func said(text string) *harness.Message {
	m := harness.AssistantText(text)
	m.Model = "test/parrot"
	return &m
}

func ended(seq int, status harness.RunStatus, pending ...harness.Pending) harness.Event {
	return harness.Event{Type: harness.EventResult, Seq: seq, Outcome: &harness.Result{Status: status, Pending: pending}}
}

func TestWhatARunDidElsewhereIsFetchedAndShown(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunCompleted})
		r.Keep(*said("The tests pass."), *said("All of them."))
		d := elsewhere(w, a, "talk", 80).Wait(time.Second)
		d.Shows("run the tests", "The tests pass.", "All of them.", "2 steps of a run on "+faraway+" were fetched")
		d.Hides("unfinished", "interrupted")
		elsewhere(w, a, "other", 80).Wait(time.Second).Hides("fetched")
	})
}

func TestARunThatGoesOnElsewhereIsFollowed(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{
			ID: "r1", Session: "talk", Status: harness.RunRunning, Cursor: 1, Worker: &worker,
			Partial: &harness.Partial{Attempt: 1, Text: "Half of "},
		})
		d := elsewhere(w, a, "talk", 100).Wait(time.Second)
		d.Shows("Half of", "driven by worker pid 12 on box", "esc esc stop").Hides("interrupted")
		r.Tell(harness.Event{Type: harness.EventText, Attempt: 1, Offset: 8, Text: "the answer"})
		d.Wait(time.Second).Shows("Half of the answer")
		r.Tell(harness.Event{Type: harness.EventMessage, Seq: 2, Record: 2, Message: said("Half of the answer.")}, ended(3, harness.RunCompleted))
		d.Wait(time.Second).Shows("Half of the answer.").Hides("driven by")
		if n := strings.Count(d.Screen(), "Half of the answer"); n != 1 {
			t.Errorf("the answer is shown %d times:\n%s", n, d.Screen())
		}
	})
}

func TestARunThatIsDrivenElsewhereGoesOnWhenItsChatIsLeft(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &worker})
		d := elsewhere(w, a, "talk", 100).Wait(time.Second)
		d.Press("ctrl+d").Wait(2 * time.Second)
		if !d.Quit() || !slices.Contains(a.Did(), "leave r1") || slices.Contains(a.Did(), "pause r1") {
			t.Errorf("quit %t, did %q", d.Quit(), a.Did())
		}
	})
}

func TestAnotherWindowShowsTheRunThatGoesOn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &worker})
		first := elsewhere(w, a, "talk", 120).Wait(time.Second)
		second := elsewhere(w, a, "talk", 120).Wait(time.Second)
		second.Shows("open in pid 101", "driven by worker pid 12 on box", "take over")
		r.Set(func(r *harness.Run) { r.Partial = &harness.Partial{Attempt: 1, Text: "so far"} })
		second.Wait(2 * time.Second).Shows("so far") // nothing in the store changed
		second.Press("ctrl+x", "w")
		first.Wait(3 * time.Second).Shows("took this session over and shows the run now, which goes on")
		second.Wait(2 * time.Second).Shows("driven by worker pid 12 on box").Hides("take over")
		if !slices.Contains(a.Did(), "leave r1") {
			t.Errorf("did %q", a.Did())
		}
		meta := harness.Session{ID: "talk"}
		if _, err := w.Store.Owners().Force(t.Context(), meta, harness.Holder{PID: 9}); err != nil {
			t.Fatal(err)
		}
		second.Wait(2 * time.Second).Shows("Another window took this session over and shows the run now")
	})
}

func TestARunThatNoWorkerTakesIsDrivenHereAtAKey(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := w.Away(faraway)
		d := elsewhere(w, a, "talk", 100)
		d.Type("go").Press("enter").Wait(time.Second).Shows("> ", "go")
		runs, err := a.List(t.Context(), harness.RunFilter{Session: "talk"})
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		d.Press("ctrl+x", "h").Shows("no run waits for a worker")
		r := a.Run(runs[0].ID)
		r.Tell(harness.Event{Type: harness.EventUnclaimed, Text: "it lacks run_command"})
		d.Wait(time.Second).Shows("no worker has taken the run (it lacks run_command)", "ctrl+x h drives it here")
		d.Press("ctrl+x", "h").Wait(time.Second).Hides("no worker has taken")
		r.Tell(harness.Event{Type: harness.EventMessage, Seq: 2, Record: 2, Message: said("Gone.")}, ended(3, harness.RunCompleted))
		d.Wait(time.Second).Shows("Gone.")
		if !slices.Contains(a.Did(), "resume continue away1") {
			t.Errorf("did %q", a.Did())
		}
	})
}

func TestARunThatAWorkerTookMeanwhileIsFollowedOn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Waits: "no worker has taken it"})
		d := elsewhere(w, a, "talk", 100).Wait(time.Second)
		r.Tell(harness.Event{Type: harness.EventUnclaimed, Text: "no worker has taken it"})
		d.Wait(100*time.Millisecond).Shows("no worker has taken the run", "ctrl+x h")
		r.Set(func(r *harness.Run) { r.Worker = &worker })
		d.Press("ctrl+x", "h").Wait(3*time.Second).Shows("driven by worker pid 12 on box").Hides("no worker has taken", "The session is open")
	})
}

func TestARunWhoseChatDiedIsOfferedAsSoonAsItsTimeIsOver(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		died := harness.Holder{PID: 12, Host: "box", Purpose: "chat"}
		r := a.Put(harness.Run{
			ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &died,
			Partial: &harness.Partial{Attempt: 1, Text: "Half of "},
		})
		end := time.Now().Add(20 * time.Second)
		held := func(r *harness.Run) { r.Held = time.Until(end) }
		r.Set(held)
		d := elsewhere(w, a, "talk", 100)
		for range 5 { // it is heard of every time
			r.Set(held)
			d.Wait(time.Second).Hides("silent")
			end = end.Add(time.Second)
		}
		for range 8 {
			r.Set(held)
			d.Wait(time.Second)
		}
		d.Shows("driven by chat pid 12 on box", "chat pid 12 is silent: it has the run until 00:00:2", "unless it goes on")
		r.Set(func(r *harness.Run) { r.Worker, r.Held, r.Interrupted = nil, 0, true })
		d.Wait(3*time.Second).Shows("Half of", "an answer was interrupted", "continue", "retry", "drop").Hides("silent", "driven by")
		d.Press("r").Wait(time.Second)
		if !slices.Contains(a.Did(), "resume retry r1") {
			t.Errorf("did %q", a.Did())
		}
	})
}

// The lease of a machine that slept is over, and it claims its run again.
func TestARunOfThisChatIsFollowedOnWhenItsTimeIsOver(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a, deps := talk(w), w.Deps("talk", false)
		deps.Engine, deps.Remote = a, a
		r := a.Put(harness.Run{
			ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &deps.Holder,
			Partial: &harness.Partial{Attempt: 1, Text: "Half of "},
		})
		d := w.Start(deps, 100, 24).Wait(3 * time.Second)
		r.Set(func(r *harness.Run) { r.Worker, r.Interrupted = nil, true })
		d.Wait(3*time.Second).Hides("an answer was interrupted", "retry")
	})
}

func TestARunWhoseWorkerDiedWaitsForAnother(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &worker})
		d := elsewhere(w, a, "talk", 100).Wait(time.Second)
		r.Set(func(r *harness.Run) { r.Worker, r.Interrupted = nil, true })
		d.Wait(4*time.Second).Shows("esc esc stop").Hides("interrupted", "driven by")
	})
}

func TestARunThatAWorkerTookLateWaitsForNone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Waits: "no worker has taken it"})
		d := elsewhere(w, a, "talk", 100).Wait(time.Second)
		r.Tell(harness.Event{Type: harness.EventUnclaimed, Text: "no worker has taken it"})
		d.Wait(100 * time.Millisecond).Shows("waiting for a worker")
		r.Set(func(r *harness.Run) { r.Worker, r.Waits = &worker, "" })
		d.Wait(3*time.Second).Shows("driven by worker pid 12 on box").Hides("waiting for a worker", "no worker")
	})
}

func TestWhatWaitsElsewhereIsDecidedInTheChat(t *testing.T) {
	for name, c := range map[string]struct {
		pending harness.Pending
		shows   string
		keys    []string
		did     string
	}{
		"approval":  {harness.Pending{Call: harness.ToolCall{ID: "c1", Name: "shell"}, Digest: "d", Proposal: &harness.Proposal{Kind: harness.ProposalCommand, Body: goTest}}, "approval needed", []string{"y"}, "approve c1 of r1"},
		"uncertain": {harness.Pending{Call: harness.ToolCall{ID: "c1", Name: "deploy", Input: []byte(`{}`)}, Digest: "d", Uncertain: true}, "deploy", []string{"r"}, "retry c1 of r1"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				a := talk(w)
				r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &worker})
				d := elsewhere(w, a, "talk", 100).Wait(time.Second)
				r.Tell(harness.Event{Type: harness.EventApproval, Pending: &c.pending, Call: &c.pending.Call}, ended(2, harness.RunAwaiting, c.pending))
				d.Wait(2 * time.Second).Shows(c.shows)
				for _, k := range c.keys {
					d.Press(k).Wait(time.Second)
				}
				if !slices.Contains(a.Did(), c.did) {
					t.Fatalf("did %q:\n%s", a.Did(), d.Screen())
				}
			})
		})
	}
}

func TestARunThatWasDecidedElsewhereIsFollowedOn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		p := harness.Pending{Call: harness.ToolCall{ID: "c1", Name: "shell"}, Digest: "d", Proposal: &harness.Proposal{Kind: harness.ProposalCommand, Body: goTest}}
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunAwaiting, Cursor: 3, Pending: []harness.Pending{p}})
		d := elsewhere(w, a, "talk", 100).Wait(time.Second).Shows("approval needed")
		r.Set(func(r *harness.Run) { r.Status, r.Pending, r.Cursor, r.Worker = harness.RunRunning, nil, 4, &worker })
		d.Wait(5 * time.Second).Shows("driven by worker pid 12 on box").Hides("approval needed")
	})
}

func TestAnEngineThatCannotBeReachedIsSaidAndTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning})
		r.Keep(*said("The tests pass."))
		a.Break(errors.New("connection refused"))
		d := elsewhere(w, a, "talk", 140).Wait(time.Second)
		d.Shows(faraway+" cannot be reached: connection refused", "r tries again").Hides("c continue", "d drop")
		d.Type("and now?").Press("enter").Wait(time.Second).Shows("cannot be reached", "and now?")
		d.Press("ctrl+u").Type("r").Wait(time.Second).Shows("r tries again")
		a.Break(nil)
		r.Set(func(r *harness.Run) { r.Status = harness.RunCompleted })
		d.Type("r").Wait(time.Second).Shows("The tests pass.", "1 step of a run on "+faraway+" was fetched").Hides("cannot be reached")
	})
}

func TestAMessageIsKeptWhileItsEngineCannotBeReached(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := w.Away(faraway)
		d := elsewhere(w, a, "talk", 140)
		d.Type("run the tests").Press("enter").Wait(time.Second)
		r := a.Run("away1")
		a.Break(errors.New("connection refused"))
		r.Set(func(r *harness.Run) { r.Interrupted = true })
		why := harness.RunError{Kind: "engine", Text: "the message is stored, but " + faraway + " could not be given the run: connection refused; resume it to try again"}
		r.Tell(harness.Event{Type: harness.EventResult, Seq: 1, Outcome: &harness.Result{Status: harness.RunFailed, Error: &why}})
		r.Set(func(r *harness.Run) { r.Status = harness.RunRunning })
		d.Wait(time.Second).Shows("run the tests", "The message is stored, but "+faraway, "r tries again")
		a.Break(nil)
		d.Type("r").Wait(time.Second)
		r.Tell(harness.Event{Type: harness.EventMessage, Seq: 2, Record: 2, Message: said("They pass.")}, ended(3, harness.RunCompleted))
		d.Wait(time.Second).Shows("They pass.").Hides("tries again")
		if !slices.Contains(a.Did(), "resume continue away1") {
			t.Errorf("did %q", a.Did())
		}
	})
}

func TestARunWhoseSessionIsLostWhileItIsFollowedIsShownByTheOtherWindow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		r := a.Put(harness.Run{ID: "r1", Session: "talk", Status: harness.RunRunning, Worker: &worker})
		d := elsewhere(w, a, "talk", 120).Wait(time.Second)
		lost := harness.RunError{Kind: "lost", Text: harness.ErrLost.Error()}
		r.Tell(harness.Event{Type: harness.EventResult, Seq: 2, Outcome: &harness.Result{Status: harness.RunFailed, Error: &lost}})
		d.Wait(time.Second).Shows("Another window took this session over and shows the run now").Hides("failed")
	})
}

func TestTheListOfSessionsTellsHowRunsStandElsewhere(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := talk(w)
		w.Model.Then(uitest.Sleeps(time.Hour))
		w.Open("talk", 80, 24).Type("go on").Press("enter").Wait(time.Second).Stop()
		w.Crash()
		open, err := w.Engine.List(t.Context(), harness.RunFilter{Unfinished: true})
		if err != nil || len(open) != 1 {
			t.Fatalf("%d runs, %v", len(open), err)
		}
		d := elsewhere(w, a, "other", 120).Wait(time.Second)
		d.Press("ctrl+s").Wait(time.Second).Shows("interrupted")
		r := a.Put(harness.Run{ID: open[0].ID, Session: "talk", Status: harness.RunRunning, Worker: &worker})
		d.Press("esc").Press("ctrl+s").Wait(time.Second).Shows("driven by pid 12").Hides("interrupted")
		r.Set(func(r *harness.Run) { r.Worker, r.Waits = nil, "no worker has taken it" })
		d.Press("esc").Press("ctrl+s").Wait(time.Second).Shows("waits for a worker")
	})
}

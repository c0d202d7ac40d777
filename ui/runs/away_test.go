package runs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest/stored"
)

const faraway = "postgres://db:5432/runs"

// spread is a world whose runs are kept elsewhere, one in each state.
func spread() *world {
	w := sample()
	for i := range w.runs {
		w.runs[i].Engine = "bbolt"
	}
	away := func(i int, r harness.Run) {
		w.runs[i].Engine = faraway
		w.runs[i].Status, w.runs[i].Interrupted, w.runs[i].Pending, w.runs[i].Partial, w.runs[i].Error = r.Status, r.Interrupted, r.Pending, nil, nil
		w.runs[i].Worker, w.runs[i].Waits, w.runs[i].Unfetched, w.runs[i].Unreachable = r.Worker, r.Waits, r.Unfetched, r.Unreachable
	}
	away(1, harness.Run{Status: harness.RunRunning, Worker: &harness.Holder{PID: 12, Host: "box", Purpose: "worker"}})
	away(3, harness.Run{Status: harness.RunRunning, Waits: "no worker has taken it"})
	away(5, harness.Run{Status: harness.RunRunning, Unreachable: "connection refused"})
	away(6, harness.Run{Status: harness.RunCompleted, Unfetched: 4})
	w.tails = map[harness.RunID]chan harness.Event{"r2": make(chan harness.Event, 16), "r7": make(chan harness.Event, 16)}
	asked, said := harness.UserText("Which quarter?"), harness.AssistantText("Let me look.")
	said.Parts = append(said.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c9", Name: "grep", Input: []byte(`{"pattern":"Q3"}`)}})
	w.tails["r2"] <- harness.Event{Type: harness.EventRunStarted, Seq: 1, Message: &asked}
	w.tails["r2"] <- harness.Event{Type: harness.EventMessage, Seq: 2, Message: &said}
	w.tails["r2"] <- harness.Event{Type: harness.EventText, Attempt: 2, Text: "It is the "}
	return w
}

func TestGoldenScreensOfRunsElsewhere(t *testing.T) {
	for _, size := range stored.Sizes() {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			in(t, func(t *testing.T) {
				s := open(t, spread(), size[0], size[1]).keys("down").wait(100 * time.Millisecond)
				s.golden("away").keys("v").golden("away-run")
			})
		})
	}
}

func TestARunElsewhereIsFollowedLive(t *testing.T) {
	in(t, func(t *testing.T) {
		w := spread()
		s := open(t, w, 120, 40).keys("down").wait(100 * time.Millisecond)
		s.shows("driven by pid 12", "waits for a worker", "unreachable", "finished, not fetched", "postgres", "bbolt")
		s.shows("on "+faraway, "driven by worker", "pid 12 on box", "Let me look.", "grep", "no result yet", "STREAMING", "It is the")
		w.tails["r2"] <- harness.Event{Type: harness.EventText, Attempt: 2, Offset: 10, Text: "third."}
		s.wait(100 * time.Millisecond).shows("It is the third.")
		w.tails["r2"] <- harness.Event{Type: harness.EventToolResult, Seq: 3, Message: &harness.Message{
			Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c9", Text: "3"}}},
		}}
		s.wait(100*time.Millisecond).hides("no result yet", "STREAMING")
		w.mu.Lock()
		w.runs[1].Status, w.runs[1].Worker, w.runs[1].Cursor = harness.RunPaused, nil, 7
		w.mu.Unlock()
		w.tails["r2"] <- harness.Event{Type: harness.EventResult, Seq: 7}
		s.wait(3 * time.Second).shows("> paused") // nothing in the store changed
		w.mu.Lock()
		w.runs[1].Status, w.runs[1].Cursor = harness.RunRunning, 8
		w.mu.Unlock()
		w.tails["r2"] <- harness.Event{Type: harness.EventText, Attempt: 3, Text: "It goes on."}
		s.wait(3*time.Second).shows("STREAMING", "It goes on.")
	})
}

func TestRunsAreGoneOnWithPausedAndStoppedFromTheList(t *testing.T) {
	in(t, func(t *testing.T) {
		w := spread()
		s := open(t, w, 120, 40).keys("down").keys("r").shows("It goes on already").keys("p").shows("Paused.")
		if !slices.Equal(w.paused, []harness.RunID{"r2"}) {
			t.Fatalf("paused %v", w.paused)
		}
		s.keys("p").shows("It rests already").keys("t").shows("Asked again")
		if !slices.Equal(w.resumed, []harness.ResumeHow{harness.ResumeRetry}) {
			t.Fatalf("resumed %v", w.resumed)
		}
		s.keys("down", "down", "r").shows("The run goes on.")
		s.keys("down", "down", "d").shows("cairn runs drop --force")
		s.keys("P").shows("P again removes").keys("up", "P").shows("P again removes").keys("P").shows("Removed 3 runs.")
	})
}

func TestAnUncertainCallIsResolvedFromTheListOnceItWasRead(t *testing.T) {
	for key, how := range map[string]harness.DecisionHow{"a": harness.DecideRetry, "e": harness.DecideAbort} {
		in(t, func(t *testing.T) {
			w := spread()
			s := open(t, w, 120, 40).keys("down", "down").wait(time.Second).keys(key).shows("Approve or refuse", "deploy")
			if len(w.decided) > 0 {
				t.Fatal("it was decided before it was shown")
			}
			s.keys(key).wait(time.Second).keys(key)
			if len(w.decided) != 1 || w.decided[0].How != how || w.decided[0].Call != "c4" {
				t.Fatalf("decided %+v", w.decided)
			}
		})
	}
}

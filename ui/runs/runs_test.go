package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/uitest/stored"
)

func TestGoldenScreens(t *testing.T) {
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			in(t, func(t *testing.T) {
				s := open(t, sample(), w, h)
				s.golden("list")
				s.keys("v").golden("run")
				s.keys("esc", "y").wait(time.Second).golden("decide")
				s.keys("tab").wait(time.Second).golden("decide-edit")
				s.keys("esc", "down", "down", "down", "d").golden("drop")
				none := sample()
				none.runs = nil
				open(t, none, w, h).golden("empty")
			})
		})
	}
}

func TestUnfinishedRunsComeFirstWithTheirStateInWords(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		w.runs = append([]harness.Run{{ID: "new", Session: "s-r7", Status: harness.RunCompleted}}, w.runs...)
		s := open(t, w, 120, 40)
		s.shows("waits for approval", "waits for an answer", "uncertain", "interrupted", "running in pid 4411", "failed", "done", "dropped")
		s.shows("6 unfinished", "3 recent", "UNFINISHED", "RECENT")
		v := s.view()
		if strings.Index(v, "dropped") < strings.Index(v, "failed") || strings.Index(v, "RECENT") < strings.Index(v, "No key") {
			t.Errorf("the order is not unfinished first:\n%s", v)
		}
		gone := sample()
		delete(gone.sessions, "s-r1")
		open(t, gone, 120, 40).hides("Q3 invoice importer").shows("5 unfinished")
	})
}

func TestAStateNeverTouchesTheTitle(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		for id, held := range w.sessions {
			if held.Owner != nil {
				held.Owner = &harness.Holder{PID: 31842, Terminal: "pts/3", Purpose: "chat"}
				w.sessions[id] = held
			}
		}
		open(t, w, 40, 10).shows("in pid 31842 Running")
		open(t, w, 80, 24).shows("running in pid 31842   Running")
	})
}

func TestConsentIsGivenOnlyForWhatWasShownAndAwake(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24)
		s.keys("y").shows("Approve or refuse", "go test ./importer/... -run TestBlankVAT", "1 of 2", "in ~/src/ledger")
		s.keys("y", "y").shows("wake up")
		if len(w.decided) > 0 {
			t.Fatalf("a key that slept decided %+v", w.decided)
		}
		s.wait(400 * time.Millisecond).keys("y").wait(400 * time.Millisecond).keys("y") // each puts it to sleep anew
		if len(w.decided) > 0 {
			t.Fatalf("typing decided %+v", w.decided)
		}
		s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y"), Paste: true}).wait(time.Second)
		if len(w.decided) > 0 {
			t.Fatal("a paste decided")
		}
		s.keys("y").shows("Approved once", "running here")
		want := harness.Decision{Call: "c1", Digest: "digest of c1", How: harness.DecideApprove, Scope: harness.ScopeOnce, By: "user at pts/1 (runs)"}
		if len(w.decided) != 1 || w.decided[0] != want {
			t.Fatalf("decided %+v, not %+v", w.decided, want)
		}
		if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r1"}, harness.Holder{PID: 9}); err == nil {
			t.Fatal("the session was given back while its run goes on")
		}
		w.end("r1", harness.RunCompleted)
		s.settle().shows("The run is done")
		if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r1"}, harness.Holder{PID: 9}); err != nil {
			t.Fatalf("the session was not given back: %v", err)
		}
	})
}

func TestNothingIsApprovedBeforeItsEndWasOnTheScreen(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		hidden := strings.Repeat("echo harmless;\r\n", 60) + "touch P\x1b[2J\u202e\n"
		w.runs[0].Pending = []harness.Pending{command("c1", hidden)}
		s := open(t, w, 60, 20)
		s.keys("y").wait(time.Second).keys("y").shows("Read it to its end first", "below", "␍␊").hides("touch P")
		if len(w.decided) > 0 {
			t.Fatal("consent to what was not seen")
		}
		for range 10 {
			s.keys("pgdown")
		}
		s.shows("touch P␛[2J⟨U+202E⟩", "the end").keys("y").shows("Approved once")
		if len(w.decided) != 1 {
			t.Fatalf("decided %+v", w.decided)
		}
	})
}

func TestAChangedProposalIsShownAnewAndSleeps(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24)
		s.keys("y").wait(time.Second)
		p := command("c1", "rm -rf /")
		p.Digest, p.Changed = "another", true
		w.runs[0].Pending, w.runs[0].Cursor = []harness.Pending{p}, 9
		s.send(Changed{}).shows("rm -rf /", "it changed after it was approved, so nothing was done").keys("y").shows("wake up")
		if len(w.decided) > 0 {
			t.Fatal("consent to what came under the key")
		}
		w.runs[0].Pending, w.runs[0].Cursor = nil, 10
		s.send(Changed{}).wait(time.Second).shows("does not wait any more").keys("y")
		if len(w.decided) > 0 {
			t.Fatal("consent to what was decided elsewhere")
		}
	})
}

func TestARefusalGoesTheSameWay(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24).keys("n").wait(time.Second).keys("tab").wait(time.Second).shows("write_file wants to change importer/row.go (+1 -1)").keys("n")
		s.shows("Refused")
		if len(w.decided) != 1 || w.decided[0].How != harness.DecideDecline || w.decided[0].Call != "c2" || w.decided[0].Digest != "digest of c2" {
			t.Fatalf("decided %+v", w.decided)
		}
		w.end("r1", harness.RunAwaiting)
		s.settle().shows("waits for another decision")
	})
}

func TestWhatIsNotDecidedHereIsSaidAndOpens(t *testing.T) {
	in(t, func(t *testing.T) {
		for _, c := range []struct {
			down int
			key  string
			want string
		}{
			{1, "y", "it is a question: enter"},
			{2, "n", "Its outcome is unknown: enter"},
			{3, "y", "Nothing waits for a decision"},
			{4, "d", "It is open in pid 4411 on pts/3"},
			{6, "d", "It has ended"},
			{6, "r", "It has ended"},
		} {
			s := open(t, sample(), 120, 24)
			for range c.down {
				s.keys("down")
			}
			s.wait(time.Second).keys(c.key)
			if !strings.Contains(strings.ToLower(s.view()), strings.ToLower(c.want)) {
				t.Errorf("%s on row %d does not say %q:\n%s", c.key, c.down, c.want, s.view())
			}
		}
		for _, key := range []string{"enter", "r"} {
			s := open(t, sample(), 80, 24).keys("down", key)
			if !slices.Contains(s.intents, Intent(Open{"s-r2"})) {
				t.Errorf("%s wants %v", key, s.intents)
			}
		}
		s := open(t, sample(), 80, 24).keys("esc")
		if !slices.Contains(s.intents, Intent(Back{})) {
			t.Errorf("esc wants %v", s.intents)
		}
	})
}

func TestASessionThatIsHeldMeanwhileIsNamedOrOpened(t *testing.T) {
	for _, c := range []struct {
		holder harness.Holder
		want   Intent
	}{{harness.Holder{PID: 4411, Terminal: "pts/3", Purpose: "chat"}, nil}, {harness.Holder{PID: self.PID, Purpose: "chat"}, Open{"s-r1"}}} {
		in(t, func(t *testing.T) {
			w := sample()
			s := open(t, w, 120, 24).keys("y").wait(time.Second)
			if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r1"}, c.holder); err != nil {
				t.Fatal(err)
			}
			s.keys("y")
			if len(w.decided) > 0 {
				t.Fatal("it was decided without the session")
			}
			if c.want == nil {
				s.shows("open in pid 4411 on pts/3 (chat): decide there")
			} else if !slices.Contains(s.intents, c.want) {
				t.Errorf("wants %v, not %v", s.intents, c.want)
			}
		})
	}
}

func TestAnErrorGivesTheSessionBack(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		w.refuse = harness.ErrStale
		open(t, w, 80, 24).keys("y").wait(time.Second).keys("y").shows("the run moved on")
		if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r1"}, harness.Holder{PID: 9}); err != nil {
			t.Fatalf("the session is held: %v", err)
		}
	})
}

func TestAnotherWindowGetsTheSessionOfARunThatGoesOnHere(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24).keys("y").wait(time.Second).keys("y").keys("esc")
		s.send(Changed{})
		if len(w.paused) > 0 {
			t.Fatal("paused for nobody")
		}
		if err := w.owners.Ask(t.Context(), "s-r1", harness.Holder{PID: 9}); err != nil {
			t.Fatal(err)
		}
		s.send(Changed{}).send(Changed{})
		if !slices.Equal(w.paused, []harness.RunID{"r1"}) {
			t.Fatalf("paused %v", w.paused)
		}
		if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r1"}, harness.Holder{PID: 9}); err != nil {
			t.Fatalf("the session is held: %v", err)
		}
	})
}

func TestHowARunCameToRestIsSaidWhereThePersonIs(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24).keys("y").wait(time.Second).keys("y", "esc")
		w.end("r1", harness.RunAwaiting)
		s.settle()
		if !slices.Contains(s.intents, Intent(Say{"Session s-r1: The run waits for another decision."})) {
			t.Errorf("wants %v", s.intents)
		}
	})
}

func TestTheProgramsEndPausesTheRunAndGivesTheSessionBack(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		var cancel context.CancelFunc
		w.ctx, cancel = context.WithCancel(t.Context())
		s := open(t, w, 80, 24)
		s.keys("y").wait(time.Second).keys("y")
		cancel()
		s.settle()
		if !slices.Equal(w.paused, []harness.RunID{"r1"}) {
			t.Errorf("paused %v", w.paused)
		}
		if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r1"}, harness.Holder{PID: 9}); err != nil {
			t.Errorf("the session is held: %v", err)
		}
	})
}

func TestDroppingTakesTwoKeysInARow(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24).keys("down", "down", "down", "d").shows("d again drops it", "drop it now")
		s.keys("up", "down", "d")
		if len(w.resumed) > 0 {
			t.Fatal("dropped after another key")
		}
		s.keys("d").shows("Dropped.", "dropped")
		if !slices.Equal(w.resumed, []harness.ResumeHow{harness.ResumeDrop}) {
			t.Fatalf("resumed %v", w.resumed)
		}
		if _, err := w.owners.Acquire(t.Context(), harness.Session{ID: "s-r4"}, harness.Holder{PID: 9}); err != nil {
			t.Fatalf("the session is held: %v", err)
		}
	})
}

func TestAChangeOfTheStoreReadsOnlyWhatMovedOn(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24)
		before := w.gets
		s.send(Changed{}).send(Changed{})
		if w.gets != before {
			t.Errorf("%d runs were read again though none moved on", w.gets-before)
		}
		w.runs[3].Status, w.runs[3].Interrupted, w.runs[3].Cursor = harness.RunPaused, false, 5
		s.send(Changed{}).shows("paused")
		if w.gets != before+1 {
			t.Errorf("%d runs were read", w.gets-before)
		}
		s.keys("esc")
		w.fail = errors.New("not to be read behind another screen")
		s.send(Changed{})
		if w.fail == nil {
			t.Error("the list was read behind another screen")
		}
	})
}

func TestAFailedReadingIsSaidAndTriedAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		w.fail = errors.New("the disk is on fire")
		runs := w.runs
		w.runs = nil
		s := open(t, w, 80, 24).shows("the disk is on fire", "Enter tries again")
		w.runs = runs
		s.keys("enter").shows("Q3 invoice importer").hides("on fire")
	})
}

func TestTheSelectionIsKeptById(t *testing.T) {
	in(t, func(t *testing.T) {
		w := sample()
		s := open(t, w, 80, 24).keys("down")
		w.sessions["s-new"] = harness.Session{ID: "s-new", Title: "Brand new"}
		w.runs = append([]harness.Run{{ID: "r0", Session: "s-new", Status: harness.RunPaused}}, w.runs...)
		s.send(Changed{}).shows("Brand new", "> waits for an answer").keys("enter")
		if !slices.Contains(s.intents, Intent(Open{"s-r2"})) {
			t.Errorf("wants %v", s.intents)
		}
	})
}

func TestEverySizeHoldsHostileText(t *testing.T) {
	in(t, func(t *testing.T) {
		const bad = "a\x1b[2J\u202eb\n\u009bc界👩‍👩‍👧\x1b]0;t\x07\r"
		w := sample()
		for i := range w.runs {
			w.runs[i].Config.Model, w.runs[i].Dir = bad, bad
			w.runs[i].Error = &harness.RunError{Text: bad}
			w.runs[i].Partial = &harness.Partial{Text: bad}
			for j := range w.runs[i].Pending {
				p := &w.runs[i].Pending[j]
				p.Call.Name, p.Reason, p.Rule = bad, bad, bad
				if p.Proposal != nil {
					q := p.Proposal
					q.Subject, q.Body, q.Why, q.About, q.Choices = bad, strings.Repeat(bad, 30), bad, []string{bad}, []string{bad}
					if q.Diff != "" {
						q.Diff = "+" + bad + "\n-" + bad
					}
				}
			}
		}
		for id, s := range w.sessions {
			s.Title = bad
			w.sessions[id] = s
		}
		s := open(t, w, 80, 24)
		for _, keys := range []string{"", "v", "esc", "y", "tab", "esc", "down", "v", "esc"} {
			if keys != "" {
				s.keys(keys)
			}
			for _, size := range [][2]int{{1, 1}, {2, 2}, {3, 9}, {10, 3}, {200, 1}, {1, 60}, {19, 6}, {40, 10}, {80, 19}, {109, 20}, {110, 8}, {200, 60}} {
				s.width, s.height = size[0], size[1]
				s.view()
				s.send(tea.WindowSizeMsg{Width: s.width, Height: s.height}).view()
			}
		}
	})
}

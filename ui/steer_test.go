package ui_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestWhatIsSaidIntoATurnIsHeardBeforeWhatIsQueued(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(d *uitest.Driver)
		want []string
	}{
		{"by a key", func(d *uitest.Driver) { d.Type("no, the other").Press("ctrl+x", "enter") }, []string{"go", "no, the other", "later"}},
		{"by a command", func(d *uitest.Driver) { d.Type("/steer no, the other").Press("enter") }, []string{"go", "no, the other", "later"}},
		{"from the queue", func(d *uitest.Driver) { d.Press("ctrl+x", "enter") }, []string{"go", "later"}},
		{"from the list of the queue", func(d *uitest.Driver) {
			d.Type("last").Press("enter").Type("mine").Press("alt+up").Press("s").Shows("the queue").Press("esc").Press("ctrl+u")
		}, []string{"go", "last", "later"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				d := w.Open("talk", 80, 24)
				queued(w, d, "later")
				c.do(d)
				d.Wait(2*time.Second).Shows("writing", "steering: "+c.want[1]).Hides("interrupted")
				d.Wait(time.Minute).Hides("steering", "queued", "interrupted").Shows(c.want[1])
				if got := asked(w); !slices.Equal(got, c.want) {
					t.Errorf("sent were %q", got)
				}
			})
		})
	}
}

func TestWhatIsSaidIntoATurnThatIsStoppedStaysWhereItWasSaid(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		queued(w, d, "later")
		d.Type("/steer no").Press("enter").Wait(time.Second).Press("ctrl+c").Wait(2*time.Second).Shows("you ·", "no", "stopped", `queued 1: "later"`).Hides("steering")
		d.Press("enter").Wait(time.Minute)
		if got := asked(w); !slices.Equal(got, []string{"go", "no\n\nlater"}) {
			t.Errorf("sent were %q", got)
		}
	})
}

// unsure is an engine that has what is said into its runs, and fails to say so: before
// or after its events tell of it.
type unsure struct {
	harness.Engine
	late time.Duration
}

func (u unsure) Steer(ctx context.Context, id harness.RunID, s harness.Steer) error {
	steer := u.Engine.(harness.Steerer).Steer
	lost := errors.New("the connection was lost")
	if u.late < 0 {
		if err := steer(ctx, id, s); err != nil {
			return err
		}
		time.Sleep(-u.late)
		return lost
	}
	go func() {
		time.Sleep(u.late)
		_ = steer(context.WithoutCancel(ctx), id, s)
	}()
	return lost
}

func TestWhatIsSaidAndNotAnsweredForIsHeardOnce(t *testing.T) {
	for _, late := range []time.Duration{time.Second, -time.Second} {
		in(t, func(t *testing.T, w *uitest.World) {
			deps := w.Deps("talk", true)
			deps.Engine = unsure{deps.Engine, late}
			d := w.Start(deps, 80, 24)
			queued(w, d, "later")
			d.Type("/steer no, the other").Press("enter").Wait(500 * time.Millisecond)
			if late > 0 {
				d.Shows("not said into the turn, but queued", `queued 1: "no, the other"`)
			}
			d.Wait(2*time.Second).Shows("steering: no, the other", `queued 1: "later"`).Hides(`queued 2`)
			d.Wait(time.Minute)
			if got := asked(w); !slices.Equal(got, []string{"go", "no, the other", "later"}) {
				t.Errorf("sent were %q", got)
			}
		})
	}
}

func TestWhatIsSaidBeforeARunHasAnIdReachesIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 50), " ")...))
		d.Type("go").Press("enter").Type("/steer one").Press("enter").Type("two").Press("ctrl+x", "enter")
		d.Wait(time.Minute)
		if got := asked(w); !slices.Equal(got, []string{"go", "one\n\ntwo"}) {
			t.Errorf("sent were %q", got)
		}
	})
}

func TestWhatIsToBeHeededNowIsNeverLost(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("a draft").Press("ctrl+x", "enter").Shows("> a draft", "nothing is running")
		d.Press("ctrl+u").Type("/steer").Press("enter").Shows("write after it")
		queued(w, d)
		d.Type("/copy 2").Press("ctrl+x", "enter").Shows("> /copy 2", "/copy is for enter").Press("ctrl+u")
		other := w.Open("talk", 80, 24)
		other.Type("/steer mine").Press("enter").Shows("> /steer mine", "read-only")
	})
}

func TestWordsAreSoughtInAllChats(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("old", "About boats", time.Now(), "which keel?", "a long keel")
		d := w.Open("talk", 80, 24)
		d.Type("/search keel").Press("enter").Wait(time.Second).Shows("Sessions", "search: keel", "a long keel")
		d.Press("esc").Type("/search").Press("enter").Shows("search: title, #tag")
	})
}

func TestRenameAloneProposesATitle(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "About boats", time.Now(), "which keel?", "a long keel")
		d := w.Open("talk", 80, 24)
		d.Type("/rename").Press("enter").Shows("> /rename About boats").Type(" and keels").Press("enter").Shows("renamed to About boats and keels")
	})
}

func TestTheEditorIsOpenedByACommandWithWhatIsWritten(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("a draft").Press("ctrl+p").Type("editor").Press("enter").Wait(time.Second).Shows("> a draft")
	})
}

func TestATurnThatCannotBeToldIsStoppedForWhatIsSaid(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := w.Away(faraway)
		d := elsewhere(w, a, "talk", 100)
		d.Type("go").Press("enter").Wait(time.Second)
		d.Type("/steer the other").Press("enter").Wait(time.Second).Shows("cannot be told anything meanwhile", `queued 1: "the other"`).Hides("steering")
		if !slices.Contains(a.Did(), "cancel away1") {
			t.Errorf("did %q", a.Did())
		}
		a.Run("away1").Tell(ended(2, harness.RunCancelled))
		d.Wait(time.Second).Hides("queued")
		if !slices.Contains(a.Did(), "start away2") {
			t.Errorf("did %q", a.Did())
		}
	})
}

func TestWhatOthersSayIntoATurnIsShownSafely(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		a := w.Away(faraway)
		d := elsewhere(w, a, "talk", 100)
		d.Type("go").Press("enter").Wait(time.Second)
		m := harness.UserText("not\x1b[2J that\nbut this")
		r := a.Run("away1")
		r.Tell(harness.Event{Type: harness.EventSteered, Seq: 2, Steer: "1", Message: &m})
		d.Wait(time.Second).Shows("steering: not␛[2J that")
		r.Tell(harness.Event{Type: harness.EventMessage, Seq: 3, Record: 2, Steer: "1", Message: &m})
		d.Wait(time.Second).Hides("steering").Shows("not␛[2J that", "but this")
	})
}

func TestWhatWaitsInARunThatACrashLeftIsShownAndHeard(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		queued(w, d)
		d.Type("/steer the other").Press("enter").Wait(time.Second).Shows("steering: the other")
		w.Crash()
		w.Model.Then(uitest.Says("the rest"))
		d = w.Open("talk", 80, 24).Wait(time.Second).Shows("interrupted", "steering: the other")
		d.Press("c").Wait(time.Minute).Hides("steering").Shows("the rest", "the other")
		if got := asked(w); got[len(got)-1] != "the other" {
			t.Errorf("sent were %q", got)
		}
	})
}

func TestWhatIsSaidWhileADecisionWaitsIsHeardOnceItIsMade(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, "x")
		d := wanted(w, 80, 24).Shows("approval needed").Press("esc")
		d.Type("/steer gently").Press("enter").Wait(time.Second).Shows("steering: gently", "told it once this is decided")
		d.Type("/approve").Press("enter").Wait(2*time.Second).Shows("approval needed").Press("y").Wait(10*time.Second).Shows("gently", "All done.").Hides("steering")
		if got := asked(w); got[len(got)-1] != "gently" {
			t.Errorf("sent were %q", got)
		}
	})
}

package ui_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlclark/regexp2"

	"cairn/harness"
	"cairn/ui/uitest"
)

// in runs a test in a bubble with an empty world.
func in(t *testing.T, test func(t *testing.T, w *uitest.World)) {
	t.Helper()
	startClock(t)
	synctest.Test(t, func(t *testing.T) { test(t, uitest.NewWorld(t)) })
}

// clocked is done once the clock of regular expressions runs.
var clocked sync.Once

// startClock has the clock that bounds the regular expressions of coloured code run
// outside of all bubbles. There is one for the program: begun in a bubble it runs on
// the bubble's time, which leaps, and code in others is then told to have taken too
// long and is drawn without colours.
func startClock(t *testing.T) {
	t.Helper()
	clocked.Do(func() {
		re := regexp2.MustCompile("x", regexp2.None)
		re.MatchTimeout = time.Hour // for longer than tests run
		if _, err := re.MatchString("x"); err != nil {
			t.Fatal(err)
		}
	})
}

// asked are the last texts of the person in each request to the model.
func asked(w *uitest.World) []string {
	var out []string
	for _, r := range w.Model.Asked() {
		for i := len(r.Messages) - 1; i >= 0; i-- {
			if r.Messages[i].Role == harness.RoleUser {
				out = append(out, r.Messages[i].Text())
				break
			}
		}
	}
	return out
}

func TestTypeSendAndSeeTheAnswerStream(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Shows("New chat", "parrot")
		d.Type("hello there").Shows("> hello there")
		d.Press("enter").Shows("you ·", "hello there", "waiting… 0s")
		d.Wait(uitest.Pause).Shows("cairn · writing", "ec")
		d.Wait(time.Second).Shows("echo hello there", "saved 00:00:00").Hides("writing")
	})
}

func TestAMessageSentWhileRunningIsQueuedAndSentAfter(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("one").Press("enter").Wait(uitest.Pause)
		d.Type("two").Press("enter").Type("three").Press("enter")
		d.Shows(`queued 2: "three"`)
		d.Press("alt+up").Shows("> three", `queued 1: "two"`)
		d.Press("ctrl+u").Wait(5*time.Second).Shows("echo one", "echo two").Hides("queued", "echo three")
		if got := asked(w); len(got) != 2 || got[1] != "two" {
			t.Errorf("the model was asked %q", got)
		}
	})
}

func TestEscTwiceStopsAndOnceDoesNot(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.Split(strings.Repeat("word ", 300), " ")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(5 * time.Second)
		d.Press("esc").Shows("esc again stops").Wait(3*time.Second).Shows("writing", "esc esc stop")
		d.Press("esc").Wait(3 * time.Second).Press("esc").Shows("writing") // too late to be the second
		d.Press("esc").Wait(uitest.Pause).Shows("stopped", "interrupted", "wordword").Hides("writing")
		d.Type("next").Press("enter").Wait(time.Second).Shows("echo next")
	})
}

func TestCtrlCStopsThenClearsThenQuits(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.Split(strings.Repeat("word ", 300), " ")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(time.Second).Type("draft")
		d.Press("ctrl+c").Wait(uitest.Pause).Shows("stopped", "> draft")
		d.Press("ctrl+c").Hides("> draft").Shows("cleared")
		d.Press("ctrl+_").Shows("> draft").Press("ctrl+c")
		d.Press("ctrl+c").Shows("ctrl+c again quits").Wait(3 * time.Second)
		d.Press("ctrl+c")
		if d.Quit() {
			t.Fatal("a ctrl+c three seconds after the other quits")
		}
		d.Press("ctrl+c")
		if !d.Quit() {
			t.Fatal("two ctrl+c on an empty box do not quit")
		}
		if e := exit(d); !e.Saved || e.Session != "talk" || e.Unsaved != nil {
			t.Errorf("exit is %+v", e)
		}
	})
}

func TestAFailedAnswerSaysWhyAndIsRetried(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Fails("half of it", "the server is on fire"))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(time.Second)
		d.Shows("you ·", "half of it", "interrupted", "fire", "c continue", "r retry", "d drop")
		d.Type("can").Wait(time.Second).Shows("> can").Press("ctrl+u")
		d.Press("r").Wait(2 * time.Second).Shows("echo go").Hides("c continue")
	})
}

func TestAnInterruptedRunIsOfferedAfterACrash(t *testing.T) {
	for _, c := range []struct {
		key         string
		shows, hide []string
	}{
		{"c", []string{"half an ", "interrupted", "the rest of it"}, []string{"c continue"}},
		{"r", []string{"the rest of it"}, []string{"c continue", "half an answer"}},
		{"d", []string{"dropped"}, []string{"c continue", "the rest of it", "half an answer"}},
	} {
		t.Run(c.key, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Model.Then(uitest.Says(strings.SplitAfter("half an answer that never "+strings.Repeat("ends ", 30), " ")...))
				d := w.Open("talk", 80, 24)
				d.Type("go").Press("enter").Wait(1500 * time.Millisecond)
				w.Crash()
				d.Stop()

				d = w.Open("talk", 80, 24)
				d.Shows("an answer was interrupted", "c continue", "half an ")
				w.Model.Then(uitest.Says("the rest of it"))
				d.Press(c.key).Wait(time.Second).Shows(c.shows...).Hides(c.hide...)
				d.Type("on").Press("enter").Wait(time.Second).Shows("you ·")
			})
		})
	}
}

func TestTypingAMessageClosesTheInterruptedRun(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter("half an answer that never "+strings.Repeat("ends ", 30), " ")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(1500 * time.Millisecond)
		w.Crash()
		d.Stop()
		d = w.Open("talk", 80, 24)
		d.Type("dont").Shows("> dont", "a message starts a new turn")
		d.Press("enter").Wait(time.Second).Shows("half an answer", "interrupted", "echo dont").Hides("c continue")
	})
}

func TestUnfinishedRunsOfOthersAreOneLine(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("other", 80, 24)
		d.Type("go").Press("enter").Wait(uitest.Pause)
		w.Crash()
		d.Stop()
		d = w.Open("talk", 80, 24)
		d.Shows("1 unfinished run: /runs").Type("/runs").Press("enter").Shows("1 unfinished", "> interrupted")
	})
}

func TestTheInitialPromptIsSentAtOnce(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		deps := w.Deps("talk", true)
		deps.Prompt = "from the shell"
		d := w.Start(deps, 80, 24)
		d.Wait(time.Second).Shows("echo from the shell")
	})
}

func TestNothingHappensWhileIdle(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(5 * time.Second)
		before, view := d.Updates(), d.Screen()
		d.Wait(10 * time.Minute)
		if got := d.Updates() - before; got != 0 {
			t.Errorf("%d messages in ten idle minutes", got)
		}
		if d.Screen() != view {
			t.Error("the screen changed while idle")
		}
	})
}

func TestTheRunLineChangesOnceASecondAtMost(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(20 * time.Second))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(time.Millisecond)
		before := d.Updates()
		d.Wait(10 * time.Second).Shows("waiting… 10s")
		if got := d.Updates() - before; got > 11 {
			t.Errorf("%d messages in ten seconds of waiting", got)
		}
	})
}

func TestASendThatCannotBeStoredGivesTheTextBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		deps := w.Deps("talk", true)
		deps.Engine = uitest.Refusing{Engine: deps.Engine}
		d := w.Start(deps, 80, 24)
		d.Type("precious").Press("enter").Shows("> precious", "disk is full", "not saved").Hides("you ·")
		d.Press("ctrl+u", "ctrl+d")
		if e := exit(d); e.Saved {
			t.Errorf("exit is %+v", e)
		}
	})
}

func TestToolsAndThinkingAreFoldedToALine(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tool("look", "first line\nsecond line\n")
		w.Model.Then(uitest.Calls("look", `{"where":"under the stone"}`), uitest.Thinks("deep thoughts here", "I looked."))
		d := w.Open("talk", 80, 24)
		d.Type("look").Press("enter").Wait(time.Second)
		d.Shows(`▸ tool  look  "under the stone"  2 lines`, "▸ thinking  3 words", "I looked.").Hides("second line", "deep")
		d.Press("ctrl+o").Shows("▾ tool  look", "second line").Press("ctrl+o").Hides("second line")
		d.Press("ctrl+t").Shows("deep thoughts here").Press("ctrl+t").Hides("deep")
	})
}

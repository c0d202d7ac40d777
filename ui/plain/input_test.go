package plain_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

// A script is read line by line, each when the one before is done, so that what
// comes out is the same each time.
func TestAScriptIsDoneInOrder(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := deps(w.Deps("talk", true))
		k := start(t, d)
		if _, err := io.WriteString(k.in, "one\ntwo\n/remember I like tea\n/facts\n1\n\nthree\n/quit\n"); err != nil {
			t.Fatal(err)
		}
		k.wait(10 * time.Second)
		<-k.done
		const want = `cairn, session talk, new chat, model parrot. /help lists the commands.
> one
cairn: echo one

> two
cairn: echo two

> /remember I like tea
- remembered f1
> /facts
- 1 fact
  1   f1: I like tea (general, by you)
`
		if got := k.out.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "- back in the chat\n> three\ncairn: echo three\n\n> /quit\n") {
			t.Errorf("the output is\n%s", got)
		}
	})
}

// What a script says before a question is no consent.
func TestAScriptConsentsToNothingAhead(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`))
		k := a.open(t)
		if _, err := io.WriteString(k.in, "go\n1\n"); err != nil {
			t.Fatal(err)
		}
		k.wait(5 * time.Second).shows("kept as a message, not as an answer (1): 1")
		if err := k.in.Close(); err != nil {
			t.Fatal(err)
		}
		<-k.done
		k.shows("left for later")
		if a.ran.Load() != 0 {
			t.Error("it ran")
		}
	})
}

// breaking is a chat with a ctrl+c.
func breaking(t *testing.T, d plain.Deps) (*talk, chan<- struct{}) {
	t.Helper()
	told := make(chan struct{}, 1)
	d.Interrupts = told
	return start(t, d), told
}

func TestCtrlCStopsTheAnswerAndThenLeaves(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		k, told := breaking(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second)
		told <- struct{}{}
		k.wait(2*time.Second).shows("stopping the answer", "- stopped")
		k.say("next").wait(2 * time.Second).shows("cairn: echo next")
		told <- struct{}{}
		k.wait(time.Second).shows("ctrl+c again leaves; everything is kept")
		k.say("more").wait(2 * time.Second).shows("cairn: echo more")
		told <- struct{}{}
		k.wait(time.Second)
		told <- struct{}{}
		<-k.done
		if !errors.Is(k.err, context.Canceled) || !k.exit.Saved {
			t.Errorf("left with %v, %+v", k.err, k.exit)
		}
	})
}

func TestCtrlCLeavesADecisionForLater(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`))
		k, told := breaking(t, a.deps(t))
		k.say("go").wait(3 * time.Second).shows("May it run?")
		told <- struct{}{}
		k.wait(time.Second).shows("left for later")
		told <- struct{}{}
		<-k.done
		runs, err := a.Engine.List(t.Context(), harness.RunFilter{Unfinished: true})
		if err != nil || len(runs) != 1 || a.ran.Load() != 0 {
			t.Errorf("runs %+v, %v; ran %d", runs, err, a.ran.Load())
		}
	})
}

func TestCtrlCGoesBackFromAList(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		k, told := breaking(t, deps(w.Deps("talk", false)))
		k.say("/sessions")
		told <- struct{}{}
		k.wait(time.Second).shows("back in the chat").say("on").wait(time.Second).shows("cairn: echo on")
	})
}

// Of a long silence it is said that work goes on, and how often is settled.
func TestALongSilenceIsTold(t *testing.T) {
	for _, c := range []struct {
		still time.Duration
		want  int
	}{{0, 3}, {10 * time.Second, 9}, {-1, 0}} {
		t.Run(c.still.String(), func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Model.Then(uitest.Sleeps(95 * time.Second))
				d := deps(w.Deps("talk", true))
				d.Still = c.still
				k := start(t, d).say("go").wait(2 * time.Minute)
				if n := strings.Count(k.out.String(), "still w"); n != c.want {
					t.Errorf("told %d times, not %d:\n%s", n, c.want, k.out)
				}
			})
		})
	}
}

// A person at a terminal who typed before a question came up answers something
// else.
func TestWhatWasTypedBeforeAQuestionIsNoAnswer(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter("half an answer "+strings.Repeat("word ", 100), " ")...))
		start(t, deps(w.Deps("talk", true))).say("go").wait(3 * time.Second)
		w.Crash()
		d := deps(w.Deps("talk", false))
		d.Prompted = true
		k := start(t, d)
		k.say("3").wait(2*time.Second).shows("What is to become of it?", "kept as a message, not as an answer (1): 3")
		k.say("7").wait(2 * time.Second).shows("there is no choice 7: type a number from 1 to 3")
		k.wait(time.Second).say("2").wait(3 * time.Second).shows("cairn: echo go")
	})
}

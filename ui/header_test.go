package ui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// tapped is an engine whose events go through a function of the test.
type tapped struct {
	harness.Engine
	tap func(e harness.Event, send func(harness.Event))
}

func (t tapped) Start(ctx context.Context, r harness.StartRequest) (harness.RunHandle, error) {
	h, err := t.Engine.Start(ctx, r)
	if err != nil {
		return nil, err
	}
	return tappedHandle{h, t}, nil
}

type tappedHandle struct {
	harness.RunHandle
	t tapped
}

func (h tappedHandle) Events(ctx context.Context, after int) <-chan harness.Event {
	out := make(chan harness.Event)
	go func() {
		defer close(out)
		send := func(e harness.Event) {
			select {
			case out <- e:
			case <-ctx.Done():
			}
		}
		for e := range h.RunHandle.Events(ctx, after) {
			h.t.tap(e, send)
		}
	}()
	return out
}

func TestTheModelIsNamedBesideALongTitle(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", strings.Repeat("a title that goes on ", 8), time.Now(), "hello", "hello yourself")
		for _, width := range []int{80, 100, 120, 200} {
			line, _, _ := strings.Cut(w.Open("talk", width, 24).Screen(), "\n")
			if !strings.Contains(line, "a title that") || !strings.Contains(line, "· parrot") || !strings.Contains(line, "saved") {
				t.Errorf("at %d columns the header is %q", width, line)
			}
		}
	})
}

func TestTheRunLineAlwaysSaysHowToStop(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(20 * time.Second))
		deps := w.Deps("talk", true)
		deps.Engine = tapped{deps.Engine, func(e harness.Event, send func(harness.Event)) {
			send(e)
			if e.Type == harness.EventRunStarted {
				why := &harness.RunError{Text: strings.Repeat("a web page came, not an answer; ", 5)}
				send(harness.Event{Type: harness.EventRetry, Wait: 8, Error: why})
			}
		}}
		d := w.Start(deps, 80, 24)
		d.Type("go").Press("enter").Wait(time.Second)
		d.Shows("a web page came", "… 1s · esc esc stop")
		d.Resize(40, 10).Shows("a web page came", "… 1s · esc esc stop")
	})
}

func TestNoFurtherStepIsAnnouncedAfterTheLastAnswer(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tool("look", "nothing")
		w.Model.Then(uitest.Calls("look", `{}`), uitest.Says("done"))
		deps := w.Deps("talk", true)
		deps.Engine = tapped{deps.Engine, func(e harness.Event, send func(harness.Event)) {
			if e.Type == harness.EventResult {
				time.Sleep(time.Second)
			}
			send(e)
		}}
		d := w.Start(deps, 80, 24)
		d.Type("go").Press("enter").Wait(time.Second)
		d.Shows("done", "● saving…", "step 2").Hides("waiting", "step 3")
		d.Wait(time.Second).Hides("● ")
	})
}

func TestALongErrorLeavesRoomForTheKeysOfItsNotice(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Fails("half of it", strings.Repeat("the server is on fire and ", 10)))
		d := w.Open("talk", 40, 10)
		d.Type("go").Press("enter").Wait(time.Second).Shows("the answer failed", "…\nc continue · r retry · d drop")
		d.Resize(24, 10).Shows("c continue · r retry · d\ndrop")
	})
}

func TestTheMenuOfASequenceShowsAllThatFits(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 40, 10)
		d.Press("ctrl+x").Shows("b side panel  c what was condensed").Press("esc")
		d.Resize(56, 10).Press("ctrl+x").Shows("c what was condensed  e write in $EDITOR")
		d.Resize(34, 10).Shows("b side panel")
	})
}

func TestHowToStopIsNotPushedAwayByWhatIsNewBelow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		longTalk(w, 9)
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("line of text\n\n", 60), "\n\n")...))
		d := w.Open("talk", 40, 10)
		d.Type("go").Press("enter").Wait(time.Second).Press("pgup").Wait(3*time.Second).Shows("esc esc stop", " new ↓")
		d.Resize(30, 10).Shows("esc esc stop").Resize(80, 24).Shows("esc esc stop", "new lines · End to follow")
		d.Wait(time.Minute).Hides("stop").Resize(40, 10).Shows("End to follow")
	})
}

func TestTheQueueSaysWhichKeysItTakesNow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(time.Hour))
		deps := w.Deps("talk", true)
		deps.Keys = map[string][]string{"chat.unqueue": {"ctrl+q"}}
		d := w.Start(deps, 80, 24)
		d.Type("go").Press("enter").Wait(time.Second).Type("next").Press("enter")
		d.Shows(`queued 1: "next"`, "ctrl+q edit queue").Hides("enter send")
		d.Press("ctrl+c").Wait(time.Second).Shows("stopped", "enter send · ctrl+q edit queue")
		d.Press("enter").Wait(time.Second).Shows("echo go\n\nnext").Hides("queued")
	})
}

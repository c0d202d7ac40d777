package chat_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/uitest"
)

// pins are the pinned messages of a session.
func pins(t *testing.T, w *uitest.World, id harness.SessionID) []harness.Origin {
	t.Helper()
	s, err := w.Store.Sessions().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := chat.Pins(t.Context(), w.Store.Transcript(), s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMessagesArePinnedByNumberAndByKey(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 30)
		d.Type("/pins").Press("enter").Wait(0).Shows("no message is pinned; /pin N pins one")
		d.Type("/pin 2").Press("enter").Wait(0).Shows("pinned message 2: it stays in the context whatever is condensed; /unpin 2", "cairn · 00:01 · pinned")
		d.Press("ctrl+x", "k").Wait(0).Shows("pinned message 6", "cairn · 00:05 · pinned")
		d.Type("/pin 2").Press("enter").Wait(0).Shows("message 2 is pinned already")
		d.Type("/pins").Press("enter").Wait(0).Shows("pinned, whatever is condensed:", "message 2  cairn: answer one", "message 6  cairn: answer three")
		if got := pins(t, w, "talk"); len(got) != 2 || got[0].Record != 2 || got[1].Record != 6 {
			t.Errorf("pinned are %v", got)
		}
		d.Press("ctrl+x", "k").Wait(0).Shows("message 6 is pinned no longer").Hides("00:05 · pinned")
		d.Type("/unpin 6").Press("enter").Wait(0).Shows("message 6 is not pinned").Type("/unpin").Press("enter").Wait(0).Shows("message 2 is pinned no longer").Hides("· pinned")
		d.Type("/unpin").Press("enter").Shows("no message on screen is pinned")
		if got := pins(t, w, "talk"); len(got) != 0 {
			t.Errorf("pinned are %v", got)
		}
		for typed, want := range map[string]string{
			"/pin 99": "message 99 is not on this branch", "/pin x": "write the number of a message after it", "/pin 7": "record 7 holds no words that can be pinned",
		} {
			d.Type(typed).Press("enter").Wait(0).Shows(want)
		}
		said(t, w, "talk", "one | answer one | two | answer two | three | answer three")
	})
}

func TestPinsSurviveReopeningAndCondensingAndGoWithForks(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		cut := note(4)
		cut.Kept, cut.Pins = 5, []harness.Origin{{Session: "talk", Record: 1}}
		c := &condenser{w: w, plan: chat.CompactPlan{Calls: 1}, parts: []harness.Condensed{cut}}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 40)
		d.Type("/pin 1").Press("enter").Wait(0).Type("/compact").Press("enter").Wait(time.Second)
		d.Shows("you · 00:00 · pinned", "cairn · 00:01 · not in context")
		if got := pins(t, w, "talk"); len(got) != 1 || got[0] != (harness.Origin{Record: 1}) {
			t.Errorf("pinned are %v", got)
		}
		d.Type("/fork").Press("enter").Wait(time.Second).Shows("you · 00:00 · pinned", "cairn · 00:01 · not in context")
		d.Press("ctrl+x", "k").Wait(0).Shows("pinned message 6 of talk", "cairn · 00:05 · pinned")
		d.Type("/pin 3").Press("enter").Wait(0).Shows("pinned message 3 of talk", "3 of talk frees it")
		d.Type("/unpin 3 of talk").Press("enter").Wait(0).Shows("message 3 of talk is pinned no longer")
		d.Type("/pin 3 of nowhere").Press("enter").Wait(0).Shows("message 3 is not on this branch")
	})
}

func TestNothingIsPinnedWhileAnAnswerRunsOrElsewhere(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 30)
		w.Model.Then(uitest.Says("a ", "long ", "answer"))
		d.Type("go on").Press("enter").Type("/pin 2").Press("enter").Shows("an answer is under way; stop it first")
		d.Wait(time.Second)
		w.Open("talk", 80, 30).Type("/pin 2").Press("enter").Shows("read-only: /takeover")
		if got := pins(t, w, "talk"); len(got) != 0 {
			t.Errorf("pinned are %v", got)
		}
	})
}

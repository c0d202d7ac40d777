package ui_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/uitest"
)

func TestASecondWindowIsLiveAndReadOnly(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		a := w.Open("talk", 80, 24)
		b := w.Open("talk", 80, 24)
		b.Shows("read-only", "open in pid 101 on pts/101 (chat)", "ctrl+x w take over", "hello yourself")
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 40), " ")...))
		a.Type("more").Press("enter").Wait(2500 * time.Millisecond)
		b.Wait(0).Shows("more", "writing", "word word")
		b.Type("mine").Press("enter").Shows("> mine", "read-only")
		a.Wait(10 * time.Second)
		b.Wait(0).Shows("more", "word word").Hides("writing")
		if n := len(asked(w)); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestTakingASessionOverPausesItsRunAndKeepsTheDraft(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 400), " ")...))
		a := w.Open("talk", 80, 24)
		a.Type("more").Press("enter").Wait(2 * time.Second).Type("half a thought")
		deps := w.Deps("talk", false)
		deps.Engine = w.NewEngine()
		b := w.Start(deps, 80, 24)
		b.Press("ctrl+x", "w").Shows("asked")
		a.Wait(time.Second).Shows("took this session over", "read-only", "> half a thought")
		b.Wait(time.Second).Shows("owns the session now", "> half a thought", "an answer is paused").Hides("read-only")
		b.Press("ctrl+u", "c").Wait(2 * time.Second)
		a.Wait(time.Second).Shows("read-only", "you ·")
		a.Type("/takeover").Press("ctrl+u").Type("/takeover").Press("enter")
		b.Wait(time.Second).Shows("read-only")
		a.Wait(time.Second).Shows("owns the session now")
	})
}

func TestASilentOwnerCanBeForced(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		a := w.Open("talk", 80, 24)
		b := w.Open("talk", 80, 24)
		b.Press("ctrl+x", "w").Wait(6*time.Second).Shows("does not answer", "by force")
		b.Press("ctrl+x", "w").Wait(0).Shows("owns the session now").Hides("read-only")
		a.Wait(time.Second).Shows("took this session over", "read-only")
		b.Type("mine now").Press("enter").Wait(time.Second).Shows("echo mine now")
		a.Wait(0).Shows("echo mine now")
	})
}

func TestSessionsAreChosenFromTheListAndRunsGoOnBehind(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("one", "First talk", time.Now(), "hello", "hello one")
		w.Tell("two", "Second talk", time.Now(), "hello", "hello two")
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 40), " ")...))
		d := w.Open("one", 80, 24)
		d.Shows("hello one").Type("go on").Press("enter").Wait(time.Second)
		d.Press("ctrl+s").Shows("Second talk").Type("Second").Press("enter").Shows("hello two").Hides("word")
		d.Type("draft of two").Wait(20 * time.Second)
		d.Press("ctrl+s").Type("First").Press("enter").Wait(0).Shows("go on", "word word").Hides("writing", "draft of two", "continue")
		d.Press("ctrl+s").Press("esc").Shows("go on")
		d.Press("ctrl+s").Type("Second").Press("enter").Wait(0).Shows("> draft of two")
	})
}

func TestARunningSessionComesBackAsItIs(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("one", "First talk", time.Now(), "hello", "hello one")
		w.Tell("two", "Second talk", time.Now(), "hello", "hello two")
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		d := w.Open("one", 80, 24)
		d.Type("go on").Press("enter").Wait(time.Second)
		d.Press("ctrl+s").Type("Second").Press("enter").Wait(2 * time.Second)
		d.Press("ctrl+s").Type("First").Press("enter").Shows("writing", "word word")
		d.Press("ctrl+c").Wait(time.Second).Shows("stopped")
	})
}

func TestANewChatKeepsTheOldOne(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("hi").Press("enter").Wait(time.Second).Press("ctrl+n").Shows("New chat").Hides("echo hi")
		d.Type("again").Press("enter").Wait(time.Second).Shows("echo again")
		d.Press("ctrl+s").Shows("hi", "again")
	})
}

func TestHelpListsTheLiveKeys(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		deps := w.Deps("talk", true)
		deps.Keys = map[string][]string{"chat.sessions": {"ctrl+l"}}
		d := w.Start(deps, 120, 40)
		d.Press("?").Shows("Help").Type("sessions").Shows("ctrl+l").Press("ctrl+u").Type("slash").Shows("/remember").Press("pgdown").Press("end").Shows("/takeover").Press("esc").Hides("Help")
		d.Press("f1").Shows("Help · chat").Press("esc")
		d.Press("ctrl+l", "f1").Shows("Help · sessions").Press("ctrl+c").Hides("Help").Shows("Sessions").Press("ctrl+c").Hides("Sessions")
		d.Press("ctrl+x", "f", "f1").Shows("Help · memory").Press("esc", "esc")
		d.Press("ctrl+l").Shows("Sessions")
	})
}

func TestCtrlZSuspendsFromEveryScreen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+z").Press("ctrl+s").Press("ctrl+z").Press("esc").Press("?").Press("ctrl+z")
		if d.Suspended() != 3 {
			t.Errorf("suspended %d times", d.Suspended())
		}
	})
}

func TestReadingStaysWhereItIsWhileAnAnswerStreams(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var texts []string
		for i := range 60 {
			texts = append(texts, fmt.Sprintf("message number %d", i))
		}
		w.Tell("talk", "Our talk", time.Now(), texts...)
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("line of text\n\n", 20), "\n\n")...))
		d := w.Open("talk", 80, 24)
		d.Shows("message number 59")
		d.Type("go").Press("enter").Wait(time.Second).Press("pgup", "pgup")
		d.Shows("End to follow")
		top := d.Lines()[3]
		d.Wait(10 * time.Second)
		if got := d.Lines()[3]; got != top {
			t.Errorf("the line being read moved from %q to %q", top, got)
		}
		d.Shows("new lines · End to follow").Press("end").Shows("line of text").Hides("End to follow")
	})
}

func TestTenThousandMessagesOpenAtTheirEnd(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		texts := make([]string, 10_000)
		for i := range texts {
			texts[i] = fmt.Sprintf("message number %d", i)
		}
		w.Tell("talk", "Our talk", time.Now(), texts...)
		deps := w.Deps("talk", false)
		log := &reads{Transcript: deps.Transcript}
		deps.Transcript = log
		d := w.Start(deps, 80, 24)
		d.Shows("message number 9999")
		if log.records > 200 {
			t.Errorf("%d records were read to open", log.records)
		}
		for range 30 {
			d.Press("pgup")
		}
		d.Shows("message number 98").Hides("message number 9999")
		if log.records > 1000 {
			t.Errorf("%d records were read for thirty pages", log.records)
		}
		d.Press("home").Shows("message number 0\n").Press("end").Shows("message number 9999")
	})
}

// reads counts the records read.
type reads struct {
	harness.Transcript
	records int
}

func (r *reads) Tail(ctx context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error) {
	got, err := r.Transcript.Tail(ctx, id, from, limit)
	r.records += len(got)
	return got, err
}

func TestNoSizeBreaksAnything(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "會議記錄 👩‍👩‍👧‍👦", time.Now(), "hello", strings.Repeat("模板", 60)+" "+strings.Repeat("x", 500))
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("`code` and **words** of text\n\n```go\nx := 1\n```\n", 40), " ")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(2 * time.Second)
		d.Type("a draft")
		for _, screens := range []string{"", "ctrl+s", "esc", "f1", "esc"} {
			if screens != "" {
				d.Press(screens)
			}
			for _, s := range [][2]int{{0, 0}, {1, 1}, {2, 2}, {10, 3}, {200, 1}, {1, 200}, {19, 6}, {20, 5}, {20, 6}, {40, 10}, {80, 24}} {
				d.Resize(s[0], s[1]).Wait(50 * time.Millisecond)
				if got := d.Screen(); s[0] == 0 && got != "" {
					t.Errorf("a view of no size is %q", got)
				}
			}
		}
		d.Shows("> a draft", "words of text")
		d.Wait(time.Minute).Shows("words of text").Hides("writing")
	})
}

func TestHostileTextNeverReachesTheTerminal(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		evil := "a\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\u009bd\x1bPe\x1b\\f\rg\bh\u202ei"
		w.Tool("bad", evil)
		w.Tell("talk", evil, time.Now(), evil, evil)
		w.Model.Then(uitest.Calls("bad", `{"x":"\u001b[2J"}`), uitest.Thinks(evil, evil))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(uitest.Pause * 3)
		check := func() {
			t.Helper()
			if i := strings.IndexFunc(d.Screen(), func(r rune) bool {
				return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e
			}); i >= 0 {
				t.Fatalf("a control character is drawn: %q", d.Screen()[i:min(i+20, len(d.Screen()))])
			}
		}
		check()
		d.Wait(time.Second).Press("ctrl+o", "ctrl+t")
		check()
		d.Press("pgup")
		check()
	})
}

func TestTextTypedInAReaderIsNotLost(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		w.Open("talk", 80, 24)
		deps := w.Deps("talk", false)
		deps.Prompt = "from the shell"
		b := w.Start(deps, 80, 24)
		b.Shows("read-only", "> from the shell").Type(" and more").Wait(5 * time.Second)
		b.Press("ctrl+c", "ctrl+_").Shows("> from the shell and more").Type("/quit").Press("ctrl+u").Type("last words")
		b.Type(" here").Press("ctrl+x", "n").Shows("New chat").Press("up").Shows("> last words here")
		if draft, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || draft.Text != "" {
			t.Errorf("the owner's draft is %+v, %v", draft, err)
		}
	})
}

func TestAMessageSentBeforeTheSessionIsOursComesBackIfItIsNot(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		w.Open("talk", 80, 24)
		deps := w.Deps("talk", false)
		deps.Owners = lateOwners{deps.Owners}
		b := w.Start(deps, 80, 24)
		b.Type("too early").Press("enter").Shows(`queued 1: "too early"`).Wait(2*time.Second).Shows("read-only", "> too early").Hides("queued")
	})
}

// lateOwners takes a second to say whether a session is free.
type lateOwners struct{ harness.Owners }

func (o lateOwners) Acquire(ctx context.Context, s harness.Session, h harness.Holder) (harness.Lease, error) {
	time.Sleep(time.Second)
	return o.Owners.Acquire(ctx, s, h)
}

func TestARenameElsewhereIsSeenInTheHeader(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+s", "ctrl+r").Type("!").Press("enter", "esc").Shows("Our talk! · parrot")
		title := "Their talk"
		if _, err := w.Store.Sessions().Edit(t.Context(), "talk", harness.SessionEdit{Title: &title}); err != nil {
			t.Fatal(err)
		}
		d.Wait(time.Second).Shows("Their talk · parrot")
	})
}

func TestASessionDeletedElsewhereIsSaidAndTakesNoMessage(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		d := w.Open("talk", 80, 24)
		if err := w.Store.Sessions().Delete(t.Context(), "talk"); err != nil {
			t.Fatal(err)
		}
		d.Wait(time.Second).Shows("deleted elsewhere", "sessions restore talk", "hello yourself")
		d.Type("more").Press("enter").Shows("> more", "not sent")
		if n := len(w.Model.Asked()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
		if exit(d).Saved {
			t.Error("the deleted session is offered to come back to")
		}
		if err := w.Store.Sessions().Restore(t.Context(), "talk"); err != nil {
			t.Fatal(err)
		}
		d.Wait(time.Second).Hides("deleted elsewhere").Press("enter").Wait(time.Second).Shows("echo more")
	})
}

func TestQuittingSavesTheChatsBehindTheOneInFront(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter("half an answer "+strings.Repeat("word ", 300), " ")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(2 * time.Second)
		d.Type("queued").Press("enter").Type("a draft").Press("ctrl+n").Shows("New chat").Press("ctrl+d")
		if !d.Quit() {
			t.Fatalf("the program goes on:\n%s", d.Screen())
		}
		draft, err := w.Store.Drafts().Load(t.Context(), "talk")
		if err != nil || draft.Text != "a draft" || len(draft.Queue) != 1 {
			t.Errorf("the draft is %+v, %v", draft, err)
		}
		w.Open("talk", 80, 24).Shows("an answer is paused", "half an answer", "> a draft", "queued 1").Hides("read-only")
	})
}

func TestQuittingGoesOnWhenAChatBehindCannotBeSaved(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(time.Hour))
		deps := w.Deps("talk", true)
		deps.Drafts = fullDrafts{deps.Drafts}
		d := w.Start(deps, 80, 24)
		d.Type("go").Press("enter").Wait(2*time.Second).Type("a draft").Press("ctrl+n", "ctrl+d").Press("ctrl+d")
		if !d.Quit() || exit(d).Unsaved == nil {
			t.Fatalf("quit %v, exit %+v:\n%s", d.Quit(), exit(d), d.Screen())
		}
	})
}

// fullDrafts cannot store the draft of one session.
type fullDrafts struct{ harness.Drafts }

func (d fullDrafts) Save(ctx context.Context, id harness.SessionID, h harness.Holder, draft harness.Draft) error {
	if id == "talk" && draft.Text != "" {
		return fmt.Errorf("save the draft: %w", syscall.ENOSPC)
	}
	return d.Drafts.Save(ctx, id, h, draft)
}

func TestLeavingWaitsForTheMessageThatIsBeingSent(t *testing.T) {
	for name, refuse := range map[string]bool{"stored": false, "not stored": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				deps := w.Deps("talk", true)
				deps.Engine = lateEngine{deps.Engine, refuse}
				d := w.Start(deps, 80, 24)
				d.Type("precious").Press("enter").Shows("sending").Press("ctrl+d")
				if d.Quit() {
					t.Fatal("the program ended before the message was stored")
				}
				d.Wait(time.Second)
				if !d.Quit() {
					t.Fatalf("the program goes on:\n%s", d.Screen())
				}
				w.Open("talk", 80, 24).Shows("precious").Hides("read-only")
				draft, err := w.Store.Drafts().Load(t.Context(), "talk")
				if err != nil || (draft.Text == "precious") != refuse {
					t.Errorf("the draft is %+v, %v", draft, err)
				}
			})
		})
	}
}

// lateEngine takes a while to begin a run, or to say that it cannot.
type lateEngine struct {
	harness.Engine
	refuse bool
}

func (e lateEngine) Start(ctx context.Context, r harness.StartRequest) (harness.RunHandle, error) {
	time.Sleep(500 * time.Millisecond)
	if e.refuse {
		return uitest.Refusing{}.Start(ctx, r)
	}
	return e.Engine.Start(ctx, r)
}

func TestAProgramEndedFromOutsideIsSettled(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter("half an answer "+strings.Repeat("word ", 300), " ")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(2 * time.Second).Type("queued").Press("enter").Type("a draft").Press("ctrl+n")
		d.Type("another draft").Stop()
		m, _ := d.Model().(ui.Model)
		if e := m.Settle(); e.Unsaved != nil {
			t.Fatalf("exit %+v", e)
		}
		w.Open("talk", 80, 24).Shows("an answer is paused", "half an answer", "> a draft", "queued 1").Hides("read-only")
		if draft, err := w.Store.Drafts().Load(t.Context(), "new-1"); err != nil || draft.Text != "another draft" {
			t.Errorf("the new chat's draft is %+v, %v", draft, err)
		}
	})
}

func TestThereIsNothingToSettleAfterAProperEnd(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(time.Second).Press("ctrl+d")
		other := w.Open("talk", 80, 24)
		other.Type("theirs").Wait(2 * time.Second)
		m, _ := d.Model().(ui.Model)
		if e := m.Settle(); e.Unsaved != nil || !e.Saved {
			t.Errorf("exit %+v", e)
		}
		if draft, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || draft.Text != "theirs" {
			t.Errorf("the draft of the window that has the session now is %+v, %v", draft, err)
		}
	})
}

package ui_test

import (
	"strings"
	"testing"
	"time"

	"cairn/ui"
	"cairn/ui/uitest"
)

func exit(d *uitest.Driver) ui.Exit { return d.Model().(ui.Model).Exit() }

func TestPastesAreFoldedAndSentWhole(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long := strings.Repeat("0123456789 lorem ipsum dolor sit amet, consectetur adipi\n", 17544)
		w.Model.Then(uitest.Says("a long text"))
		d := w.Open("talk", 80, 24)
		d.Type("see ").Paste(long).Shows("> see [pasted 1.0 MB, 17,544 lines]").Type(" ok")
		d.Press("enter").Wait(time.Second)
		if got := asked(w); len(got) != 1 || got[0] != "see "+long+" ok" {
			t.Fatalf("what was sent is not what was pasted (%d bytes)", len(got[0]))
		}
		d.Shows("17,525 lines more").Press("ctrl+r").Shows("search prompts", "see 0123456789")
	})
}

func TestAPasteSendsNothingAndKeepsItsLines(t *testing.T) {
	for _, c := range []struct{ name, paste, sent string }{
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"CR", "a\rb", "a\nb"},
		{"two newlines at the end", "a\n\n", "a\n\n"},
		{"tabs", "a\tb", "a\tb"},
		{"150 lines", strings.Repeat("line\n", 150), strings.Repeat("line\n", 150)},
		{"controls", "a\x1b[31mb\x00c", "a\x1b[31mb\x00c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				d := w.Open("talk", 80, 24)
				d.Paste(c.paste).Wait(2 * time.Second)
				if n := len(asked(w)); n != 0 {
					t.Fatalf("%d requests before enter", n)
				}
				if strings.ContainsAny(d.Screen(), "\x1b\x00\r") {
					t.Error("control characters reach the screen")
				}
				d.Press("enter").Wait(time.Second)
				if got := asked(w); len(got) != 1 || got[0] != c.sent {
					t.Errorf("sent %q", got)
				}
			})
		})
	}
}

func TestNewLinesInTheBox(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("a").Press("ctrl+j").Type("b").Press("alt+enter").Type("c\\").Press("enter").Type("d")
		d.Shows("> a\n  b\n  c\n  d").Press("enter").Wait(time.Second)
		if got := asked(w); len(got) != 1 || got[0] != "a\nb\nc\nd" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestEarlierPromptsByUpDownAndSearch(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		for _, s := range []string{"first thing", "second thing"} {
			d.Type(s).Press("enter").Wait(time.Second)
		}
		d.Type("unsent").Press("up").Shows("> second thing").Press("up").Shows("> first thing")
		d.Press("up").Shows("> first thing").Press("down", "down").Shows("> unsent")
		d.Press("ctrl+r").Type("FIRST").Shows("search prompts: FIRST", "first thing").Press("enter").Shows("> first thing")
		d.Press("ctrl+r").Type("nothing like it").Shows("(none)").Press("esc").Shows("> first thing")
	})
}

func TestTheDraftComesBackAfterAKill(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("hi").Press("enter").Wait(time.Second)
		d.Type("an unfinished thought").Wait(time.Second)
		w.Crash()
		d.Stop()
		w.Open("talk", 80, 24).Shows("> an unfinished thought", "your draft is back")
	})
}

func TestTheDraftOfAnEmptyChatIsOfferedByTheNext(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Start(w.Deps("one", true), 80, 24)
		d.Type("never sent").Press("ctrl+c", "ctrl+_").Press("ctrl+x", "j").Wait(2 * time.Second)
		d.Type("/quit").Press("ctrl+u").Type("kept").Wait(2 * time.Second)
		w.Crash()
		d.Stop()
		w.Start(w.Deps("two", true), 80, 24).Shows("> kept")
	})
}

func TestLeavingKeepsTheDraftAndLeavesNoTraceOtherwise(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+d")
		if !d.Quit() {
			t.Fatal("ctrl+d on an empty box does not quit")
		}
		if e := exit(d); e.Saved {
			t.Errorf("an empty chat is said to be saved: %+v", e)
		}
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err == nil {
			t.Errorf("an empty chat left a session: %+v", s)
		}
	})
}

func TestAPasteTooLargeToUnfoldSaysSoUntilTheNextPaste(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Paste(strings.Repeat(strings.Repeat("x", 79)+"\n", 13000)).Press("ctrl+x", "s")
		d.Shows("> [pasted 1.0 MB, 13,000 lines]", "too large for").Paste("more").Hides("too large for")
	})
}

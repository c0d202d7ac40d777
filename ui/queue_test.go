package ui_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/uitest"
)

// queued has an answer under way and messages behind it.
func queued(w *uitest.World, d *uitest.Driver, texts ...string) {
	w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 200), " ")...))
	d.Type("go").Press("enter").Wait(500 * time.Millisecond)
	for _, s := range texts {
		d.Type(s).Press("enter")
	}
}

func TestTheQueueIsEditedInPlaceAndSentOneByOne(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		queued(w, d, "one", "two", "three", "four")
		d.Shows(`queued 1: "one"`, "after this answer", `queued 3: "three"`, "1 more")
		d.Press("alt+up").Shows("> four").Hides("1 more").Press("alt+up").Shows("the queue", `> queued 3: "three"`, "> four")
		d.Press("K").Shows(`> queued 2: "three"`, `queued 3: "two"`).Press("d").Hides("three").Shows("dropped; u brings it back")
		d.Press("u").Shows(`> queued 2: "three"`).Press("up", "enter").Shows("> one", "editing a queued message")
		d.Type(" and a half").Press("enter").Shows(`> queued 1: "one and a half"`, "> four")
		d.Press("j", "enter").Type("!").Press("esc").Shows(`> queued 2: "three"`, "> four")
		d.Press("J", "esc").Hides("the queue").Shows("> four")
		d.Wait(time.Minute)
		if got := asked(w); !slices.Equal(got, []string{"go", "one and a half", "two", "three"}) {
			t.Errorf("sent were %q", got)
		}
		d.Shows("> four")
	})
}

func TestNothingOfTheQueueIsSentWhileItIsOpen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		queued(w, d, "one", "two")
		d.Type("/queue").Press("enter").Shows("the queue").Press("k", "enter").Type(" more").Wait(time.Minute)
		if got := asked(w); !slices.Equal(got, []string{"go"}) {
			t.Fatalf("sent were %q", got)
		}
		d.Press("enter", "esc").Wait(time.Minute)
		if got := asked(w); !slices.Equal(got, []string{"go", "one more", "two"}) {
			t.Errorf("sent were %q", got)
		}
	})
}

func TestTheQueueAndWhatIsEditedOfItSurviveAKill(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		queued(w, d, "one", "two")
		long := strings.Repeat("line\n", 30)
		d.Type("fold ").Paste(long).Press("enter").Type("a draft ").Paste(long).Press("alt+up")
		d.Shows(`> queued 3: "fold line…"`).Press("up", "enter").Type(" and a half").Wait(time.Second)
		w.Crash()
		d.Stop()
		d = w.Open("talk", 80, 24).Wait(time.Second)
		d.Shows(`queued 1: "one"`, `queued 2: "two and a half"`, "> a draft [pasted 150 B, 30 lines]")
		d.Press("ctrl+u", "alt+up").Shows("> fold [pasted 150 B, 30 lines]")
	})
}

func TestWhatCouldNotBeSentComesBackBeforeTheOneThatIsEdited(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		deps := w.Deps("talk", true)
		deps.Config = func(ctx context.Context, s harness.Session) (chat.Setup, error) {
			time.Sleep(time.Second)
			return chat.Setup{}, errors.New("the key is gone")
		}
		d := w.Start(deps, 80, 24)
		d.Type("first").Press("enter").Type("second").Press("enter").Type("third").Press("enter").Type("a draft").Press("alt+up").Shows("> queued").Press("enter")
		d.Type("!").Wait(5*time.Second).Press("enter", "esc")
		d.Shows(`"first"`, `"second"`, `"third!"`)
	})
}

func TestDroppingTheLastOneClosesTheQueue(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 40, 10)
		queued(w, d, "one")
		d.Type("/queue").Press("enter").Shows(`> queued 1: "one"`).Press("enter", "ctrl+u", "enter").Hides("queued", "the queue")
		d.Type("x").Shows("> x").Wait(time.Minute)
		if got := asked(w); !slices.Equal(got, []string{"go"}) {
			t.Errorf("sent were %q", got)
		}
		d.Press("ctrl+u").Type("/queue").Press("enter").Shows("nothing is queued")
	})
}

// composing are the sizes at which the screens of the composer are looked at.
func composing(t *testing.T, name string, show func(w *uitest.World, d *uitest.Driver)) {
	t.Helper()
	for _, s := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
		size := fmt.Sprintf("%s-%dx%d", name, s[0], s[1])
		t.Run(size, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				invoices(w)
				d := w.Open("q3", s[0], s[1])
				show(w, d)
				golden(t, size, strings.Join(d.Lines(), "\n")+"\n")
			})
		})
	}
}

func TestGoldenQueue(t *testing.T) {
	messages := []string{"then write a test", "und prüfe 會議記錄 👩‍👩‍👧", "a long one that does not fit on a narrow screen, whatever it says at its end", "مرحبا e\u0301", "last"}
	composing(t, "queue", func(w *uitest.World, d *uitest.Driver) { queued(w, d, messages...) })
	composing(t, "queue-open", func(w *uitest.World, d *uitest.Driver) {
		queued(w, d, messages...)
		d.Type("a draft").Press("alt+up", "up", "up")
	})
}

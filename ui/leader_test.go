package ui_test

import (
	"strings"
	"testing"
	"time"

	"cairn/ui/uitest"
)

func TestTheMenuOfKeysIsShownToWhoStopsAfterTheFirst(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+x").Wait(300*time.Millisecond).Hides("one of these").Wait(200*time.Millisecond).Shows("one of these", "n new", "y copy the last answer")
		d.Press("f").Shows("Memory").Press("esc").Hides("one of these")
		d.Press("ctrl+x").Wait(time.Second).Press("esc").Hides("one of these", "is no key")
		d.Type("x").Shows("> x").Press("ctrl+x", "j").Shows("ctrl+x j is no key here").Wait(time.Second).Hides("one of these")
		d.Press("ctrl+x").Wait(300*time.Millisecond).Press("esc", "ctrl+x").Wait(300 * time.Millisecond).Hides("one of these").Wait(200 * time.Millisecond).Shows("one of these")
	})
}

func TestNoWordsAreCutInTheMenuOfKeys(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		d := w.Open("q3", 80, 24)
		d.Paste(strings.Repeat("so long that it is folded\n", 40)) // some keys work only now
		d.Press("ctrl+x").Wait(time.Second).Shows("one of these", "unfold a paste", "edit the last message").Hides("…")
	})
}

func TestTheMenuOfKeysScrollsOnASmallScreen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		d := w.Open("q3", 40, 10)
		d.Press("ctrl+x").Wait(time.Second).Shows("more").Hides("^U")
		for range 20 {
			d.Press("down")
		}
		d.Shows("^U undo").Press("ctrl+u").Hides("one of these")
	})
}

func TestTheLeaderCopiesExportsAndQuits(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+x", "y").Shows("there is no answer to copy yet").Press("ctrl+x", "x").Shows("nothing was said")
		d.Type("hi").Press("enter").Wait(time.Second).Press("ctrl+x", "y").Shows("copied the answer")
		d.Type("kept").Press("ctrl+x", "q")
		if !d.Quit() {
			t.Error("it does not quit")
		}
	})
}

func TestGoldenLeaderMenu(t *testing.T) {
	composing(t, "leader-menu", func(_ *uitest.World, d *uitest.Driver) { d.Press("ctrl+x").Wait(time.Second) })
}

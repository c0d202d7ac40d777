package ui_test

import (
	"strings"
	"testing"
	"time"

	"cairn/ui/overlay"
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

func TestTheHelpTellsWhatTheTerminalSaidOfItself(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		deps := w.Deps("new", true)
		deps.HelpNotes = []string{"Saved in ~/chats"}
		d := w.Start(deps, 120, 40)
		d.Press("f1").Shows("Your terminal: kitty keys unknown: it did not answer · OSC 52 unknown · truecolor", "120x40", "Key not working? /keys test", "Saved in ~/chats")
		d.Press("esc").Send(screen.AbilitiesMsg{Answered: true, Name: "kitty(0.36.1)", KittyKeys: true, Clipboard: true, Graphemes: true})
		d.Press("f1").Shows("Your terminal: kitty(0.36.1) · kitty keys yes · OSC 52 yes · truecolor")
		d.Press("esc").Send(screen.AbilitiesMsg{Answered: true})
		d.Press("f1").Shows("kitty keys no · OSC 52 unknown", "emoji may be misplaced")
	})
}

func TestKeysOpensTheHelpAndTheTestOfKeys(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("new", 80, 24)
		d.Type("/keymap").Press("enter").Shows("Help · chat").Press("esc")
		d.Type("/keys tset").Press("enter").Shows("/keys test shows what the terminal sends for each")
		d.Type("/hotkeys test").Press("enter").Shows("what this terminal sends")
		d.Send(screen.HeardMsg{Bytes: []byte("\x1b[15~"), Key: uitest.Key(t, "f5"), Known: true}).Press("f5").Shows("ESC [15~", "no action of the chat has it")
		d.Press("ctrl+c", "f1", "ctrl+z").Shows("ctrl+z", "suspend (chat.suspend)")
		if d.Quit() || d.Suspended() != 0 {
			t.Error("a key that is tested does something")
		}
		d.Paste("secret").Shows("6 characters; a paste is never a key").Hides("secret")
		d.Press("esc", "esc").Hides("what this terminal sends").Type("x").Shows("> x")
		d.Send(overlay.Heard{Bytes: "y", Key: "y"}).Send(screen.HeardMsg{Bytes: []byte("y")}).Wait(time.Second)
		if strings.Contains(d.Screen(), "sent") {
			t.Error("it is shown still")
		}
	})
}

func TestTheKeyForANewLineIsTheOneThatThisTerminalSends(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("new", 120, 40)
		d.Send(screen.AbilitiesMsg{Answered: true}).Press("f1").Shows("ctrl+j alt+enter")
		d.Press("esc").Send(screen.AbilitiesMsg{Answered: true, KittyKeys: true}).Press("f1").Shows("shift+enter ctrl+j")
		d.Press("esc", "ctrl+n").Wait(time.Second).Press("f1").Shows("shift+enter ctrl+j")
	})
}

func TestAllIsDrawnAnewForWhoComesBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		m := w.Open("new", 80, 24).Model()
		for i, c := range []struct{ in, redraws bool }{{true, false}, {false, false}, {true, true}, {true, false}} {
			next, cmd := m.Update(screen.FocusMsg{In: c.in})
			if redraws := cmd != nil && cmd() == screen.Redraw(); redraws != c.redraws {
				t.Errorf("report %d redraws: %t", i, redraws)
			}
			m = next
		}
	})
}

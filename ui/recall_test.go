package ui_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// prompted has prompts in the history, of which this session said the last two.
func prompted(t *testing.T, w *uitest.World) {
	t.Helper()
	for _, p := range []struct {
		session harness.SessionID
		text    string
	}{
		{"old", "Why is the VAT id blank?"},
		{"old", "Zeig mir 會議記錄 👩‍👩‍👧 und die VAT-Zeilen"},
		{"old", "first line\nsecond line\n\x1b[31mthird with VAT and much more that does not fit on a narrow screen\nlast"},
		{"q3", "write a test"},
		{"q3", "vat again"},
	} {
		if err := w.Store.Prompts().Add(t.Context(), p.session, p.text); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPromptsOfAllSessionsAreSearched(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		prompted(t, w)
		d := w.Open("q3", 80, 24)
		d.Type("half a thought").Press("ctrl+r").Shows("search prompts:", "1 of 5", "> vat again")
		d.Type("vat").Shows("1 of 4", "> vat again", "␛[31mthird with VAT", "4 lines")
		d.Press("ctrl+r", "ctrl+r").Shows("3 of 4", "> Zeig mir").Press("ctrl+s").Shows("2 of 4").Press("down", "down", "down").Shows("1 of 4")
		d.Press("esc").Shows("> half a thought").Hides("search prompts")
		d.Press("ctrl+r").Type("third").Press("enter").Shows("> first line\n  second line")
		d.Press("ctrl+_").Shows("> half a thought")
		d.Press("ctrl+r").Type("vat x").Shows("(none)").Press("backspace", "backspace").Shows("1 of 4").Press("enter").Shows("> vat again").Wait(time.Second)
		if got := asked(w); len(got) != 0 {
			t.Errorf("sent were %q", got)
		}
	})
}

func TestAKeyThatIsNotOfTheSearchTakesThePromptAndDoesWhatItDoes(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		prompted(t, w)
		d := w.Open("q3", 80, 24)
		d.Press("ctrl+r").Type("test").Press("ctrl+o").Shows("> write a test").Hides("search prompts")
	})
}

func TestGoldenPrompts(t *testing.T) {
	composing(t, "prompts", func(w *uitest.World, d *uitest.Driver) {
		prompted(t, w)
		d.Press("ctrl+r").Type("vat").Press("ctrl+r")
	})
}

package ui_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/uitest"
)

func TestTheMouseNeverApproves(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		for y := range 24 {
			d.Send(tea.MouseMsg{X: 6, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			d.Send(tea.MouseMsg{X: 6, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionRelease})
		}
		d.Wait(time.Second).Shows("approval needed")
		if got := ran.Calls(); len(got) != 0 {
			t.Errorf("the mouse approved %q", got)
		}
	})
}

// The wheel moves what is under it: the text of a long proposal, or the
// conversation.
func TestTheWheelMovesWhatIsUnderIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, "first line\n"+strings.Repeat("x\n", 40)+"last line")
		d := wanted(w, 80, 24)
		d.Shows("first line")
		for range 20 {
			d.Send(tea.MouseMsg{X: 6, Y: 12, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
		}
		d.Shows("last line").Hides("first line")
		before := d.Screen()
		d.Send(tea.MouseMsg{X: 6, Y: 2, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress}).Shows("last line")
		if got := d.Screen(); got != before {
			t.Errorf("over the conversation the wheel moves the text:\n%s", got)
		}
	})
}

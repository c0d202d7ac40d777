package screen

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// still is a model that nothing changes.
type still struct{}

func (m still) Init() tea.Cmd                       { return nil }
func (m still) Update(tea.Msg) (tea.Model, tea.Cmd) { return m, nil }
func (still) View() string                          { return "" }

type news bool

func (n news) Pressing() bool { return bool(n) }

func TestOnlyWhatPressesIsDrawnAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		msg    tea.Msg
		urgent bool
	}{{news(true), true}, {news(false), false}, {tea.KeyMsg{}, true}, {FocusMsg{}, false}, {"text", false}} {
		r := root{screen: &Screen{}, model: still{}}
		if r.update(c.msg); r.urgent != c.urgent || !r.dirty {
			t.Errorf("after %#v a frame is urgent: %t", c.msg, r.urgent)
		}
	}
	r := root{screen: &Screen{}, model: still{}, urgent: true}
	if r.update(news(false)); !r.urgent {
		t.Error("what came before is forgotten")
	}
}

package widget

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
)

func TestMatchTakesTheFirstThatWorksElseSaysWhyNone(t *testing.T) {
	t.Parallel()
	bindings := []render.Binding{
		{Action: "off", Keys: []string{"ctrl+s", "x"}, Off: "nothing to save"},
		{Action: "save", Keys: []string{"ctrl+s"}},
		{Action: "again", Keys: []string{"ctrl+s"}},
		{Action: "none"},
		{Action: "space", Keys: []string{" "}},
	}
	typed := func(s string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)} }
	for _, c := range []struct {
		key         tea.KeyMsg
		action, off string
	}{
		{tea.KeyMsg{Type: tea.KeyCtrlS}, "save", ""},
		{typed("x"), "", "nothing to save"},
		{tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")}, "space", ""},
		{typed("y"), "", ""},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x"), Paste: true}, "", ""},
		{tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" "), Paste: true}, "", ""},
	} {
		if action, off := Match(bindings, c.key); action != c.action || off != c.off {
			t.Errorf("%v: %q and off %q, want %q and %q", c.key, action, off, c.action, c.off)
		}
	}
}

func TestKeyIsNamedAndDisabledAsItsBinding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		binding render.Binding
		name    string
		enabled bool
	}{
		{render.Binding{Keys: []string{"ctrl+r", "f5"}, Help: "again"}, "^R", true},
		{render.Binding{Keys: []string{"ctrl+x f"}, Help: "again"}, "^X f", true},
		{render.Binding{Keys: []string{"x\x1b[2J"}, Help: "again"}, "x␛[2J", true},
		{render.Binding{Keys: []string{"d"}, Help: "again", Off: "not now"}, "d", false},
		{render.Binding{Help: "again"}, "", false},
	} {
		k := Key(c.binding)
		if k.Help().Key != c.name || k.Help().Desc != "again" || k.Enabled() != c.enabled {
			t.Errorf("%+v is %+v, enabled %v", c.binding, k.Help(), k.Enabled())
		}
	}
}

package picker

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// menu lists what can be done to one row.
type menu struct {
	open    bool
	of      key
	at, top int
}

// inMenu is the name of an action in the menu, where it has a letter.
func inMenu(action string) string { return "picker.menu-" + strings.TrimPrefix(action, "picker.") }

// menuActs are the acts in the menu: all, with the reason why one does not work
// now, but of a deleted session those that work.
func (m Model) menuActs() []act {
	acts := m.acts()
	if m.show.trash {
		acts = slices.DeleteFunc(acts, func(a act) bool { return a.Off != "" })
	}
	return acts
}

func (m Model) menuKeys() []render.Binding {
	var out []render.Binding
	for _, a := range m.menuActs() {
		out = append(out, render.Binding{Action: inMenu(a.Action), Keys: []string{a.letter}, Help: first(a.says, a.Help), Group: keyGroup, Off: a.Off})
	}
	return append(
		out,
		render.Binding{Action: "picker.menu-choose", Keys: []string{"enter"}, Help: "choose", Group: keyGroup, Rank: 1},
		render.Binding{Action: "picker.menu-close", Keys: []string{"esc", "tab", "ctrl+c"}, Help: "back", Group: keyGroup, Rank: 2},
		render.Binding{Action: "picker.menu-up", Keys: []string{"up", "ctrl+p"}, Help: "up", Group: keyGroup},
		render.Binding{Action: "picker.menu-down", Keys: []string{"down", "ctrl+n"}, Help: "down", Group: keyGroup},
	)
}

func (m Model) openMenu() Model {
	k, ok := m.list.selected()
	m.menu, m.preview.peek = menu{open: ok, of: k}, false
	m.list.chosen = true // found messages that come later leave it where it is
	return m
}

func (m Model) onMenuKey(action, off string) (Model, tea.Cmd, Intent) {
	acts := m.menuActs()
	switch action {
	case "picker.menu-close":
		m.menu = menu{}
	case "picker.menu-up":
		m.menu.at = max(m.menu.at-1, 0)
	case "picker.menu-down":
		m.menu.at = min(m.menu.at+1, len(acts)-1)
	case "picker.menu-choose":
		return m.chosen(acts[m.menu.at])
	default:
		for _, a := range acts {
			if action == inMenu(a.Action) {
				return m.chosen(a)
			}
		}
		if off != "" {
			m.notice = notice{text: upper(off) + "."}
		}
	}
	return m, nil, nil
}

func (m Model) chosen(a act) (Model, tea.Cmd, Intent) {
	if a.Off != "" {
		m.notice = notice{text: upper(a.Off) + "."}
		return m, nil, nil
	}
	m.menu = menu{}
	return m.do(a.Action)
}

// menuLines are the selected row and below it what can be done to it.
func (m Model) menuLines(width, height int) []string {
	acts := m.menuActs()
	var out []string
	if height > 1 {
		out = append(out, m.row(m.list.at, width))
		height--
	}
	keys := m.Bindings()
	for i := widget.Scroll(m.menu.top, m.menu.at, len(acts), height); i < len(acts) && height > 0; i++ {
		letter := ""
		if k := keys[i].Keys; len(k) > 0 {
			letter = widget.KeyName(k[0])
		}
		out = append(out, m.menuLine(acts[i], letter, i == m.menu.at, width))
		height--
	}
	return out
}

func (m Model) menuLine(a act, letter string, selected bool, width int) string {
	p, mark := m.c.Theme.Paints, "     "
	if selected {
		mark = "   > "
	}
	letter = render.Pad(m.oneLine(letter, 8), 3)
	text := first(a.says, a.Help)
	switch {
	case selected && a.Off != "":
		return p.Selected.On(render.Fit(mark+letter+text+": "+a.Off, "", width, m.c.Theme.Ornaments.Ellipsis))
	case selected:
		return p.Selected.On(render.Fit(mark+letter+text, "", width, m.c.Theme.Ornaments.Ellipsis))
	case a.Off != "":
		return render.Truncate(mark+p.Disabled.On(letter+text+": "+a.Off), width, m.c.Theme.Ornaments.Ellipsis)
	default:
		return render.Truncate(mark+p.Key.On(letter)+text, width, m.c.Theme.Ornaments.Ellipsis)
	}
}

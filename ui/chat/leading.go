package chat

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat/leader"
	"cairn/ui/render"
)

// menuAfter is how long the first key of a sequence is alone before the keys that
// go on are shown.
const menuAfter = 400 * time.Millisecond

// lead begins a sequence of two keys.
func (m Model) lead() (Model, tea.Cmd) {
	m.leader, m.menu = leaderKey, m.menu.Begun()
	to, serial := m.to(), m.menu.Serial
	return m, tea.Tick(menuAfter, func(time.Time) tea.Msg { return menuMsg{to, serial} })
}

// menuMsg says that a person stopped after the first key.
type menuMsg struct {
	to
	serial int
}

func (msg menuMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	m.menu.Shown = m.leader != "" && msg.serial == m.menu.Serial
	return m, nil
}

// sequenced is the name of a key, with the first one of its sequence before it; done
// says that the key is no more than the first, or scrolled the menu.
func (m Model) sequenced(msg tea.KeyMsg) (next Model, name string, cmd tea.Cmd, done bool) {
	name = msg.String()
	switch {
	case m.leader != "":
		m, name, ends := m.led(name)
		return m, name, nil, !ends
	case name == leaderKey && m.leads():
		m, cmd = m.lead()
		return m, name, cmd, true
	}
	return m, name, nil, false
}

// led is the whole name of a sequence that a key ends; ok is false if the key
// scrolled the menu instead.
func (m Model) led(key string) (next Model, name string, ok bool) {
	if menu, scrolls := m.menu.Scroll(key, len(m.continuations()), m.width, m.menuRoom()); scrolls {
		m.menu = menu
		return m, "", false
	}
	name = m.leader + " " + key
	m.leader, m.menu = "", m.menu.Ended()
	return m, name, true
}

// leads reports whether any binding is a sequence of two keys.
func (m Model) leads() bool { return len(m.continuations()) > 0 }

// continuations are the keys that go on behind the first.
func (m Model) continuations() []leader.Entry { return leader.Entries(m.Bindings(), leaderKey) }

// stray says that a sequence means nothing; leaving one is nothing to speak of.
func (m Model) stray(name string) Model {
	if rest := name[len(leaderKey)+1:]; rest != "esc" && rest != "ctrl+c" && rest != "ctrl+g" {
		m.notice = render.SafeLine(name) + " is no key here; " + leaderKey + " and a moment's wait shows which there are"
	}
	return m
}

// menuRows is the menu above the box.
func (m Model) menuRows() []string {
	rows, _ := m.menu.View(m.continuations(), m.deps.Theme, m.width, m.menuRoom())
	return rows
}

// menuHint is the line below the menu.
func (m Model) menuHint() string {
	_, more := m.menu.View(m.continuations(), m.deps.Theme, m.width, m.menuRoom())
	return leader.Hint(leaderKey, more, m.deps.Theme)
}

// menuRoom is how many rows the menu may take: the status and a row of the
// conversation stay.
func (m Model) menuRoom() int { return m.trayRoom() }

package chat

import (
	tea "github.com/charmbracelet/bubbletea"
)

// leaving is how far a chat that is being left has come.
type leaving struct {
	// under says that it is being saved.
	under bool
	// refused says that saving failed and the person was told: leaving again
	// leaves without.
	refused bool
}

// leftMsg says that a chat that is left is saved, or why not.
type leftMsg struct {
	to
	err error
}

// Leave saves what is not stored yet, pauses the run and lets the session go.
// The intent WantRest says that it is done. When something could not be saved
// the chat stays and says so; a second Leave goes without.
func (m Model) Leave() (Model, tea.Cmd, Intent) {
	switch {
	case m.leaving.under:
		return m, nil, Intent{}
	case m.leaving.refused:
		m.leave()
		return m, nil, Intent{Kind: WantRest}
	}
	m.leaving.under = true
	rest, to := m.rest(), m.to()
	return m, func() tea.Msg { return leftMsg{to, rest()} }, Intent{}
}

// Leaving reports whether the chat is being left.
func (m Model) Leaving() bool { return m.leaving.under }

func (msg leftMsg) apply(m Model) (Model, tea.Cmd, Intent) {
	m.leaving.under = false
	if msg.err != nil {
		m.failed = msg.err
		m.leaving.refused = true
		m.notice = "not saved: " + m.deps.Words(msg.err) + " Leaving again leaves without"
		return m, nil, Intent{}
	}
	m.leave()
	return m, nil, Intent{Kind: WantRest}
}

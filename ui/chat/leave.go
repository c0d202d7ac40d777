package chat

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// leaving is how far a chat that is being left has come.
type leaving struct {
	// under says that it is being saved.
	under bool
	// due says that it is to be left as soon as the message that is being sent
	// is stored or given back.
	due bool
	// left says that it was left.
	left bool
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
	case m.leaving.under || m.leaving.due:
		return m, nil, Intent{}
	case m.leaving.refused:
		m.leaving.left = true
		m.leave()
		return m, nil, Intent{Kind: WantRest}
	case m.turn.active() && m.turn.run == "":
		m.leaving.due = true
		return m, nil, Intent{}
	}
	m = m.undistil().uncondense()
	m.leaving.under = true
	rest, to := m.rest(), m.to()
	return m, func() tea.Msg { return leftMsg{to, rest()} }, Intent{}
}

// Leaving reports whether the chat is being left.
func (m Model) Leaving() bool { return m.leaving.under || m.leaving.due }

// leaveDue leaves a chat that was to be left once its message is stored.
func (m Model) leaveDue(cmd tea.Cmd) (Model, tea.Cmd) {
	if !m.leaving.due {
		return m, cmd
	}
	m.leaving.due = false
	m, left, _ := m.Leave()
	return m, tea.Batch(cmd, left)
}

// Settle saves what is not stored yet and lets the session go, unless the chat
// was left already. It is for a program that ended from outside, whose
// messages nobody handles any more, and blocks until it is done.
func (m Model) Settle() error {
	if m.leaving.left {
		return nil
	}
	if m.turn.active() && m.turn.run == "" && m.turn.sent != "" { // whether it was stored will not be heard
		m = m.shutQueue()
		m.draft.queue = append([]string{m.turn.sent}, m.draft.queue...)
	}
	err := m.rest()()
	m.leave()
	if errors.Is(err, harness.ErrLost) { // another window has it, or it was let go just before
		return nil
	}
	return err
}

func (msg leftMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	m.leaving.under = false
	if msg.err != nil {
		m.failed = msg.err
		m.leaving.refused = true
		m.notice = "not saved: " + m.deps.Words(msg.err) + " Leaving again leaves without"
		return m, nil
	}
	m.leaving.left = true
	m.leave()
	return m, nil
}

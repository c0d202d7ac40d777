package chat

import tea "github.com/charmbracelet/bubbletea"

// actMouse gives the mouse to the terminal, or takes it.
const actMouse = "chat.mouse"

// Number tells the chats of a window apart.
func (m Model) Number() int { return m.number }

// Waiting reports whether the chat waits for a decision of the person.
func (m Model) Waiting() bool { return m.waits() }

// keysCommand shows the keys, or what the terminal sends for them.
func (m Model) keysCommand(arg string) (Model, tea.Cmd, Intent) {
	switch arg {
	case "":
		return m, nil, Intent{Kind: WantHelp}
	case "test":
		return m, nil, Intent{Kind: WantKeyTest}
	default:
		m.notice = "/keys lists the keys; /keys test shows what the terminal sends for each"
		return m, nil, Intent{}
	}
}

// actNotify has a person who looks elsewhere told of the ends of turns, or not.
const actNotify = "chat.notifications"

package chat

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// doctorMargin is what the pager takes of the width for itself.
const doctorMargin = 8

// doctor has the set-up looked at and shows what was found.
func (m Model) doctor() (Model, tea.Cmd) {
	if m.deps.Doctor == nil {
		m.notice = "leave with ctrl+d and run: cairn doctor"
		return m, nil
	}
	m.notice = "looking at the set-up" + m.deps.Theme.Ornaments.Ellipsis
	ctx, d, to, width := m.ctx, m.deps, m.to(), max(m.width-doctorMargin, 1)
	return m, func() tea.Msg {
		text, err := d.Doctor(ctx, width)
		return doctorMsg{resultMsg{to: to, title: "doctor", text: text}, err}
	}
}

// doctorMsg brings what the doctor found.
type doctorMsg struct {
	resultMsg
	err error
}

func (msg doctorMsg) apply(m Model) (Model, tea.Cmd) {
	m.notice = ""
	if msg.err != nil {
		return m.trouble(fmt.Errorf("look at the set-up: %w", msg.err))
	}
	return msg.resultMsg.apply(m)
}

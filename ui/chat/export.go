package chat

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
)

// export writes the conversation to a file, which is named by the program if it
// is not here.
func (m Model) export(file string) (Model, tea.Cmd) {
	switch {
	case m.deps.Export == nil:
		m.notice = OffExport
		return m, nil
	case !m.stored:
		m.notice = OffUnsaid
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		path, err := d.Export(ctx, id, file)
		return exportedMsg{to, path, err}
	}
}

// OffExport says that conversations cannot be exported here.
const OffExport = "exporting is off in this chat"

// exportedMsg says where the conversation was written.
type exportedMsg struct {
	to
	path string
	err  error
}

func (msg exportedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m.notice = "exported to " + render.SafeLine(msg.path)
	return m, nil
}

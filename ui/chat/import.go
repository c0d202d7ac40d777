package chat

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
)

// importFrom takes in conversations of a file or directory, beside this one.
func (m Model) importFrom(from string) (Model, tea.Cmd) {
	from = strings.TrimSpace(from)
	switch {
	case m.deps.Import == nil:
		m.notice = OffImport
		return m, nil
	case from == "":
		m.notice = ImportWhat
		return m, nil
	}
	m.notice = "importing " + render.SafeLine(from)
	ctx, d, to := m.ctx, m.deps, m.to()
	return m, func() tea.Msg {
		said, err := d.Import(ctx, from)
		return importedMsg{to, said, err}
	}
}

// Why nothing is imported.
const (
	OffImport  = "importing is off in this chat"
	ImportWhat = "name what to import: /import FILE, or a directory"
)

// importedMsg says what was imported.
type importedMsg struct {
	to
	said string
	err  error
}

func (msg importedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m.notice = render.SafeLine(msg.said)
	return m, nil
}

package chat

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// click folds or unfolds the message of which a line was clicked that folds: a tool,
// thinking, or what says that there is more. That line stays where it is.
func (m Model) click(msg tea.MouseMsg) Model {
	if m.small() || m.covered() || m.askWhole() || msg.X >= m.pageWidth() {
		return m
	}
	row := msg.Y - m.headRows()
	if row < 0 || row >= m.rows() {
		return m
	}
	at, line, ok := m.lineIn(row)
	if !ok || !m.folds(line) {
		return m
	}
	m.pages.hold(m.desk(), m.rows())
	m, _ = m.refold(at)
	m.pages.follow = m.atBottom()
	return m
}

// lineIn is the line in a row of the conversation, and the item that it is of.
func (m *Model) lineIn(row int) (item int, line string, ok bool) {
	src := m.desk()
	at := m.pages.shown(src, m.rows())
	for i := at.item; i <= len(m.pages.items); i++ {
		lines := src.lines(i)
		if row += at.line; row < len(lines) {
			return i, lines[row], true
		}
		row, at.line = row-len(lines), 0
	}
	return 0, "", false
}

// folds reports whether a line begins with the sign of what folds.
func (m *Model) folds(line string) bool {
	line, o := ansi.Strip(line), m.deps.Theme.Ornaments
	for _, sign := range []string{o.Closed, o.Open, o.Ellipsis} {
		if strings.HasPrefix(line, sign+" ") {
			return true
		}
	}
	return false
}

package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/overlay"
)

// welcome is what the very first start shows over the chat, and what it asks for.
func (m Model) welcome() (overlay.Welcome, tea.Cmd) {
	c := *m.deps.Welcome
	c.Theme, c.Bound, c.Words = m.look.theme, m.deps.Keys, Words
	return overlay.NewWelcome(m.ctx, c).Open()
}

// passed gives what was typed over an overlay that is away to what lies under it.
func (m Model) passed(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	if k.Paste {
		return m.paste(string(k.Runes))
	}
	return m.toFront(k)
}

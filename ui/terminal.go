package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/screen"
)

// terminal is what is known of the terminal, and what is done with its mouse.
type terminal struct {
	able screen.Abilities
	// away says that the person was seen to look elsewhere.
	away bool
}

// learn takes what the terminal said of itself.
func (m Model) learn(able screen.Abilities) (tea.Model, tea.Cmd) {
	m.term.able = able
	return m, nil
}

// looked takes whether the person looks at this terminal.
func (m Model) looked(in bool) (tea.Model, tea.Cmd) {
	m.term.away = !in
	return m, nil
}

package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// resize tells everybody the size.
func (m Model) resize(msg tea.WindowSizeMsg) (tea.Model, tea.Cmd) {
	m.size = size{msg.Width, msg.Height}
	var cmds []tea.Cmd
	var cmd tea.Cmd
	m.chat, cmd = m.chat.Resize(msg.Width, msg.Height)
	cmds = append(cmds, cmd)
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i], cmd = m.parked[i].Resize(msg.Width, msg.Height)
		cmds = append(cmds, cmd)
	}
	m.lists.picker, cmd, _ = m.lists.picker.Update(msg)
	cmds = append(cmds, cmd)
	m.lists.browser, cmd, _ = m.lists.browser.Update(msg)
	cmds = append(cmds, cmd)
	m.lists.runs, cmd, _ = m.lists.runs.Update(msg)
	cmds = append(cmds, cmd)
	if m.over.permissions != nil {
		p, cmd, _ := m.over.permissions.Update(msg)
		m.over.permissions = &p
		cmds = append(cmds, cmd)
	}
	if m.over.usage != nil {
		u, cmd, _ := m.over.usage.Update(msg)
		m.over.usage = &u
		cmds = append(cmds, cmd)
	}
	if m.over.help != nil {
		h, cmd, _ := m.over.help.Update(msg)
		m.over.help = &h
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// toFront gives a key or the wheel to whoever is in front.
func (m Model) toFront(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyMsg); ok {
		switch {
		case key.Type == tea.KeyCtrlZ:
			return m, tea.Suspend
		case key.Type == tea.KeyF1 && m.over.help == nil && (m.front != frontChat || m.over.open()):
			return m.openHelp(), nil
		case key.Type == tea.KeyCtrlC && (m.over.help != nil || m.front == frontPicker):
			msg = tea.KeyMsg{Type: tea.KeyEscape} // there is nothing to stop
		}
	}
	if m.over.help != nil {
		h, cmd, want := m.over.help.Update(msg)
		m.over.help = &h
		if want != nil {
			m.over.help = nil
		}
		return m, cmd
	}
	if m.over.open() {
		return m.toOverlay(msg)
	}
	switch m.front {
	case frontPicker:
		return m.toPicker(msg)
	case frontBrowser:
		return m.toBrowser(msg)
	case frontRuns:
		return m.toRuns(msg)
	case frontChat:
	}
	return m.toChat(msg)
}

// paste gives a paste to whoever is in front.
func (m Model) paste(text string) (tea.Model, tea.Cmd) {
	if m.over.help != nil || m.over.open() || m.front != frontChat {
		return m.toFront(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	}
	var cmd tea.Cmd
	m.chat, cmd = m.chat.Paste(text)
	return m, cmd
}

// restyle takes the theme for the terminal's background.
func (m Model) restyle(dark bool) Model {
	if dark == m.look.dark {
		return m
	}
	m.look = newLook(m.deps, dark)
	m.chat = m.chat.Restyle(m.chatDeps())
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i] = m.parked[i].Restyle(m.chatDeps())
	}
	m.lists.picker = m.lists.picker.SetTheme(m.look.theme)
	m.lists.browser = m.lists.browser.SetTheme(m.look.theme)
	m.lists.runs = m.lists.runs.SetTheme(m.look.theme)
	if m.over.permissions != nil {
		p := m.over.permissions.SetTheme(m.look.theme)
		m.over.permissions = &p
	}
	if m.over.usage != nil {
		u := m.over.usage.SetTheme(m.look.theme)
		m.over.usage = &u
	}
	if m.over.help != nil {
		h := m.over.help.SetTheme(m.look.theme)
		m.over.help = &h
	}
	return m
}

// View implements [tea.Model].
func (m Model) View() string {
	switch {
	case m.size.width <= 0 || m.size.height <= 0:
		return ""
	case m.over.help != nil:
		return m.over.help.View(m.size.width, m.size.height)
	case m.over.permissions != nil:
		return m.over.permissions.View(m.size.width, m.size.height)
	case m.over.usage != nil:
		return m.over.usage.View(m.size.width, m.size.height)
	case m.front == frontPicker:
		return m.lists.picker.View(m.size.width, m.size.height)
	case m.front == frontBrowser:
		return m.lists.browser.View(m.size.width, m.size.height)
	case m.front == frontRuns:
		return m.lists.runs.View(m.size.width, m.size.height)
	}
	return m.chat.View()
}

// Cursor is where the terminal's cursor belongs.
func (m Model) Cursor() (x, y int, visible bool) {
	switch {
	case m.over.help != nil:
		return m.over.help.Cursor()
	case m.over.permissions != nil:
		return m.over.permissions.Cursor()
	case m.over.usage != nil:
		return 0, 0, false
	case m.front == frontPicker:
		return m.lists.picker.Cursor()
	case m.front == frontBrowser:
		return m.lists.browser.Cursor()
	case m.front == frontRuns:
		return m.lists.runs.Cursor()
	}
	return m.chat.Cursor()
}

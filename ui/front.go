package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/overlay"
)

// resize tells everybody the size.
func (m Model) resize(msg tea.WindowSizeMsg) (tea.Model, tea.Cmd) {
	was := m.size
	m.size = size{msg.Width, msg.Height}
	var cmds []tea.Cmd
	var cmd tea.Cmd
	m.chat, cmd = m.chat.Resize(msg.Width, msg.Height)
	m = m.rewrapped(msg, was)
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
	m.layers, cmd = m.layers.tell(msg)
	cmds = append(cmds, cmd)
	return m, tea.Batch(cmds...)
}

// typed gives a key to what is marked with the mouse, or to whoever is in front.
func (m Model) typed(msg tea.KeyMsg) (tea.Model, tea.Cmd) {
	m, cmd, done := m.marked(msg)
	switch {
	case done:
		return m, cmd
	case m.layers.title() == overlay.KeyTest{}.Title(): // it shows all of them
		return m.toTop(msg)
	}
	return m.toFront(msg)
}

// toFront gives a key or the wheel to whoever is in front.
func (m Model) toFront(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyMsg); ok {
		switch {
		case key.Type == tea.KeyCtrlZ:
			return m, tea.Suspend
		case key.Type == tea.KeyF1 && (m.front != frontChat || len(m.layers) > 0) && m.layers.title() != overlay.Help{}.Title():
			return m.openHelp(), nil
		case key.Type == tea.KeyCtrlC && (m.layers.title() == overlay.Help{}.Title() || len(m.layers) == 0 && m.front == frontPicker):
			msg = tea.KeyMsg{Type: tea.KeyEscape} // there is nothing to stop
		case m.asksPalette(key):
			return m.openPalette("")
		}
	}
	if len(m.layers) > 0 {
		return m.toTop(msg)
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
	if len(m.layers) > 0 || m.front != frontChat {
		return m.toFront(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	}
	var cmd tea.Cmd
	m.chat, cmd = m.chat.Paste(text)
	return m, cmd
}

// View implements [tea.Model].
func (m Model) View() string {
	if m.flows() {
		return m.chat.RegionView()
	}
	view := m.drawn()
	if sel := m.term.mouse.sel; sel.on || m.term.mouse.held {
		view = sel.over(view)
	}
	return m.mouseHint(view)
}

// drawn is what is in front, without the marks of the mouse.
func (m Model) drawn() string {
	switch {
	case m.size.width <= 0 || m.size.height <= 0:
		return ""
	case len(m.layers) > 0:
		return m.layers.top().View(m.size.width, m.size.height)
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
	case len(m.layers) > 0:
		return m.layers.top().Cursor()
	case m.front == frontPicker:
		return m.lists.picker.Cursor()
	case m.front == frontBrowser:
		return m.lists.browser.Cursor()
	case m.front == frontRuns:
		return m.lists.runs.Cursor()
	}
	if m.flows() {
		return m.chat.RegionCursor()
	}
	return m.chat.Cursor()
}

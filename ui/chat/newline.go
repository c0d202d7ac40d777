package chat

// ShiftEnter tells whether the terminal sends shift+enter as a key of its own:
// that is then the key that hints name for a new line.
func (m Model) ShiftEnter(works bool) Model {
	m.shift = works
	return m
}

// newlineKeys are the keys for a new line, the one that hints name first. Ctrl+j
// and alt+enter reach a program on every terminal.
func (m Model) newlineKeys() []string {
	if m.shift {
		return []string{"shift+enter", "ctrl+j", "alt+enter"}
	}
	return []string{"ctrl+j", "alt+enter", "shift+enter"}
}

package chat

import tea "github.com/charmbracelet/bubbletea"

// Act carries out an action of [Model.Bindings] as if its key had been pressed;
// of one that does nothing now it says why.
func (m Model) Act(action string) (Model, tea.Cmd, Intent) {
	before, was := m.draft.version, m.box
	m.hint, m.leader, m.menu = "", "", m.menu.Ended()
	if m.notice != m.fault {
		m.notice = ""
	}
	off := "there is no such key here now"
	for _, b := range m.Bindings() {
		if b.Action == action {
			if off = b.Off; off == "" {
				break
			}
		}
	}
	if off != "" {
		m.notice = off
		return m, nil, Intent{}
	}
	m, cmd, want := m.do(action, "")
	m, more := m.followed(before, was, nil)
	return m, tea.Batch(cmd, more), want
}

// Command carries out a slash command as it would be typed, and leaves what is in
// the box there. Fill writes it into the box instead, for the person to complete.
func (m Model) Command(text string, fill bool) (Model, tea.Cmd, Intent) {
	before, was := m.draft.version, m.box
	var cmd tea.Cmd
	var want Intent
	switch p := m.deps.Parse(text); {
	case fill && was.Blank():
		m.box = m.box.SetText(text)
		m.draft.version++
	case fill:
		m.notice = "something is written already; send it or clear it, then type " + text
	case p.Call != nil:
		m, cmd, want = m.calls(p)
	case p.Name == "":
		m.notice = "there is no command " + text
	case p.Name == "editor": // what is in the box is what it is for
		return m.Act(actEditor)
	default:
		if m, cmd, want = m.command(p); m.box.Empty() {
			m.box = was
		}
	}
	m, more := m.followed(before, was, nil)
	return m, tea.Batch(cmd, more), want
}

package chat

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
)

// writingKeys are the keys of the box besides those that edit.
func (m Model) writingKeys() []render.Binding {
	b := func(action, help, off string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Writing", Off: off}
	}
	fold, file, slash := "", "", ""
	if m.box.Empty() {
		fold = "the box is empty"
	}
	if !m.tray.Any() {
		file = "no file is attached"
	}
	if !m.box.Starts("/") {
		slash = "no command is typed"
	}
	return []render.Binding{
		b(actSend, "send (queue if busy)", "", "enter"),
		b(actNewline, "new line; also \\ before enter", "", m.newlineKeys()...),
		m.steerKey(),
		b(actSearch, "search prompts", "", "ctrl+r"),
		b(actEditor, "write in $EDITOR", "", "ctrl+g", "ctrl+x e", "ctrl+x ctrl+e"),
		b(actUnfold, "unfold a paste", fold, "ctrl+x s"),
		b(actDetach, "remove the last file", file, "ctrl+x d"),
		b(actComplete, "complete a command", slash, "tab"),
	}
}

// writeDo carries out an action about what is written, and what is done with what
// was said; done is false if it is none.
func (m Model) writeDo(action string) (next Model, cmd tea.Cmd, want Intent, done bool) {
	switch action {
	case actSend:
		m, cmd, want = m.enter()
	case actSteer:
		m, cmd = m.steerNow()
	case actEditor:
		want = Intent{Kind: WantEdit, Text: m.box.Text()}
	case actNewline:
		m.box = m.box.Insert("\n")
		m.draft.version++
	case actUnqueue:
		m = m.unqueue()
	case actSearch:
		m, cmd = m.openRecall()
	case actUnfold:
		if box, ok := m.box.Unfold(); ok {
			m.box = box
		} else {
			m.notice = "nothing here unfolds: no folded paste is at the caret, or it is too large for the box; the editor takes any"
		}
	case actComplete:
		was := m.box
		if m = m.complete(); m.box.Same(was) {
			m, cmd = m.completeCall()
		}
	case actSide:
		m, cmd = m.toggleSide()
	case actCopy:
		m, cmd, want = m.copied("")
	case actExport:
		m, cmd = m.export("")
	default:
		return m, nil, Intent{}, false
	}
	return m, cmd, want, true
}

package chat

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// actSteer sends what is written before the answer has ended.
const actSteer = "chat.steer"

// steerKey is the key that sends now; off says why it does nothing.
func (m Model) steerKey() render.Binding {
	off := ""
	_, edits := m.queue.mode.Editing()
	switch {
	case m.own.state == accessReader:
		off = offReader
	case edits || m.branch.edit.on():
		off = "a message is edited; send or leave it first"
	case !m.turn.active():
		off = offNoRun
	case m.box.Blank() && len(m.draft.queue) == 0:
		off = "nothing is written or queued"
	}
	return render.Binding{Action: actSteer, Keys: []string{"ctrl+x enter"}, Help: "stop, and send it now", Group: "Writing", Off: off}
}

// steerNow sends what is in the box, else what is queued first, before the answer
// has ended.
func (m Model) steerNow() (Model, tea.Cmd) {
	if m.box.Blank() {
		text := m.draft.queue[0]
		m.draft.queue = slices.Delete(slices.Clone(m.draft.queue), 0, 1)
		return m.steer(text)
	}
	p := m.deps.Parse(m.box.Text())
	if p.Typed != "" {
		m.notice = "/" + render.SafeLine(p.Typed) + " is for enter; a space before the slash sends it as text"
		return m, nil
	}
	m.box = m.box.SetText("")
	return m.steer(p.Text)
}

// steerCommand is /steer.
func (m Model) steerCommand(text string) (Model, tea.Cmd) {
	back := func(why string) (Model, tea.Cmd) {
		m.box, m.notice = m.box.SetText("/steer "+text), why+"; your text stays here"
		m.draft.version++
		return m, nil
	}
	switch {
	case text == "":
		m.notice = "write after it what is to be heeded now: /steer use the other table"
		return m, nil
	case m.own.gone:
		return back("not sent: the session is deleted")
	case m.own.state == accessReader || m.own.state == accessHanding:
		return back(offReader)
	case !m.turn.active():
		return m.submitText(text)
	}
	return m.steer(text)
}

// steer stops the answer that is under way, of which the text is kept, and sends
// this before all that is queued.
func (m Model) steer(text string) (Model, tea.Cmd) {
	m.draft.queue = append([]string{text}, m.draft.queue...)
	m.draft.version++
	m.turn.steered = true
	return m.stopRun()
}

// steered sends what a turn was stopped for. What came to another end is the
// person's to decide about; then the message waits in the queue.
func (m Model) steered(t turn, status harness.RunStatus) (Model, tea.Cmd) {
	if !t.steered || status != harness.RunCancelled || m.own.state != accessOwner {
		return m, nil
	}
	return m.sendQueued()
}

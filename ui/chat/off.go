package chat

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// What changes of the session's memory switch did, as writes that can be
// undone.
const (
	didTurnOff = "turned off"
	didTurnOn  = "turned on"
)

// OffWords say behind what was saved or forgotten by hand that the chat is
// without memory otherwise.
const OffWords = "; memory is off in this chat, and /memory on turns it on"

// noMemory reports whether nothing is recalled, saved or distilled here.
func (m Model) noMemory() bool {
	return m.session.NoMemory || m.deps.Facts == nil && m.deps.Notes == nil
}

// offWords are [OffWords] in a chat without memory.
func (m Model) offWords() string {
	if m.session.NoMemory {
		return OffWords
	}
	return ""
}

// memory opens what is remembered, or turns memory off or on for the session.
func (m Model) memory(arg string) (Model, tea.Cmd, Intent) {
	off := arg == "off"
	switch {
	case arg == "":
		return m, nil, Intent{Kind: WantMemory}
	case arg != "on" && !off:
		m.notice = MemoryUsage
		return m, nil, Intent{}
	case m.deps.Facts == nil && m.deps.Notes == nil:
		m.notice = "memory is off in all chats of this start"
		return m, nil, Intent{}
	case off == m.session.NoMemory:
		m.notice = "memory is " + arg + " in this chat already"
		return m, nil, Intent{}
	}
	m, cmd := m.turnMemory(off)
	did, back := didTurnOn, "turns it off again"
	if off {
		did, back = didTurnOff, "turns it on again"
	}
	m = m.wrote(write{did: did})
	m.notice = MemoryWords(off) + m.undoHint("; ", back)
	return m, cmd, Intent{}
}

// MemoryUsage says what may follow /memory.
const MemoryUsage = "/memory off and /memory on are for this chat; /memory alone opens what is remembered"

// MemoryWords say what turning memory off or on means for the chat.
func MemoryWords(off bool) string {
	if off {
		return "memory is off in this chat: nothing is recalled, saved or suggested"
	}
	return "memory is on in this chat"
}

// turnMemory turns memory off or on from the next turn on. What the person
// chose counts at once; of changes in quick succession the last one is stored.
func (m Model) turnMemory(off bool) (Model, tea.Cmd) {
	m.session.NoMemory = off
	if off {
		m = m.undistil()
	}
	if !m.stored { // with the first message, see startedMsg
		m.own.lease.Meta = m.session
		m.turning = m.turn.active()
		return m, nil
	}
	if m.turning {
		return m, nil
	}
	return m.storeMemory()
}

// storeMemory stores whether the session is without memory.
func (m Model) storeMemory() (Model, tea.Cmd) {
	m.turning = true
	ctx, d, to, id, off := m.ctx, m.deps, m.to(), m.session.ID, m.session.NoMemory
	return m, func() tea.Msg {
		s, err := d.Sessions.Edit(ctx, id, harness.SessionEdit{NoMemory: &off})
		return turnedMsg{to, off, s, err}
	}
}

// turnedMsg says how turning memory off or on went.
type turnedMsg struct {
	to
	off     bool
	session harness.Session
	err     error
}

func (msg turnedMsg) apply(m Model) (Model, tea.Cmd) {
	m.turning = false
	if msg.err != nil {
		m.session.NoMemory = !msg.off
		return m.trouble(msg.err)
	}
	if m.session.NoMemory != msg.off { // changed meanwhile
		return m.storeMemory()
	}
	return m.describes(msg.session), nil
}

// undoTurning takes back that memory was turned off or on.
func (m Model) undoTurning(w write) (Model, tea.Cmd) {
	off := w.did == didTurnOn
	m.notice = MemoryWords(off)
	return m.turnMemory(off)
}

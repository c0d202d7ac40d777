package chat

import "cairn/ui/render"

// Switch is something of a chat that is on or off.
type Switch struct {
	// Name says what it is, such as "details".
	Name string
	On   bool
	// Action turns it over, or Command does; the other one is empty.
	Action, Command string
	// Off says why it cannot be turned now.
	Off string
}

// Switches are what can be turned on and off in the chat, as it is now.
func (m Model) Switches() []Switch {
	memory := Switch{Name: "memory in this chat", On: !m.noMemory(), Command: "/memory off"}
	switch {
	case m.deps.Facts == nil && m.deps.Notes == nil:
		memory.Off = "memory is off in all chats of this start"
	case m.session.NoMemory:
		memory.Command = "/memory on"
	}
	return []Switch{
		{Name: "details of tools, memory and usage", On: m.details, Action: actDetails},
		{Name: "the model's thinking", On: m.thinking, Action: actThinking},
		memory,
	}
}

// Model is the model of the session's next turn, "provider/model", empty as long as
// that is not known.
func (m Model) Model() string { return m.setup.Run.Model }

// ModelWords say which model the session has and how it is changed.
func (m Model) ModelWords() string {
	return "the model is " + render.SafeLine(m.setup.Run.Model) + "; /model PROVIDER/NAME changes it for this session"
}

// Note adds a line of the root's own to the conversation that is shown. It is kept
// nowhere.
func (m Model) Note(text string) Model {
	m.pages.add(item{quiet: text})
	return m
}

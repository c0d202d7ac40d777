package chat

import (
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// codeBlocks are the code blocks of a message, numbered through it. Text behind
// another part, such as a call, is a text of its own, as it is drawn: a fence there
// begins a line, whatever is before it.
func codeBlocks(msg *harness.Message) []render.Code {
	var out []render.Code
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, render.CodeBlocks(b.String())...)
			b.Reset()
		}
	}
	for _, p := range msg.Parts {
		switch {
		case p.Kind != harness.PartText:
			end()
		case p.File == nil:
			b.WriteString(p.Text)
		}
	}
	end()
	return out
}

// chosenCodes are the code blocks of the message chosen.
func (m *Model) chosenCodes() []render.Code {
	if at := m.sel.at; at < len(m.pages.items) && m.pages.items[at].rec.Message != nil {
		return codeBlocks(m.pages.items[at].rec.Message)
	}
	return render.CodeBlocks(m.chosenText())
}

// lastCodes are the code blocks of the last answer.
func (m *Model) lastCodes() []render.Code {
	if msg := m.lastMessage(); msg != nil {
		return codeBlocks(msg)
	}
	return render.CodeBlocks(m.lastAnswer())
}

// lastMessage is the last answer that is stored, nil if one streams or there is none.
func (m *Model) lastMessage() *harness.Message {
	if m.turn.live != nil && m.turn.live.n > 0 {
		return nil
	}
	for i := len(m.pages.items) - 1; i >= 0; i-- {
		msg := m.pages.items[i].rec.Message
		if msg != nil && msg.Role == harness.RoleAssistant && strings.TrimSpace(msg.Text()) != "" {
			return msg
		}
	}
	return nil
}

package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
	"cairn/ui/screen"
)

// inline is what a start without the alternate screen knows of what it has given
// to the terminal.
type inline struct {
	// chat is the number of the chat whose conversation was given last.
	chat int
	// out is what was given and is not written yet; every copy of the model shares it.
	out *screen.Above
}

// Inline implements [screen.Inliner].
func (m Model) Inline() (above screen.Above, ok bool) {
	if !m.flows() {
		return above, false
	}
	above, *m.term.inline.out = *m.term.inline.out, screen.Above{}
	return above, true
}

// flows reports whether the next frame is the end of what was written.
func (m Model) flows() bool { return m.deps.Inline && !m.covered() && m.chat.Flows() }

// give takes from the chat in front what is final of its conversation. One that
// comes after another begins with its name.
func (m Model) give() Model {
	if !m.deps.Inline || m.size.width <= 0 {
		return m
	}
	out, in := m.term.inline.out, &m.term.inline
	var lines []string
	fresh := in.chat != m.chat.Number()
	if fresh && in.chat != 0 {
		m.chat = m.chat.Anew()
	}
	m.chat, lines = m.chat.Give()
	if len(lines) == 0 {
		return m
	}
	if fresh && in.chat != 0 {
		out.Lines = append(out.Lines, "", m.divide())
	}
	in.chat = m.chat.Number()
	out.Lines = append(out.Lines, lines...)
	return m
}

// divide is the line between the conversations of two sessions.
func (m Model) divide() string {
	p, o := m.look.theme.Paints, m.look.theme.Ornaments
	title := m.chat.Session().Title
	if title == "" {
		title = "new chat"
	}
	line := render.Truncate(strings.Repeat(o.Rule, 2)+" "+render.SafeLine(title)+" ", m.size.width, o.Ellipsis)
	return p.Muted.On(line + strings.Repeat(o.Rule, max(m.size.width-render.Width(line), 0)))
}

// rewrapped has what was given written again after a change of the width, unless more
// was given since that is not written yet: that must not get lost.
func (m Model) rewrapped(msg tea.WindowSizeMsg, was size) Model {
	if !m.deps.Inline || was.width == 0 || was.width == msg.Width {
		return m
	}
	out := m.term.inline.out
	m.chat, out.Again = m.chat.Rewrapped(msg.Height)
	if out.Anew = true; len(out.Lines) > 0 {
		out.Again = nil
	}
	return m
}

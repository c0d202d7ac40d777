package chat

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat/reading"
)

// openLinks lists the links of the message chosen.
func (m Model) openLinks() Model {
	links := m.sel.links
	if m.sel.at >= len(m.pages.items) {
		links = reading.Links(m.chosenText())
	}
	if len(links) == 0 {
		m.notice = offNoLink
		return m
	}
	l := reading.NewList(links, m.deps.Browse != nil, m.deps.Theme, m.deps.Keys).Resize(m.width, m.height)
	m.over = over{links: &l}
	return m
}

// linkWants does what the list of links wants done with an address.
func (m Model) linkWants(want reading.Want, address string) (Model, tea.Cmd, Intent) {
	switch want {
	case reading.WantNothing:
	case reading.WantHelp:
		return m, nil, Intent{Kind: WantHelp}
	case reading.WantClose:
		m.over = over{}
		m, cmd := m.Uncovered()
		return m, cmd, Intent{}
	case reading.WantCopy:
		l := m.over.links.Say("copied: sent to the terminal's clipboard")
		m.over.links = &l
		return m, nil, Intent{Kind: WantCopy, Text: address}
	case reading.WantOpen:
		if !reading.Openable(address) || m.deps.Browse == nil {
			return m, nil, Intent{}
		}
		l := m.over.links.Say("opening" + m.deps.Theme.Ornaments.Ellipsis)
		m.over.links = &l
		ctx, d, to := m.ctx, m.deps, m.to()
		return m, func() tea.Msg { return browsedMsg{to, d.Browse(ctx, address)} }, Intent{}
	}
	return m, nil, Intent{}
}

// browsedMsg says how opening an address went.
type browsedMsg struct {
	to
	err error
}

func (msg browsedMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	said := "given to the browser"
	if msg.err != nil {
		said = m.deps.Words(fmt.Errorf("open the link: %w", msg.err)) + "; y copies it"
	}
	if m.over.links == nil {
		m.notice = said
		return m, nil
	}
	l := m.over.links.Say(said)
	m.over.links = &l
	return m, nil
}

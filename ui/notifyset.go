package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/widget"
)

// notifySaved says how keeping whether there are notifications went.
type notifySaved struct {
	on  bool
	err error
}

// notifiesAtAll reports whether a person who looks elsewhere is told anything.
func (m Model) notifiesAtAll() bool { return m.deps.Notify.How != NotifyOff }

// toggleNotify turns notifications off, or on again as they were, and keeps that.
func (m Model) toggleNotify() (tea.Model, tea.Cmd) {
	how := NotifyOff
	if m.notifiesAtAll() {
		m.term.notified = m.deps.Notify.How
	} else if how = m.term.notified; how == "" {
		how = NotifyAuto
	}
	m.deps.Notify.How = how
	words := m.notifyWords()
	m.chat = m.chat.Hint(words)
	save, ctx, on := m.deps.Save, m.ctx, how != NotifyOff
	if save == nil {
		return m, nil
	}
	return m, func() tea.Msg { return notifySaved{on, save(context.WithoutCancel(ctx), "notify", how)} }
}

// notifyWords say whether there are notifications, and how to change that.
func (m Model) notifyWords() string {
	key := widget.KeyFor(m.deps.Keys, "chat.notifications", "ctrl+x N")
	if m.notifiesAtAll() {
		return "notifications are on: the end of a long turn is told while you look elsewhere; " + key + " turns them off"
	}
	return "notifications are off; " + key + " turns them on"
}

// notified says that it could not be kept.
func (m Model) notified(msg notifySaved) Model {
	if msg.err != nil && msg.on == m.notifiesAtAll() {
		m.chat = m.chat.Say("That counts for now, but is not kept: " + Words(msg.err))
	}
	return m
}

package ui

import (
	"context"
	"log/slog"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/browser"
	"cairn/ui/overlay"
	"cairn/ui/picker"
	"cairn/ui/runs"
)

// watchMsg brings the channel that tells of changes to the store, or the news
// of one.
type watchMsg struct {
	changes <-chan struct{}
	changed bool
	err     error
}

// watch begins to watch the store.
func watch(ctx context.Context, w harness.Watcher) tea.Cmd {
	return func() tea.Msg {
		ch, err := w.Watch(ctx)
		return watchMsg{changes: ch, err: err}
	}
}

// await waits for the next change.
func (msg watchMsg) await(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		select {
		case _, ok := <-msg.changes:
			if !ok {
				return nil
			}
			return watchMsg{changes: msg.changes, changed: true}
		case <-ctx.Done():
			return nil
		}
	}
}

// toldMsg is a sentence for the person from another part of the program.
type toldMsg string

// listen waits for the next such sentence; of nobody it hears none.
func listen(ctx context.Context, told <-chan string) tea.Cmd {
	if told == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case text, ok := <-told:
			if !ok {
				return nil
			}
			return toldMsg(text)
		case <-ctx.Done():
			return nil
		}
	}
}

// changed tells all chats and the screen in front that the store changed.
func (m Model) changed(msg watchMsg) (tea.Model, tea.Cmd) {
	if msg.err != nil {
		m.deps.Log.Warn("watch the store", slog.Any("err", msg.err))
		m.chat = m.chat.Say("changes by other windows are not seen: " + Words(msg.err))
		return m, nil
	}
	cmds := []tea.Cmd{msg.await(m.ctx)}
	if !msg.changed {
		return m, cmds[0]
	}
	var cmd tea.Cmd
	m.chat, cmd = m.chat.Changed()
	cmds = append(cmds, cmd)
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i], cmd = m.parked[i].Changed()
		cmds = append(cmds, cmd)
	}
	m.lists.picker, cmd, _ = m.lists.picker.Update(picker.Changed{})
	cmds = append(cmds, cmd)
	m.lists.browser, cmd, _ = m.lists.browser.Update(browser.Changed{})
	cmds = append(cmds, cmd)
	m.lists.runs, cmd, _ = m.lists.runs.Update(runs.Changed{})
	cmds = append(cmds, cmd)
	m.layers, cmd = m.layers.tell(overlay.Changed{})
	cmds = append(cmds, cmd)
	return m, tea.Batch(cmds...)
}

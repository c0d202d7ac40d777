package chat

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat/recall"
	"cairn/ui/render"
)

// openRecall searches the earlier prompts of all sessions.
func (m Model) openRecall() (Model, tea.Cmd) {
	m.recall = m.recall.Opened()
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		texts, err := d.Prompts.Recent(ctx, id, 0)
		return recallMsg{to, recall.Prepare(texts), err}
	}
}

// recallMsg brings the prompts to search.
type recallMsg struct {
	to
	prompts []recall.Prompt
	err     error
}

func (msg recallMsg) apply(m Model) (Model, tea.Cmd) {
	if !m.recall.Open() {
		return m, nil
	}
	if msg.err != nil {
		m.recall = m.recall.Closed()
		return m.trouble(msg.err)
	}
	next, find := m.recall.With(msg.prompts)
	m.recall = next
	return m, m.findPrompts(find)
}

// recalledMsg brings the prompts that match.
type recalledMsg struct {
	to
	found recall.Found
}

func (msg recalledMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	m.recall = m.recall.Show(msg.found)
	return m, nil
}

// findPrompts looks for prompts.
func (m Model) findPrompts(find func(context.Context) recall.Found) tea.Cmd {
	if find == nil {
		return nil
	}
	ctx, to := m.ctx, m.to()
	return func() tea.Msg { return recalledMsg{to, find(ctx)} }
}

// recallKey handles a key while prompts are searched. Keys that neither the search
// nor its field has are not done: they accept the match and then do what they do.
func (m Model) recallKey(msg tea.KeyMsg) (next Model, cmd tea.Cmd, done bool) {
	switch action, _ := render.Match(m.recall.Bindings(m.deps.Keys), msg.String()); action {
	case recall.Close:
		m.recall = m.recall.Closed()
		return m, nil, true
	case recall.Take:
		return m.takePrompt(), nil, true
	case recall.Older, recall.Newer:
		m.recall = m.recall.Do(action)
		return m, nil, true
	}
	search, find, ok := m.recall.Key(msg)
	if !ok {
		return m, nil, false
	}
	m.recall = search
	return m, m.findPrompts(find), true
}

// takePrompt puts the prompt found into the box.
func (m Model) takePrompt() Model {
	text, ok := m.recall.Chosen()
	m.recall = m.recall.Closed()
	if ok {
		m.box = m.box.SetText(text)
		m.draft.version++
	}
	return m
}

// recallRows is how many rows the search of prompts may take.
func (m Model) recallRows() int {
	if m.asks() && m.height < ruleHeight {
		return 1
	}
	return min(max(m.height/4, 3), 10)
}

package chat

import (
	tea "github.com/charmbracelet/bubbletea"
)

// pastMax is how many earlier prompts are read.
const pastMax = 200

// past is the history of prompts as up, down and the search walk through it.
type past struct {
	prompts []string // newest first; nil if not read yet
	reading bool
	at      int    // 1-based place in prompts; 0 is what was being typed
	typed   string // that text
	want    int    // moves asked for before the prompts were read
}

// added puts a prompt that was just sent before the others.
func (p past) added(text string) past {
	if p.prompts != nil && (len(p.prompts) == 0 || p.prompts[0] != text) {
		p.prompts = append([]string{text}, p.prompts...)
	}
	p.at, p.typed = 0, ""
	return p
}

// promptsMsg brings the earlier prompts.
type promptsMsg struct {
	to
	prompts []string
	err     error
}

// readPast reads the earlier prompts once.
func (m Model) readPast() (Model, tea.Cmd) {
	if m.past.prompts != nil || m.past.reading {
		return m, nil
	}
	m.past.reading = true
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		prompts, err := d.Prompts.Recent(ctx, id, pastMax)
		if prompts == nil {
			prompts = []string{}
		}
		return promptsMsg{to, prompts, err}
	}
}

func (msg promptsMsg) apply(m Model) (Model, tea.Cmd) {
	m.past.reading = false
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m.past.prompts = msg.prompts
	want := m.past.want
	m.past.want = 0
	if want > 0 {
		m = m.walk(want)
	}
	return m, nil
}

// remember stores a prompt in the history.
func (m Model) remember(text string) tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		if err := d.Prompts.Add(ctx, id, text); err != nil {
			return troubleMsg{to, err}
		}
		return nil
	}
}

// history moves by n prompts, towards older ones if positive.
func (m Model) history(n int) (Model, tea.Cmd) {
	m, cmd := m.readPast()
	if m.past.prompts == nil {
		m.past.want = max(m.past.want+n, 0)
		return m, cmd
	}
	return m.walk(n), cmd
}

// walk moves through the prompts read.
func (m Model) walk(n int) Model {
	to := min(max(m.past.at+n, 0), len(m.past.prompts))
	if to == m.past.at {
		return m
	}
	if m.past.at == 0 {
		m.past.typed = m.box.Text()
	}
	m.past.at = to
	text := m.past.typed
	if to > 0 {
		text = m.past.prompts[to-1]
	}
	m.box = m.box.SetText(text)
	m.draft.version++
	return m
}
